//! `fieldline doctor` for people.

use super::color::Paint;
use crate::diagnosis::{Diagnosis, Judged, Looked, StructNeed};
use fieldline_doctor::machine::Machine;
use fieldline_doctor::{Advice, DoctorFinding, Severity};
use std::fmt::Write;

/// Appends the diagnosis and its verdict.
pub(crate) fn draw(out: &mut String, diagnosis: &Diagnosis, paint: Paint) {
    if let Some(here) = &diagnosis.here {
        let _ = writeln!(out, "{} {}", paint.bold("machine:"), name(&here.machine));
        draw_advice(out, "samples by:", &here.advice, paint);
        draw_list(out, "recordings made here can't show", &here.advice.cannot_show, paint);
        draw_findings(out, here, paint);
    }
    for judged in &diagnosis.recordings {
        draw_recording(out, judged, paint);
    }
    draw_structs(out, &diagnosis.structs, paint);
    draw_verdict(out, diagnosis, paint);
}

fn name(machine: &Machine) -> String {
    let mut words: Vec<String> = machine.processor.iter().chain(&machine.arch).cloned().collect();
    words.extend(
        machine.model.as_ref().map(|of| format!("{} family {} model {}", of.vendor, of.family, of.model)),
    );
    words.extend(machine.cpus.map(|cpus| format!("{cpus} CPUs")));
    words.extend(machine.release.as_ref().map(|release| format!("Linux {release}")));
    words.extend(machine.guest.as_ref().map(|guest| format!("virtual ({guest})")));
    if words.is_empty() { "not known".to_owned() } else { words.join(", ") }
}

fn draw_recording(out: &mut String, judged: &Judged, paint: Paint) {
    let Judged { file, samples, looked, .. } = judged;
    let seconds = judged.seconds.map(|seconds| format!(" in {seconds:.1} s")).unwrap_or_default();
    let _ = writeln!(out, "{} {samples} samples{seconds}", paint.bold(&format!("{file}:")));
    if let Some(command) = &judged.command {
        let _ = writeln!(out, "  made by  {command}");
    }
    let _ = writeln!(out, "  made on  {}", name(&looked.machine));
    for event in &judged.events {
        let _ = writeln!(
            out,
            "  event    {}: {} samples, {} loads, {} stores, {} with an address, {} of exact instructions",
            event.name, event.samples, event.loads, event.stores, event.with_address, event.exact
        );
    }
    out.push('\n');
    draw_findings(out, looked, paint);
    draw_advice(out, "that machine samples by:", &looked.advice, paint);
}

fn draw_advice(out: &mut String, title: &str, advice: &Advice, paint: Paint) {
    let _ = writeln!(out, "{} {}", paint.bold(title), advice.summary);
    let title = if advice.can_answer { "type, as root:" } else { "would record, but not answer:" };
    if !advice.commands.is_empty() {
        let _ = writeln!(out, "{}", paint.bold(title));
    }
    for step in &advice.commands {
        let _ = writeln!(out, "    {}\n        {}", paint.rule(&step.command), paint.dim(&step.purpose));
    }
    out.push('\n');
    draw_list(out, "do instead", &advice.instead, paint);
}

fn draw_list(out: &mut String, title: &str, list: &[String], paint: Paint) {
    if list.is_empty() {
        return;
    }
    let _ = writeln!(out, "{}", paint.bold(&format!("{title}:")));
    out.extend(list.iter().map(|line| format!("  - {line}\n")));
    out.push('\n');
}

fn draw_findings(out: &mut String, looked: &Looked, paint: Paint) {
    looked.findings.iter().for_each(|finding| draw_finding(out, finding, paint));
    if !looked.findings.is_empty() {
        out.push('\n');
    }
}

fn draw_finding(out: &mut String, finding: &DoctorFinding, paint: Paint) {
    let word = format!("{}:", finding.severity.word());
    let word = match finding.severity {
        Severity::CannotAnswer => paint.warn(&word),
        Severity::Limits => paint.gap(&word),
        Severity::Note => paint.dim(&word),
    };
    let _ = writeln!(out, "{word} {} [{}]", finding.what, finding.key);
    let _ = writeln!(out, "    seen  {}", finding.why);
    let _ = writeln!(out, "    do    {}", finding.remedy);
    if let Some(command) = &finding.command {
        let _ = writeln!(out, "    type  {}", paint.rule(command));
    }
}

fn draw_structs(out: &mut String, structs: &[StructNeed], paint: Paint) {
    for of in structs {
        let StructNeed { name, samples, needed, findings } = of;
        let title = paint.bold(&format!("struct {name}:"));
        let _ = writeln!(out, "{title} {samples} samples, advice needs about {needed}");
        findings.iter().for_each(|finding| draw_finding(out, finding, paint));
    }
    if !structs.is_empty() {
        out.push('\n');
    }
}

fn draw_verdict(out: &mut String, diagnosis: &Diagnosis, paint: Paint) {
    let verdict = match (diagnosis.fit, diagnosis.here.is_some()) {
        (true, true) => "recordings made here can answer".to_owned(),
        (true, false) => "can answer, within the limits above".to_owned(),
        (false, true) => paint.warn("no recording made here can answer"),
        (false, false) => paint.warn("cannot answer"),
    };
    let _ = writeln!(out, "{} {verdict}", paint.bold("verdict:"));
}
