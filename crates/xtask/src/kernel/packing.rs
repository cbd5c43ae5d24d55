//! Plans without a profile for every struct of a kernel: each predicted layout must be possible.

use crate::tools::inputs::{self, with_dwarf};
use crate::tools::shell::print_line;
use anyhow::Result;
use fieldline_debuginfo::dwarf::Dwarf;
use fieldline_layout::Layout;
use fieldline_layout::constraint::PlacementRequests;
use fieldline_plan::packing::pack_struct;
use fieldline_plan::{Outcome, PlanOptions, PlanRequest, StructPlan};

/// Sums over all structs.
#[derive(Default)]
struct Tally {
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
    let mut tally = Tally::default();
    let (requests, options) = (PlacementRequests::default(), PlanOptions::default());
    for layout in inputs::layouts(dwarf)? {
        let layout = layout?;
        tally.structs += 1;
        let plan = pack_struct(PlanRequest { layout: &layout, requests: &requests }, &options);
        if let Some(fault) = find_fault(&plan, &layout) {
            tally.wrong += 1;
            print_line!("  {} {}: {fault}", layout.kind, layout.name);
        }
        tally.add(&plan);
    }
    let Tally { structs, moved, members, bytes, lines, classes, proven, wrong } = tally;
    print_line!(
        "  {structs} structs and unions, {moved} get smaller by {bytes} bytes: {lines} cachelines and {classes} slab classes \
         fewer, {members} members moved, {proven} proven to need no fewer; {wrong} impossible"
    );
    Ok(structs > 5000 && moved > 0 && wrong == 0)
}

impl Tally {
    fn add(&mut self, plan: &StructPlan) {
        let Some(size) = plan.sizes.first().filter(|_| plan.outcome() == Outcome::Moved) else { return };
        self.moved += 1;
        self.members += plan.moved.len();
        self.bytes += size.before - size.after;
        self.lines += size.before.div_ceil(size.build_line) - size.after.div_ceil(size.build_line);
        self.classes += usize::from(size.slab_after < size.slab_before);
        self.proven += usize::from(plan.search.is_some_and(|search| search.optimal));
    }
}

/// A statement of a plan that does not hold.
fn find_fault(plan: &StructPlan, layout: &Layout) -> Option<String> {
    if plan.outcome() != Outcome::Moved {
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
