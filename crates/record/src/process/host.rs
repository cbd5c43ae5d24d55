//! The machine's description in the header of a recording.

use fieldline_perfdata::writer::RecordingWriter;
use std::fs;
use std::path::Path;

/// Fills in names, processor, CPUs, PMUs and command.
pub(crate) fn describe(recording: &mut RecordingWriter) {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    recording.hostname(&text("/proc/sys/kernel/hostname"));
    recording.os_release(&text("/proc/sys/kernel/osrelease"));
    recording.arch(std::env::consts::ARCH);
    let processor = text("/proc/cpuinfo");
    let field = |name: &str| parse_field(&processor, name).unwrap_or_default();
    recording.cpu_description(field("model name"));
    let id = ["vendor_id", "cpu family", "model", "stepping"].map(field);
    recording.cpu_id(&id.join(","));
    let pmus = pmus(Path::new("/sys/bus/event_source/devices"));
    let pmus: Vec<(u32, &str)> = pmus.iter().map(|(number, name)| (*number, name.as_str())).collect();
    recording.pmus(&pmus);
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    recording.command_line(&words);
}

/// Says how many CPUs there are, those that samples name at least, all in one node: `perf c2c` needs to know,
/// and the CPUs of samples are numbers of threads.
pub(crate) fn describe_cpus(recording: &mut RecordingWriter, sampled: u32) {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpus = processors.lines().filter(|line| line.starts_with("processor")).count();
    let cpus = u32::try_from(cpus.max(1)).unwrap_or(u32::MAX).max(sampled);
    recording.cpus(cpus, cpus);
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes = |name| parse_field(&memory, name)?.split(' ').next()?.parse().ok();
    let memory = (kilobytes("MemTotal").unwrap_or(0), kilobytes("MemFree").unwrap_or(0));
    recording.one_numa_node(memory, cpus);
}

/// A field of the first processor in `/proc/cpuinfo`.
fn parse_field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(known, _)| known.trim() == name).map(|(_, value)| value.trim())
}

/// Numbers and names of the PMUs, in order of both.
fn pmus(folder: &Path) -> Vec<(u32, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut pmus: Vec<(u32, String)> = entries
        .filter_map(|entry| {
            let number = fs::read_to_string(entry.path().join("type")).ok()?.trim().parse().ok()?;
            Some((number, entry.file_name().into_string().ok()?))
        })
        .collect();
    pmus.sort();
    pmus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_of_the_first_processor_and_whole_names() {
        let text = "model\t\t: 85\nmodel name\t: A: B\n\nmodel\t\t: 86\n";
        assert_eq!(parse_field(text, "model"), Some("85"));
        assert_eq!(parse_field(text, "model name"), Some("A: B"));
        assert_eq!(parse_field(text, "stepping"), None);
    }
}
