//! Operands in memory of AArch64 instructions, read from the text that objdump prints.

use std::fmt::Write as _;

pub(super) struct Listed {
    pub(super) address: u64,
    pub(super) mnemonic: String,
    /// Mnemonic and operands.
    pub(super) text: String,
    /// Access, bytes, address, and the writeback to the base; empty where no data in memory is touched.
    pub(super) operand: String,
}

/// Reads a line; `None` if it holds no instruction.
pub(super) fn parse(line: &str) -> Option<Listed> {
    let mut fields = line.split('\t');
    let address = fields.next()?.trim().strip_suffix(':')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let mnemonic = fields.next()?.trim().to_owned();
    let operands = fields.next().unwrap_or("").split("//").next().unwrap_or("").trim().to_owned();
    if mnemonic.starts_with('.') {
        return None;
    }
    let operand = operand(&mnemonic, &operands).unwrap_or_default();
    Some(Listed { address, text: format!("{mnemonic} {operands}"), mnemonic, operand })
}

fn operand(mnemonic: &str, operands: &str) -> Option<String> {
    if mnemonic == "sys" {
        let is_zero = ["#3, C7, C4, #1, ", "#3, C7, C4, #4, "].iter().find_map(|place| {
            let at = operands.to_ascii_uppercase().find(&place.to_ascii_uppercase())?;
            operands.get(at + place.len()..)
        });
        return Some(format!("write 0 {}+0", is_zero?));
    }
    let access = access(mnemonic)?;
    let Some(at) = operands.find('[') else {
        // A literal: its address, and the symbol there.
        let (register, address) = operands.split_once(", ")?;
        let address = u64::from_str_radix(address.split(' ').next()?, 16).ok()? as i64;
        return Some(format!("{access} {} {address:+}", size(mnemonic, register)?));
    };
    let (registers, place) = operands.split_at(at);
    Some(format!("{access} {} {}", size(mnemonic, registers)?, address(place)?))
}

/// The access to data in memory by mnemonic. Memory tags and prefetches are no access.
fn access(mnemonic: &str) -> Option<&'static str> {
    const TAGS: [&str; 6] = ["ldg", "ldgm", "stg", "st2g", "stgm", "stzgm"];
    const UPDATES: [&str; 8] = ["ldadd", "ldclr", "ldeor", "ldset", "ldsmax", "ldsmin", "ldumax", "ldumin"];
    let is_update = UPDATES.iter().any(|update| mnemonic.starts_with(update));
    match () {
        () if TAGS.contains(&mnemonic) => None,
        () if is_update || mnemonic.starts_with("swp") || mnemonic.starts_with("cas") => Some("update"),
        () if mnemonic.starts_with("ld") => Some("read"),
        () if mnemonic.starts_with("st") => Some("write"),
        () => None,
    }
}

/// Bytes, by the mnemonic's suffix or by the registers that are moved.
fn size(mnemonic: &str, registers: &str) -> Option<u32> {
    let exclusive = mnemonic.starts_with("stx") || mnemonic.starts_with("stlx");
    if let Some(list) = registers.find('{') {
        return vectors(mnemonic, registers.get(list..)?);
    }
    let names: Vec<&str> = registers.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let moved = names.get(usize::from(exclusive)..)?;
    let register_size = || match moved.first()?.as_bytes().first()? {
        b'x' | b'd' => Some(8),
        b'w' | b's' if *moved.first()? != "sp" => Some(4),
        b'h' => Some(2),
        b'b' => Some(1),
        b'q' => Some(16),
        _ => None,
    };
    let is_pair = ["ldp", "stp", "ldnp", "stnp", "ldxp", "ldaxp", "stxp", "stlxp"].contains(&mnemonic)
        || mnemonic.starts_with("casp");
    let ordered = |rest: &str| rest.trim_end_matches(['a', 'l']).to_owned();
    Some(match mnemonic {
        "stzg" => 16,
        "stz2g" => 32,
        "ldpsw" | "ldraa" | "ldrab" => 8,
        _ if is_pair => 2 * register_size()?,
        _ if mnemonic.ends_with("sw") => 4,
        // Order is spelled before the size in ldadd's family: ldaddalh.
        _ if mnemonic.ends_with('h') => 2,
        _ if mnemonic.ends_with('b') && ordered(mnemonic) != "su" => 1,
        _ => register_size()?,
    })
}

/// `{v0.16b, v1.16b}`, `{v0.16b-v3.16b}`, `{v0.s}[1]`.
fn vectors(mnemonic: &str, list: &str) -> Option<u32> {
    let inner = list.get(1..list.find('}')?)?;
    let first = inner.split([',', '-', ' ']).next()?;
    let count = match inner.split_once('-') {
        Some((begin, end)) => {
            let number = |name: &str| name.trim().strip_prefix('v')?.split('.').next()?.parse::<u32>().ok();
            (number(end)? + 32 - number(begin)?) % 32 + 1
        }
        None => inner.split(',').count() as u32,
    };
    let shape = first.split_once('.')?.1;
    let element = match shape.chars().last()? {
        'b' => 1,
        'h' => 2,
        's' => 4,
        'd' => 8,
        _ => return None,
    };
    let lanes: u32 = shape.trim_end_matches(char::is_alphabetic).parse().unwrap_or(1);
    let is_lane = list.contains("}[") || mnemonic.ends_with('r');
    Some(count * element * if is_lane { 1 } else { lanes })
}

/// `[x0]`, `[x0, #8]`, `[x0, #8]!`, `[x0], #8`, `[x0, x1, lsl #3]`, `[x0, w1, sxtw #3]`.
fn address(place: &str) -> Option<String> {
    let (inside, behind) = place.strip_prefix('[')?.split_once(']')?;
    let mut parts = inside.split(',').map(str::trim);
    let base = parts.next()?;
    let mut text = base.to_owned();
    let mut displacement = 0;
    match parts.next() {
        Some(number) if number.starts_with('#') => displacement = immediate(number)?,
        Some(index) => {
            let scale = scale(index, parts.next());
            if !matches!(index, "xzr" | "wzr") {
                let _ = write!(text, "+{}*{scale}", index.replacen('w', "x", 1));
            }
        }
        None => {}
    }
    let _ = write!(text, "{displacement:+}");
    match behind.trim_start_matches(',').trim() {
        "!" => drop(write!(text, " then {base}{displacement:+}")),
        number if number.starts_with('#') => drop(write!(text, " then {base}{:+}", immediate(number)?)),
        // Nothing, or a register: nobody follows that.
        _ => {}
    }
    Some(text)
}

/// The factor of the index; 0 where only a part of the register is the index.
fn scale(index: &str, extension: Option<&str>) -> u32 {
    if index.starts_with('w') {
        return 0;
    }
    let shift = extension.and_then(|text| text.split_once('#')).and_then(|(_, number)| number.parse().ok());
    1 << shift.unwrap_or(0_u32)
}

fn immediate(text: &str) -> Option<i64> {
    let text = text.strip_prefix('#')?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let number = match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if digits.len() < text.len() { -number } else { number })
}
