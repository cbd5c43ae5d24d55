//! Structs that hold a planned one by value: their sizes change with it.

use crate::input::{self, Types};
use anyhow::{Context, Result};
use fieldline_layout::TypeTable;
use fieldline_layout::embed::{Embedder, embedders};
use fieldline_plan::result::{Embedding, slab_class};
use fieldline_plan::{Plan, StructPlan};
use std::path::Path;

/// Fills in which structs hold those whose sizes the plan changes. Reads all types of the file, so only if any does.
pub(crate) fn fill(plan: &mut Plan, vmlinux: &Path) -> Result<()> {
    if !plan.structs.iter().any(resizes) {
        return Ok(());
    }
    input::with_types(vmlinux, None, None, |types| {
        with_all(types, |table| {
            for of in plan.structs.iter_mut().filter(|of| resizes(of)) {
                let found = embedders(table, &of.name, of.declared.size, of.chosen.size);
                of.embedded_in = found.into_iter().map(embedding).collect();
            }
        })
    })
}

fn resizes(of: &StructPlan) -> bool {
    of.declared.size != of.chosen.size
}

fn embedding(of: Embedder) -> Embedding {
    Embedding {
        slab_before: slab_class(of.before),
        slab_after: slab_class(of.after),
        name: of.name,
        member: of.member,
        before: of.before,
        after: of.after,
    }
}

/// Works on all types of a file, out of BTF if it has any: that is read a hundred times faster than DWARF.
fn with_all(types: &Types<'_, '_>, work: impl FnOnce(&TypeTable)) -> Result<()> {
    let btf = match types {
        Types::Btf { btf, .. } => Some(*btf),
        Types::Dwarf { census, .. } => *census,
    };
    if let Some(btf) = btf {
        let table = btf.read_all().with_context(|| types.file().to_owned())?;
        work(&table);
        return Ok(());
    }
    let entries = types.all()?;
    let mut reader = types.reader(&entries)?;
    for entry in &entries {
        reader.read(entry)?;
    }
    work(reader.table());
    Ok(())
}
