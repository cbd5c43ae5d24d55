//! `uses BUILD TAG…`: every use in a build that depends on the order of the members of the structs.

#![allow(clippy::print_stdout, reason = "an example prints")]

use fieldline_frontend::{Error, Frontend, Subject, units};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let build = arguments.next().unwrap_or_default();
    let subjects: Vec<Subject> = arguments.map(|name| Subject { name, ..Subject::default() }).collect();
    let frontend = Frontend::load()?;
    let (units, begun) = (units(Path::new(&build))?, Instant::now());
    let (mut seen, mut unknown) = (BTreeSet::new(), 0);
    for unit in &units {
        let found = match frontend.uses(unit, &subjects, &BTreeSet::new()) {
            Ok(found) => found,
            Err(error) => {
                unknown += 1;
                println!("unknown: {error}");
                continue;
            }
        };
        if let Some(error) = found.errors.first() {
            unknown += 1;
            println!(
                "{}: unknown: {}:{} {}",
                unit.file.display(),
                error.file.display(),
                error.line,
                error.message
            );
        }
        seen.extend(found.uses);
    }
    for found in &seen {
        let name = subjects.get(found.subject).map_or("", |subject| &subject.name);
        let within =
            found.macro_definition.as_ref().map(|found| format!(" [{}]", found.name)).unwrap_or_default();
        println!(
            "{name}: {}:{}{within}: {:?}: {}",
            found.file.display(),
            found.line,
            found.demand,
            found.why
        );
    }
    println!(
        "{} units, {unknown} unknown, {} uses, {:.1} s",
        units.len(),
        seen.len(),
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
