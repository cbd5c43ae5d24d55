//! Results of `fieldline doctor`, as text.

use super::color::Palette;
use crate::diagnosis::{Diagnosis, MachineReport, RecordingReport, StructReport};
use fieldline_doctor::machine::{CpuModel, Machine};
use fieldline_doctor::{Advice, DoctorFinding, Severity};
use std::fmt::Write;

/// Appends the diagnosis and its verdict.
pub(crate) fn draw(out: &mut String, diagnosis: &Diagnosis, paint: Palette) {
    if let Some(here) = &diagnosis.here {
        let _ = writeln!(out, "{} {}", paint.bold("machine:"), describe_machine(&here.machine));
        draw_advice(out, "sampling:", &here.advice, paint);
        draw_list(out, "recordings of this machine can't show", &here.advice.cannot_show, paint);
        draw_findings(out, here, paint);
    }
    for recording in &diagnosis.recordings {
        draw_recording(out, recording, paint);
    }
    draw_structs(out, &diagnosis.structs, paint);
    draw_verdict(out, diagnosis, paint);
}

fn describe_machine(machine: &Machine) -> String {
    let mut words: Vec<String> = machine.processor.iter().chain(&machine.arch).cloned().collect();
    if let Some(CpuModel { vendor, family, model }) = &machine.model {
        words.push(format!("{vendor} family {family} model {model}"));
    }
    words.extend(machine.cpus.map(|cpus| format!("{cpus} CPUs")));
    words.extend(machine.release.as_ref().map(|release| format!("Linux {release}")));
    words.extend(machine.guest.as_ref().map(|guest| format!("virtual ({guest})")));
    if words.is_empty() { "not known".to_owned() } else { words.join(", ") }
}

fn draw_recording(out: &mut String, recording: &RecordingReport, paint: Palette) {
    let RecordingReport { file, samples, machine_report: report, .. } = recording;
    let seconds = recording.seconds.map(|seconds| format!(" in {seconds:.1} s")).unwrap_or_default();
    let _ = writeln!(out, "{} {samples} samples{seconds}", paint.bold(&format!("{file}:")));
    if let Some(command) = &recording.command {
        let _ = writeln!(out, "  made by  {command}");
    }
    let _ = writeln!(out, "  made on  {}", describe_machine(&report.machine));
    for event in &recording.events {
        let _ = writeln!(
            out,
            "  event    {}: {} samples, {} loads, {} stores, {} with an address, {} of exact instructions",
            event.name, event.samples, event.loads, event.stores, event.with_address, event.exact
        );
    }
    out.push('\n');
    draw_findings(out, report, paint);
    draw_advice(out, "sampling there:", &report.advice, paint);
}

fn draw_advice(out: &mut String, title: &str, advice: &Advice, paint: Palette) {
    let _ = writeln!(out, "{} {}", paint.bold(title), advice.summary);
    let title = if advice.can_answer { "type, as root:" } else { "would record, but not answer:" };
    if !advice.commands.is_empty() {
        let _ = writeln!(out, "{}", paint.bold(title));
    }
    for step in &advice.commands {
        let _ = writeln!(out, "    {}\n        {}", paint.boundary(&step.command), paint.dim(&step.purpose));
    }
    out.push('\n');
    draw_list(out, "do instead", &advice.instead, paint);
}

fn draw_list(out: &mut String, title: &str, list: &[String], paint: Palette) {
    if list.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", paint.bold(&format!("{title}:")));
    out.extend(list.iter().map(|line| format!("  - {line}\n")));
    out.push('\n');
}

fn draw_findings(out: &mut String, machine: &MachineReport, paint: Palette) {
    machine.findings.iter().for_each(|finding| draw_finding(out, finding, paint));
    if !machine.findings.is_empty() {
        out.push('\n');
    }
}

fn draw_finding(out: &mut String, finding: &DoctorFinding, paint: Palette) {
    let word = format!("{}:", finding.severity.label());
    let word = match finding.severity {
        Severity::CannotAnswer => paint.warning(&word),
        Severity::Limits => paint.unused(&word),
        Severity::Note => paint.dim(&word),
    };
    let _ = writeln!(out, "{word} {} [{}]", finding.message, finding.key);
    let _ = writeln!(out, "    why   {}", finding.evidence);
    let _ = writeln!(out, "    do    {}", finding.remedy);
    if let Some(command) = &finding.command {
        let _ = writeln!(out, "    type  {}", paint.boundary(command));
    }
}

fn draw_structs(out: &mut String, structs: &[StructReport], paint: Palette) {
    for need in structs {
        let StructReport { name, samples, needed, findings } = need;
        let title = paint.bold(&format!("struct {name}:"));
        let _ = writeln!(out, "{title} {samples} samples, a plan needs about {needed}");
        findings.iter().for_each(|finding| draw_finding(out, finding, paint));
    }
    if !structs.is_empty() {
        out.push('\n');
    }
}

fn draw_verdict(out: &mut String, diagnosis: &Diagnosis, paint: Palette) {
    let verdict = match (diagnosis.fit, diagnosis.here.is_some()) {
        (true, true) => "recordings of this machine can answer".to_owned(),
        (true, false) => "can answer, within the limits above".to_owned(),
        (false, true) => paint.warning("no recording of this machine can answer"),
        (false, false) => paint.warning("cannot answer"),
    };
    let _ = writeln!(out, "{} {verdict}", paint.bold("verdict:"));
}
