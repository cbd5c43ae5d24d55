//! Results of `fieldline doctor`, as text.

use super::color::Palette;
use crate::diagnosis::{Diagnosis, MachineReport, RecordingReport, StructReport};
use crate::output;
use fieldline_doctor::machine::{CpuModel, Machine};
use fieldline_doctor::{Advice, DoctorFinding, Severity};
use std::fmt::Write;
use textwrap::{Options, WordSplitter};

/// Appends the diagnosis and its verdict.
pub(crate) fn draw(out: &mut String, diagnosis: &Diagnosis, paint: Palette) {
    if let Some(here) = &diagnosis.here {
        draw_paragraph(out, ("machine:", &paint.bold("machine:")), 4, &describe_machine(&here.machine));
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

/// A text behind a label, wrapped to the terminal; its further rows begin at column `indent`. The label is given plain
/// and coloured.
fn draw_paragraph(out: &mut String, (label, coloured): (&str, &str), indent: usize, text: &str) {
    let (first, rest) = (format!("{label} "), " ".repeat(indent));
    let options = Options::new(output::screen().width).initial_indent(&first).subsequent_indent(&rest);
    let options = options.word_splitter(WordSplitter::NoHyphenation).break_words(false);
    let filled = textwrap::fill(text, options);
    let behind = filled.strip_prefix(label).unwrap_or(&filled);
    let _ = writeln!(out, "{coloured}{behind}");
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
    draw_paragraph(out, (title, &paint.bold(title)), 4, &advice.summary);
    let title = if advice.can_answer { "type, as root:" } else { "would record, but not answer:" };
    if !advice.commands.is_empty() {
        let _ = writeln!(out, "{}", paint.bold(title));
    }
    for step in &advice.commands {
        // A command is never wrapped: it is to be copied.
        let _ = writeln!(out, "    {}", paint.boundary(&step.command));
        draw_paragraph(out, ("       ", "       "), 8, &step.purpose);
    }
    out.push('\n');
    draw_list(out, "do instead", &advice.instead, paint);
}

fn draw_list(out: &mut String, title: &str, list: &[String], paint: Palette) {
    if list.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", paint.bold(&format!("{title}:")));
    list.iter().for_each(|text| draw_paragraph(out, ("  -", "  -"), 4, text));
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
    let coloured = match finding.severity {
        Severity::CannotAnswer => paint.warning(&word),
        Severity::Limits => paint.unused(&word),
        Severity::Note => paint.dim(&word),
    };
    draw_paragraph(out, (&word, &coloured), 4, &format!("{} [{}]", finding.message, finding.key));
    draw_paragraph(out, ("    why  ", "    why  "), 10, &finding.evidence);
    draw_paragraph(out, ("    do   ", "    do   "), 10, &finding.remedy);
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
