//! The front of a line: command, process, thread, CPU, mode and time, whichever were asked for.

use crate::address::LoadedAddress;
use crate::sample::CpuMode;

/// The fields in front of a sample's numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LinePrefix {
    /// Process, if both it and the thread are printed.
    pub(crate) pid: Option<u32>,
    /// Thread, or the only number of the two.
    pub(crate) tid: Option<u32>,
    pub(crate) cpu: Option<u32>,
    /// By the field `misc`.
    pub(crate) cpu_mode: Option<CpuMode>,
    /// Nanoseconds.
    pub(crate) time: Option<u64>,
    /// Whether the time was printed in microseconds.
    pub(crate) has_short_time: bool,
}

/// Cuts a line behind the time (or, without one, in front of the event or behind the CPU or the process).
pub(crate) fn split_prefix(line: &str) -> (LinePrefix, &str) {
    if let Some((before, (time, has_short_time), rest)) = split_at_time(line) {
        return (LinePrefix { time: Some(time), has_short_time, ..parse_prefix(before) }, rest);
    }
    let at = event_start(line).or_else(|| end_of_first(line, |word| parse_cpu(word).is_some()));
    let at = at.or_else(|| end_of_first(line, |word| parse_pid_and_tid(word).is_some())).unwrap_or(0);
    let (before, rest) = line.split_at(at);
    (parse_prefix(before), rest)
}

/// The first word that is a time, `SECONDS.FRACTION:`.
fn split_at_time(line: &str) -> Option<(&str, (u64, bool), &str)> {
    for at in memchr::memchr_iter(b':', line.as_bytes()) {
        let (before, rest) = (line.get(..at)?, line.get(at + 1..)?);
        if !(rest.is_empty() || rest.starts_with(' ')) {
            continue;
        }
        let start = before.bytes().rposition(|byte| byte.is_ascii_whitespace()).map_or(0, |space| space + 1);
        if let Some(time) = before.get(start..).and_then(parse_time) {
            return Some((before.get(..start)?, time, rest));
        }
    }
    None
}

/// Nanoseconds of a time as perf prints it: with six digits behind the point, which is the short form, or
/// with nine (`--ns`).
fn parse_time(word: &str) -> Option<(u64, bool)> {
    let (seconds, fraction) = word.split_once('.')?;
    if !is_digits(seconds) || !is_digits(fraction) {
        return None;
    }
    let scale = match fraction.len() {
        6 => 1000,
        9 => 1,
        _ => return None,
    };
    let seconds: u64 = seconds.parse().ok()?;
    let time = seconds.checked_mul(1_000_000_000)?.checked_add(fraction.parse::<u64>().ok()? * scale)?;
    Some((time, scale > 1))
}

/// Where the event's name begins, or the period before it, in a line without a time.
fn event_start(line: &str) -> Option<usize> {
    let mut words = words(line);
    let event = words.find(|(_, word)| word.len() > 1 && word.ends_with(':'))?.0;
    let before = line.get(..event)?;
    let period = before.trim_end();
    let start = period.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let has_more = period
        .get(..start)?
        .split_whitespace()
        .any(|word| is_digits(word) || parse_cpu(word).is_some() || parse_pid_and_tid(word).is_some());
    Some(if has_more && is_digits(period.get(start..)?) { start } else { event })
}

/// The end of the first wanted word.
fn end_of_first(line: &str, wanted: impl Fn(&str) -> bool) -> Option<usize> {
    words(line).find(|(_, word)| wanted(word)).map(|(at, word)| at + word.len())
}

/// The words of a text with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// Reads from the right, since a command's name may hold anything.
fn parse_prefix(text: &str) -> LinePrefix {
    let mut prefix = LinePrefix::default();
    for word in text.split_whitespace().rev() {
        if let Some(number) = parse_cpu(word).filter(|_| prefix.cpu.is_none()) {
            prefix.cpu = Some(number);
        } else if let Some((pid, tid)) = parse_pid_and_tid(word) {
            (prefix.pid, prefix.tid) = (Some(pid), Some(tid));
            break;
        } else if let Some(number) = parse_id(word) {
            prefix.tid = Some(number);
            break;
        } else if let Some(mode) =
            parse_mode(word).filter(|_| prefix.cpu.is_none() && prefix.cpu_mode.is_none())
        {
            prefix.cpu_mode = Some(mode);
        } else {
            break;
        }
    }
    prefix
}

fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn parse_cpu(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('[')?.strip_suffix(']')?;
    is_digits(digits).then(|| digits.parse().ok())?
}

fn parse_pid_and_tid(word: &str) -> Option<(u32, u32)> {
    let (pid, tid) = word.split_once('/')?;
    Some((parse_id(pid)?, parse_id(tid)?))
}

/// A process or thread; -1 where perf knows none.
fn parse_id(word: &str) -> Option<u32> {
    match word {
        "-1" => Some(u32::MAX),
        _ => is_digits(word).then(|| word.parse().ok())?,
    }
}

/// The first letter of the field `misc`.
fn parse_mode(word: &str) -> Option<CpuMode> {
    match word {
        "K" => Some(CpuMode::Kernel),
        "U" => Some(CpuMode::User),
        "H" => Some(CpuMode::Hypervisor),
        "G" => Some(CpuMode::GuestKernel),
        "g" => Some(CpuMode::GuestUser),
        _ => None,
    }
}

/// In whose code a sample is: as printed (`misc`), else as the file's name or the address says.
pub(super) fn cpu_mode(prefix: &LinePrefix, ip: Option<LoadedAddress>, dso: Option<&str>) -> CpuMode {
    if let Some(mode) = prefix.cpu_mode {
        return mode;
    }
    match (dso.is_some_and(|dso| dso.starts_with("[guest.")), ip) {
        (true, _) => CpuMode::GuestKernel,
        (false, Some(ip)) if ip.is_kernel() => CpuMode::Kernel,
        (false, Some(_)) => CpuMode::User,
        (false, None) => CpuMode::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(pid: Option<u32>, tid: Option<u32>, cpu: Option<u32>, time: Option<u64>) -> LinePrefix {
        let has_short_time = time.is_some_and(|time| time % 1000 == 0);
        LinePrefix { pid, tid, cpu, time, cpu_mode: None, has_short_time }
    }

    #[test]
    fn any_choice_of_fields() {
        let all = prefix(Some(7), Some(8), Some(3), Some(2_218_165_648_000));
        assert_eq!(split_prefix("  a b/1 7/8  [003]  2218.165648:  200 loads: 1f"), (all, "  200 loads: 1f"));
        let exact = prefix(None, Some(8), Some(3), Some(2_218_165_648_123));
        assert_eq!(split_prefix("kworker/0:1 8 [003] 2218.165648123: loads: 1f"), (exact, " loads: 1f"));
        let cpu = prefix(None, None, Some(3), None);
        assert_eq!(split_prefix("[003] ffffffff81000000 walk"), (cpu, " ffffffff81000000 walk"));
        assert_eq!(
            split_prefix("  ffffffff81000000 walk"),
            (LinePrefix::default(), "  ffffffff81000000 walk")
        );
        let pid = prefix(Some(7), Some(8), None, None);
        assert_eq!(split_prefix("worker 7/8 200 loads: 1f"), (pid, "200 loads: 1f"));
        assert_eq!(split_prefix("worker 7/8 loads: 1f"), (pid, "loads: 1f"));
        assert_eq!(split_prefix("worker 8 loads: 1f"), (prefix(None, Some(8), None, None), "loads: 1f"));
    }

    #[test]
    fn the_mode_and_absent_processes() {
        let (found, _) = split_prefix(":-1 -1/-1 [000] U  1.000001: x: 1");
        assert_eq!((found.pid, found.cpu_mode), (Some(u32::MAX), Some(CpuMode::User)));
    }

    #[test]
    fn times_too_large_or_of_another_form_are_none() {
        assert_eq!(parse_time("99999999999999999999.000000"), None);
        assert_eq!(parse_time("18446744073.999999"), None);
        assert_eq!(parse_time("1.5"), None);
        assert_eq!(parse_time("x.000001"), None);
    }
}
