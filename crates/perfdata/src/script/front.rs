//! The front of a line: command, process, thread, CPU, mode and time, whichever were asked for.

use crate::sample::CpuMode;

/// What stands in front of a sample's numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Front {
    /// Process, if both it and the thread stand there.
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
pub(crate) fn split(line: &str) -> (Front, &str) {
    if let Some((before, (time, has_short_time), rest)) = split_at_time(line) {
        return (Front { time: Some(time), has_short_time, ..of_words(before) }, rest);
    }
    let at = event_start(line).or_else(|| end_of_last(line, |word| cpu(word).is_some()));
    let at = at.or_else(|| end_of_last(line, |word| pid_and_tid(word).is_some())).unwrap_or(0);
    let (before, rest) = line.split_at(at);
    (of_words(before), rest)
}

/// The first word that is a time, `SECONDS.FRACTION:`.
fn split_at_time(line: &str) -> Option<(&str, (u64, bool), &str)> {
    for at in memchr::memchr_iter(b':', line.as_bytes()) {
        let (before, rest) = (line.get(..at)?, line.get(at + 1..)?);
        if !(rest.is_empty() || rest.starts_with(' ')) {
            continue;
        }
        let start = before.bytes().rposition(|byte| byte.is_ascii_whitespace()).map_or(0, |space| space + 1);
        if let Some(time) = before.get(start..).and_then(time) {
            return Some((before.get(..start)?, time, rest));
        }
    }
    None
}

/// Nanoseconds of a time as perf prints it: with six digits behind the point, which is the short form, or with nine
/// (`--ns`).
fn time(word: &str) -> Option<(u64, bool)> {
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
        .any(|word| is_digits(word) || cpu(word).is_some() || pid_and_tid(word).is_some());
    Some(if has_more && is_digits(period.get(start..)?) { start } else { event })
}

/// Behind the first word that is wanted.
fn end_of_last(line: &str, wanted: impl Fn(&str) -> bool) -> Option<usize> {
    words(line).find(|(_, word)| wanted(word)).map(|(at, word)| at + word.len())
}

/// The words of a text with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// Reads from the right, since a command's name may hold anything.
fn of_words(text: &str) -> Front {
    let mut front = Front::default();
    for word in text.split_whitespace().rev() {
        if let Some(number) = cpu(word).filter(|_| front.cpu.is_none()) {
            front.cpu = Some(number);
        } else if let Some((pid, tid)) = pid_and_tid(word) {
            (front.pid, front.tid) = (Some(pid), Some(tid));
            break;
        } else if let Some(number) = id(word) {
            front.tid = Some(number);
            break;
        } else if let Some(mode) = mode(word).filter(|_| front.cpu.is_none() && front.cpu_mode.is_none()) {
            front.cpu_mode = Some(mode);
        } else {
            break;
        }
    }
    front
}

fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn cpu(word: &str) -> Option<u32> {
    let digits = word.strip_prefix('[')?.strip_suffix(']')?;
    is_digits(digits).then(|| digits.parse().ok())?
}

fn pid_and_tid(word: &str) -> Option<(u32, u32)> {
    let (pid, tid) = word.split_once('/')?;
    Some((id(pid)?, id(tid)?))
}

/// A process or thread; -1 where perf knows none.
fn id(word: &str) -> Option<u32> {
    match word {
        "-1" => Some(u32::MAX),
        _ => is_digits(word).then(|| word.parse().ok())?,
    }
}

/// The first letter of the field `misc`.
fn mode(word: &str) -> Option<CpuMode> {
    match word {
        "K" => Some(CpuMode::Kernel),
        "U" => Some(CpuMode::User),
        "H" => Some(CpuMode::Hypervisor),
        "G" => Some(CpuMode::GuestKernel),
        "g" => Some(CpuMode::GuestUser),
        _ => None,
    }
}

fn is_kernel(ip: u64) -> bool {
    ip >> 63 == 1
}

/// In whose code a sample is: as printed (`misc`), else as the file's name or the address says.
pub(super) fn cpu_mode(front: &Front, ip: Option<u64>, dso: Option<&str>) -> CpuMode {
    if let Some(mode) = front.cpu_mode {
        return mode;
    }
    match (dso.is_some_and(|dso| dso.starts_with("[guest.")), ip) {
        (true, _) => CpuMode::GuestKernel,
        (false, Some(ip)) if is_kernel(ip) => CpuMode::Kernel,
        (false, Some(_)) => CpuMode::User,
        (false, None) => CpuMode::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(pid: Option<u32>, tid: Option<u32>, cpu: Option<u32>, time: Option<u64>) -> Front {
        let has_short_time = time.is_some_and(|time| time % 1000 == 0);
        Front { pid, tid, cpu, time, cpu_mode: None, has_short_time }
    }

    #[test]
    fn any_choice_of_fields() {
        let all = front(Some(7), Some(8), Some(3), Some(2_218_165_648_000));
        assert_eq!(split("  a b/1 7/8  [003]  2218.165648:  200 loads: 1f"), (all, "  200 loads: 1f"));
        let exact = front(None, Some(8), Some(3), Some(2_218_165_648_123));
        assert_eq!(split("kworker/0:1 8 [003] 2218.165648123: loads: 1f"), (exact, " loads: 1f"));
        let cpu = front(None, None, Some(3), None);
        assert_eq!(split("[003] ffffffff81000000 walk"), (cpu, " ffffffff81000000 walk"));
        assert_eq!(split("  ffffffff81000000 walk"), (Front::default(), "  ffffffff81000000 walk"));
        let pid = front(Some(7), Some(8), None, None);
        assert_eq!(split("worker 7/8 200 loads: 1f"), (pid, "200 loads: 1f"));
        assert_eq!(split("worker 7/8 loads: 1f"), (pid, "loads: 1f"));
        assert_eq!(split("worker 8 loads: 1f"), (front(None, Some(8), None, None), "loads: 1f"));
    }

    #[test]
    fn the_mode_and_absent_processes() {
        let (found, _) = split(":-1 -1/-1 [000] U  1.000001: x: 1");
        assert_eq!((found.pid, found.cpu_mode), (Some(u32::MAX), Some(CpuMode::User)));
    }

    #[test]
    fn times_too_large_or_of_another_form_are_none() {
        assert_eq!(time("99999999999999999999.000000"), None);
        assert_eq!(time("18446744073.999999"), None);
        assert_eq!(time("1.5"), None);
        assert_eq!(time("x.000001"), None);
    }
}
