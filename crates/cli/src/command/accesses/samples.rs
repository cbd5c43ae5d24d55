//! `fieldline samples`: one row a sample, in file order.

use crate::args::SamplesArgs;
use crate::input::recordings;
use crate::output::{self, Outcome};
use anyhow::Result;
use fieldline_typeflow::operands::target::Target;
use std::io::Write;

pub(crate) fn run(args: &SamplesArgs) -> Result<Outcome> {
    recordings::attributed(&args.recordings, |attributed| {
        let mut out = output::buffered();
        writeln!(out, "# ip addr type offset reason")?;
        for recording in 0..attributed.count() {
            attributed.joint().each(recording, |sample, program, found| {
                let (ip, addr) = (sample.ip.unwrap_or(0), sample.addr.unwrap_or(0));
                match found.target {
                    Target::Place { ty, offset } => {
                        let name = attributed.answers(program).and_then(|answers| answers.ty(ty));
                        let name = name.map_or("?", |entry| &entry.name.name);
                        writeln!(out, "{ip:x} {addr:x} {} {offset} -", name.replace(' ', "_"))?;
                    }
                    Target::Unknown(reason) => writeln!(out, "{ip:x} {addr:x} - - {reason}")?,
                    Target::Within { .. } => writeln!(out, "{ip:x} {addr:x} - - unknown_offset")?,
                    Target::Element { .. } => writeln!(out, "{ip:x} {addr:x} - - unknown_index")?,
                }
                Ok::<(), anyhow::Error>(())
            })?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    })
}
