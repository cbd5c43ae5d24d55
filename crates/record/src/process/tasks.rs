//! Threads, by `/proc`.

use std::path::Path;

pub(crate) fn process_id(tid: u32) -> Option<u32> {
    parse_field(&std::fs::read_to_string(format!("/proc/{tid}/status")).ok()?, "Tgid:")
}

/// A number of `/proc/PID/status` (`proc_pid_status(5)`).
fn parse_field(status: &str, name: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
}

/// Whether a thread runs or waits for a CPU only.
pub(crate) fn is_running(pid: u32, tid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat"));
    stat.is_ok_and(|stat| parse_state(&stat) == Some('R'))
}

/// The state of `/proc/PID/stat` (`proc_pid_stat(5)`), behind the name, which may hold anything.
fn parse_state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

pub(crate) fn thread_name(pid: u32, tid: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm"));
    name.map(|name| name.trim_end_matches('\n').to_owned()).unwrap_or_default()
}

/// The threads of a process, in order of their numbers.
pub(crate) fn threads(pid: u32) -> Vec<u32> {
    let all = std::fs::read_dir(Path::new("/proc").join(pid.to_string()).join("task"));
    let names = all.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut threads: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
    threads.sort_unstable();
    threads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_hide_the_state() {
        assert_eq!(parse_state("12 (a) R (b)) S 1 12"), Some('S'));
        assert_eq!(parse_state("12 (a) R 1"), Some('R'));
        assert_eq!(parse_state("12"), None);
    }

    #[test]
    fn status_is_read_by_name() {
        let status = "Name:\tTgid: 5\nTgid:\t12\nPid:\t13\n";
        assert_eq!(parse_field(status, "Tgid:"), Some(12));
        assert_eq!(parse_field(status, "Ngid:"), None);
    }
}
