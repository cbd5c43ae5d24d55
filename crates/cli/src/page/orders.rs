//! Where orders place the members of a struct, in the recorded build and in the same for other line sizes.

use super::model::{BuildData, OrderData, Places};
use crate::report::plan::format_marks;
use crate::series::placement::write_arrangement;
use fieldline_layout::{Layout, LayoutItem, abi};
use fieldline_plan::StructPlan;
use fieldline_plan::result::{Arrangement, Candidate};

/// The identifier of the declared order.
pub(super) const DECLARED: &str = "declared";

/// An order with its name.
pub(super) struct NamedOrder {
    pub(super) id: String,
    pub(super) label: String,
    /// Declared indices in order of place.
    pub(super) order: Vec<usize>,
    pub(super) is_chosen: bool,
}

/// All orders of a plan, the declared one first: its candidates, and what it proposes if that is none of them.
pub(super) fn named_orders(layout: &Layout, plan: Option<&StructPlan>) -> Vec<NamedOrder> {
    let declared: Vec<usize> = (0..layout.members.len()).collect();
    let mut orders = vec![NamedOrder {
        id: DECLARED.to_owned(),
        label: "as declared".to_owned(),
        order: declared,
        is_chosen: false,
    }];
    let Some(plan) = plan else { return orders };
    for (number, candidate) in (1..).zip(&plan.candidates) {
        orders.push(NamedOrder {
            id: number.to_string(),
            label: format!("candidate {number}: {}", describe(candidate)),
            order: candidate.order.clone(),
            is_chosen: plan.changes() && candidate.order == plan.order(),
        });
    }
    if plan.changes() && !orders.iter().any(|order| order.is_chosen) {
        let label = format!("as proposed: {}", count_moves(plan.moved.len()));
        orders.push(NamedOrder { id: "proposed".to_owned(), label, order: plan.order(), is_chosen: true });
    }
    orders
}

fn describe(candidate: &Candidate) -> String {
    let marks = format_marks(candidate);
    let moves = count_moves(candidate.moved);
    if marks.is_empty() { moves } else { format!("{moves} ({marks})") }
}

fn count_moves(moved: usize) -> String {
    if moved == 1 { "one member moves".to_owned() } else { format!("{moved} members move") }
}

/// Places of all orders in all builds that are drawn, and these builds. A build for another line size is left out if it
/// places each order as the recorded one does.
pub(super) fn place_orders(
    layout: &Layout,
    orders: &[NamedOrder],
    (build_line, lines): (u64, &[u64]),
) -> (Vec<OrderData>, Vec<BuildData>) {
    let place = |order: &NamedOrder, line| match order.id == DECLARED && line == build_line {
        // As the compiler placed it, also where no rule explains that.
        true => Some(layout.clone()),
        false => abi::reorder_for_line(layout, &order.order, build_line, line),
    };
    let recorded: Vec<Option<Layout>> = orders.iter().map(|order| place(order, build_line)).collect();
    let mut builds = vec![(format!("as recorded, for lines of {build_line} B"), recorded)];
    for line in lines.iter().filter(|line| **line != build_line) {
        let placed: Vec<Option<Layout>> = orders.iter().map(|order| place(order, *line)).collect();
        let label = format!("the same compiled for lines of {line} B");
        let is_same =
            builds.iter().any(|(_, known)| known.iter().map(places_of).eq(placed.iter().map(places_of)));
        builds.extend((!is_same).then_some((label, placed)));
    }
    let data = orders.iter().enumerate().map(|(at, order)| {
        let drawn = builds.iter().enumerate().filter_map(|(build, (_, placed))| {
            Some(Places::new(build, placed.get(at)?.as_ref()?, &order.order))
        });
        let recorded = builds.first().and_then(|(_, placed)| placed.get(at)?.as_ref());
        OrderData {
            id: order.id.clone(),
            label: order.label.clone(),
            places: drawn.collect(),
            moved: Vec::new(),
            text: recorded.map(|placed| text(placed, &order.order, build_line)).unwrap_or_default(),
        }
    });
    let data = data.collect();
    let line_build = |(label, _)| BuildData { label, drawn: true, ..BuildData::default() };
    (data, builds.into_iter().map(line_build).collect())
}

/// Size, and offsets in bits.
fn places_of(layout: &Option<Layout>) -> Option<(u64, Vec<(u64, u64)>)> {
    let layout = layout.as_ref()?;
    Some((layout.size, layout.members.iter().map(|member| (member.bit_offset, member.bit_size)).collect()))
}

/// A layout as pahole shows it.
pub(super) fn text(placed: &Layout, order: &[usize], line: u64) -> String {
    let mut out = String::new();
    let head = format!("{} {} {{", placed.kind, placed.name);
    write_arrangement(&mut out, &head, &Arrangement::new(placed, order.iter().copied()), line);
    out
}

impl Places {
    /// Of a layout whose members have these indices.
    pub(super) fn new(build: usize, layout: &Layout, indexes: &[usize]) -> Self {
        let members = indexes.iter().zip(&layout.members);
        Self {
            build,
            size: layout.size,
            members: members.map(|(index, member)| (*index, member.bit_offset, member.bit_size)).collect(),
            gaps: layout.items.iter().filter_map(gap).collect(),
            ..Self::default()
        }
    }
}

fn gap(item: &LayoutItem) -> Option<(&'static str, u64, u64)> {
    let kind = match item {
        LayoutItem::Members { .. } => return None,
        LayoutItem::Hole(_) => "hole",
        LayoutItem::BitHole(_) => "bit hole",
        LayoutItem::Padding(_) => "padding",
        LayoutItem::BitPadding(_) => "bit padding",
    };
    let (offset, size) = item.bits();
    Some((kind, offset, size))
}
