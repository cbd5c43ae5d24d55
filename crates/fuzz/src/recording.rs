//! Recordings: perf.data and the texts that perf prints.

use super::code::idioms;
use fieldline_debuginfo::Elf;
use fieldline_debuginfo::dwarf::{DebugSections, Dwarf};
use fieldline_doctor::{diagnose, summarize};
use fieldline_perfdata::perf_data::{Error, Record};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_profile::addresses::{check_addresses, check_build_id};
use fieldline_profile::attribute::{Attribution, JointAttribution};
use fieldline_profile::perf_types;
use fieldline_profile::sums::{self, AttributedProgram};
use fieldline_typeflow::program::Program;

/// A perf.data: its facts, all records and fields of samples, the diagnosis of `doctor`, and a profile.
pub fn perf_data(bytes: &[u8]) {
    let _ = SampleFile::from_bytes(bytes.to_vec()).map(read);
}

/// Text of `perf script`, or of perf's own counts by type.
pub fn script(bytes: &[u8]) {
    perf_data(bytes);
    if let Ok(counts) = perf_types::parse(bytes) {
        let _ = perf_types::tags(&counts);
        let _ = perf_types::profile(&counts, "report", None, |_| Vec::new());
    }
}

fn read(file: SampleFile) -> Result<(), Error> {
    let _ = file.kernel_image();
    let mut records = file.records();
    while let Some(record) = records.next_record()? {
        if let Record::Sample(sample) = record {
            let chain = sample.callchain.map(|chain| chain.iter().count());
            let branches = sample.branch_stack.map(|stack| stack.entries().count());
            std::hint::black_box((chain, branches));
        }
    }
    let summary = summarize(&file, None)?;
    for finding in &diagnose(&file, &summary, None).findings {
        let _ = serde_json::to_string(finding);
    }
    let _ = attribute(&[file]);
    Ok(())
}

/// Attributes samples to a program that need not be the recorded one.
fn attribute(files: &[SampleFile]) -> Option<()> {
    let bytes = idioms();
    let elf = Elf::parse(&bytes).ok()?;
    for file in files {
        let _ = (check_build_id(&elf, file), check_addresses(&elf, file));
    }
    let sections = DebugSections::load(&elf, None).ok()?;
    let dwarf = Dwarf::new(&sections).ok()?;
    let mut program = Program::new(&elf, &dwarf).ok()?;
    let attributions = [Attribution::new(&elf, &mut program, files).ok()?];
    let parts = [AttributedProgram { dwarf: &dwarf, attribution: &attributions[0] }];
    let joint = JointAttribution { attributions: &attributions };
    let _ = sums::coverage(joint, files);
    let names = ["recording".to_owned()];
    let profile = sums::profile(&parts, joint, files, &names, &[], |_, _| Vec::new()).ok()?;
    for event in &profile.coverage {
        let lost: u64 = event.unattributed.values().map(|count| count.samples).sum();
        assert_eq!(event.total.samples, event.attributed.samples + lost, "attribution is total");
    }
    serde_json::to_vec(&profile).ok().map(|_| ())
}
