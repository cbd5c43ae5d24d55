//! Plans without a profile, for every struct of a kernel: what is printed must be possible.

use crate::tools::inputs::{self, with_dwarf};
use crate::tools::shell::print_line;
use anyhow::Result;
use fieldline_debuginfo::dwarf::{self, Dwarf, TypeReader};
use fieldline_layout::Layout;
use fieldline_layout::constraint::PlacementRequests;
use fieldline_plan::packing::pack_struct;
use fieldline_plan::{Outcome, PlanOptions, PlanRequest, StructPlan};

/// What came of all structs.
#[derive(Default)]
struct PackingTally {
    structs: usize,
    moved: usize,
    members: usize,
    bytes: u64,
    lines: u64,
    classes: usize,
    proven: usize,
    wrong: usize,
}

/// `cargo xtask packing [VMLINUX]`.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let vmlinux = args.first().map_or_else(inputs::vmlinux, |path| Ok(path.into()))?;
    with_dwarf(&vmlinux, every_struct)
}

/// Each plan's order is placed anew: it must be as predicted, grow for no line size, and save a line or a slab class.
pub(crate) fn every_struct(dwarf: &Dwarf<'_>) -> Result<bool> {
    let mut reader = TypeReader::new(dwarf);
    let mut count = PackingTally::default();
    let (requests, options) = (PlacementRequests::default(), PlanOptions::default());
    for definition in dwarf::index_definitions(dwarf)? {
        let id = reader.read(definition.die)?;
        let Some(layout) = Layout::from_type(reader.table(), id) else { continue };
        count.structs += 1;
        let plan = pack_struct(PlanRequest { layout: &layout, requests: &requests }, &options);
        if let Some(fault) = find_fault(&plan, &layout) {
            count.wrong += 1;
            print_line(&format!("  {} {}: {fault}", layout.kind, layout.name));
        }
        count.add(&plan);
    }
    print_line(&format!(
        "  {} structs and unions, {} get smaller by {} bytes: {} cachelines and {} slab classes fewer, {} members moved, \
         {} proven to need no fewer; {} impossible",
        count.structs,
        count.moved,
        count.bytes,
        count.lines,
        count.classes,
        count.members,
        count.proven,
        count.wrong
    ));
    Ok(count.structs > 5000 && count.moved > 0 && count.wrong == 0)
}

impl PackingTally {
    fn add(&mut self, plan: &StructPlan) {
        let Some(size) = plan.sizes.first().filter(|_| plan.outcome == Outcome::Moved) else { return };
        self.moved += 1;
        self.members += plan.moved.len();
        self.bytes += size.before - size.after;
        self.lines += size.before.div_ceil(size.build_line) - size.after.div_ceil(size.build_line);
        self.classes += usize::from(size.slab_after < size.slab_before);
        self.proven += usize::from(plan.search.is_some_and(|search| search.optimal));
    }
}

/// What a plan says that isn't so.
fn find_fault(plan: &StructPlan, layout: &Layout) -> Option<String> {
    if plan.outcome != Outcome::Moved {
        return (plan.chosen != plan.declared).then(|| "not moved, but another order".to_owned());
    }
    let placed = match plan.predicted(layout) {
        Ok(placed) => placed,
        Err(error) => return Some(error.to_string()),
    };
    let grown = plan.sizes.iter().find(|size| size.after > size.before || size.slab_after > size.slab_before);
    if let Some(grown) = grown {
        return Some(format!("{} -> {} bytes at {} B", grown.before, grown.after, grown.build_line));
    }
    let own = plan.sizes.first()?;
    let line = own.build_line;
    let saves = own.after.div_ceil(line) < own.before.div_ceil(line) || own.slab_after < own.slab_before;
    let agrees = own.after == placed.size && own.before == layout.size;
    (!saves || !agrees).then(|| format!("{} -> {} bytes saves nothing", own.before, placed.size))
}
