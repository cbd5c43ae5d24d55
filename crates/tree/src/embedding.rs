//! Structs that hold a planned one by value: their sizes change with it.

use anyhow::{Context, Result};
use fieldline_debuginfo::btf;
use fieldline_debuginfo::types::{self, Types};
use fieldline_layout::TypeTable;
use fieldline_layout::embed::{Embedder, embedders};
use fieldline_plan::result::{Embedding, slab_class};
use fieldline_plan::{Plan, StructPlan};
use std::path::Path;

/// Fills in which structs hold those whose sizes the plan changes.
pub fn fill_embeddings(plan: &mut Plan, vmlinux: &Path) -> Result<()> {
    let resizes = |planned: &&mut StructPlan| planned.declared.size != planned.chosen.size;
    let mut resized: Vec<&mut StructPlan> = plan.structs.iter_mut().filter(resizes).collect();
    if resized.is_empty() {
        return Ok(());
    }
    types::with_types(vmlinux, None, None, |types| {
        let names: Vec<&str> = resized.iter().map(|planned| types::strip_keyword(&planned.name)).collect();
        let table = read_holders(types, &names)?;
        for planned in &mut resized {
            let found = embedders(&table, &planned.name, planned.declared.size, planned.chosen.size);
            planned.embedded_in = found.into_iter().map(embedding).collect();
        }
        Ok(())
    })
}

fn embedding(embedder: Embedder) -> Embedding {
    Embedding {
        slab_before: slab_class(embedder.before),
        slab_after: slab_class(embedder.after),
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
