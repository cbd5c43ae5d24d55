//! Structs that hold a planned one by value: their sizes change with it.
//!
//! * `side_by_side`: those that hold several, one behind the other.

mod side_by_side;

pub use side_by_side::find_side_by_side;

use anyhow::{Context, Result};
use fieldline_debuginfo::btf;
use fieldline_debuginfo::types::{self, Types};
use fieldline_layout::embed::{Embedder, SizeChange, embedders};
use fieldline_layout::{Layout, TypeTable};
use fieldline_plan::result::{Embedding, Together, slab_class};
use fieldline_plan::{Plan, StructPlan};
use std::path::Path;

/// Fills in which structs hold those whose sizes the plan changes.
pub fn fill_embeddings(plan: &mut Plan, vmlinux: &Path) -> Result<()> {
    let resizes = |planned: &&mut StructPlan| planned.declared.size != planned.chosen.size;
    let mut resized: Vec<&mut StructPlan> = plan.structs.iter_mut().filter(resizes).collect();
    if resized.is_empty() {
        return Ok(());
    }
    let aligned: Vec<&Together> = plan.together.iter().filter(|found| !found.aligned.is_empty()).collect();
    types::with_types(vmlinux, None, None, |types| {
        let names: Vec<&str> = resized.iter().map(|planned| types::strip_keyword(&planned.name)).collect();
        let table = read_holders(types, &names)?;
        let changes: Vec<SizeChange> = resized.iter().map(|planned| size_change(planned)).collect();
        let mut together = embedders(&table, &changes);
        for all in &mut together {
            // Alignments are in no size of what it holds.
            let own = aligned.iter().find(|own| own.holder == all.name && own.before == all.before);
            all.after = own.map_or(all.after, |own| own.after);
        }
        for (planned, change) in resized.iter_mut().zip(&changes) {
            let found = embedders(&table, std::slice::from_ref(change)).into_iter();
            planned.embedded_in = found.map(|embedder| embedding(embedder, &together)).collect();
        }
        Ok(())
    })
}

/// The structs that hold one by value, with their members that do.
///
/// # Errors
/// If the program can't be read.
pub fn find_holders(layout: &Layout, program: &Path) -> Result<Vec<(String, String)>> {
    let same = SizeChange { name: layout.name.clone(), before: layout.size, after: layout.size };
    types::with_types(program, None, None, |types| {
        let table = read_holders(types, &[types::strip_keyword(&layout.name)])?;
        let found = embedders(&table, std::slice::from_ref(&same)).into_iter();
        Ok(found.map(|embedder| (embedder.name, embedder.member)).collect())
    })
}

fn size_change(planned: &StructPlan) -> SizeChange {
    SizeChange { name: planned.name.clone(), before: planned.declared.size, after: planned.chosen.size }
}

/// A holder by one order alone, and by all of them if others change it too.
fn embedding(embedder: Embedder, together: &[Embedder]) -> Embedding {
    let is_same = |other: &&Embedder| (&other.name, other.before) == (&embedder.name, embedder.before);
    let after_all = together.iter().find(is_same).map(|other| other.after);
    Embedding {
        slab_before: slab_class(embedder.before),
        slab_after: slab_class(embedder.after),
        after_all: after_all.filter(|after| *after != embedder.after),
        name: embedder.name,
        member: embedder.member,
        before: embedder.before,
        after: embedder.after,
    }
}

/// The structs and unions that hold one of some name, and their member types. Out of BTF if the file has any,
/// which has an index for this, where of DWARF all types have to be read.
fn read_holders(types: &Types<'_, '_>, names: &[&str]) -> Result<TypeTable> {
    let btf = match types {
        Types::Btf { btf, .. } => Some(*btf),
        Types::Dwarf { companion_btf: census, .. } => *census,
    };
    let Some(btf) = btf else {
        let entries = types.all()?;
        let mut reader = types.reader(&entries)?;
        entries.iter().try_for_each(|entry| reader.read(entry).map(|_| ()))?;
        return Ok(reader.into_table());
    };
    let (mut reader, mut table) = (btf::BtfReader::new(btf), TypeTable::new(btf.target()));
    for id in btf.holders(&btf.find_many(names).concat()) {
        reader.read(id, &mut table).with_context(|| types.file().to_owned())?;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_of_two_planned_structs_gets_the_size_of_both_orders() {
        let holder =
            |after| Embedder { name: "h".to_owned(), member: "a, b".to_owned(), before: 1088, after };
        let found = embedding(holder(1024), &[holder(960)]);
        assert_eq!((found.after, found.after_all), (1024, Some(960)));
        assert_eq!(found.describe_all(), ", 960 with all orders of the plan");
        assert_eq!(embedding(holder(1024), &[holder(1024)]).after_all, None);
    }
}
