//! The layout that a plan predicts, for the build it was made with and for others.

use fieldline_layout::layout::MemberRole;
use fieldline_layout::{Layout, Member, abi};
use fieldline_plan::StructPlan;
use fieldline_plan::cost::other_build;
use fieldline_plan::result::{Arrangement, PlacedMember};

/// How names of members that only mark a group begin (include/linux/cache.h).
const MARKER: &str = "__cacheline_group_";

/// The planned layout of the plan's own build. Markers that the patch adds move no member.
pub fn predict_plan(plan: &StructPlan, built: Option<&Layout>) -> Layout {
    let template = Layout {
        kind: "struct".to_owned(),
        name: plan.name.clone(),
        align: 1,
        file: plan.file.clone(),
        line: plan.line,
        ..Layout::default()
    };
    let mut members: Vec<Member> = plan.chosen.members.iter().map(member).collect();
    for (at, mut marker) in markers(&members, built) {
        let end = at.checked_sub(1).and_then(|before| members.get(before)).map_or(0, Member::bit_end);
        let align = marker.explicit_align.unwrap_or(1).max(1).saturating_mul(8);
        marker.bit_offset = end.checked_next_multiple_of(align).unwrap_or(end);
        members.insert(at, marker);
    }
    Layout::from_members(&template, members, plan.chosen.size)
}

/// Group markers that a build has beyond these members, each with its place and the markers before it.
fn markers(members: &[Member], built: Option<&Layout>) -> Vec<(usize, Member)> {
    let mut found: Vec<(usize, Member)> = Vec::new();
    let mut place = 0;
    for member in built.into_iter().flat_map(|built| &built.members) {
        let is_type = |other: &Member| other.name.is_some() || other.type_name == member.type_name;
        match members.iter().position(|other| other.name == member.name && is_type(other)) {
            Some(at) => place = place.max(at + 1),
            None if member.bit_size == 0 && member.label().starts_with(MARKER) => {
                found.push((place + found.len(), member.clone()));
            }
            None => {}
        }
    }
    found
}

fn member(placed: &PlacedMember) -> Member {
    Member {
        name: placed.name.clone(),
        type_name: placed.type_name.clone(),
        bit_offset: placed.bit_offset.unwrap_or_else(|| placed.offset.saturating_mul(8)),
        bit_size: placed.bit_size.unwrap_or_else(|| placed.size.saturating_mul(8)),
        align: 1,
        line: placed.line,
        role: if placed.inherited { MemberRole::Inherited } else { MemberRole::Plain },
        ..Member::default()
    }
}

/// The plan's order in a build whose declared layout is known. `None` for a union. Members that `built`
/// aligns more than they were declared (`patch --idiom plain`) are placed so.
pub fn predict_build(plan: &StructPlan, declared: &Layout, built: Option<&Layout>) -> Option<Layout> {
    let (order, mut predicted) = predict_order(&plan.declared, &plan.order(), declared)?;
    let mut inferred = abi::infer_abi(declared);
    inferred.members = order.iter().filter_map(|index| inferred.members.get(*index).copied()).collect();
    for (index, own) in order.iter().zip(&mut inferred.members) {
        let known = declared_index(&plan.declared, declared, *index);
        let aligned = plan.aligned.iter().find(|(member, _)| Some(*member) == known);
        own.align = aligned.map_or(own.align, |(_, align)| own.align.max(*align));
    }
    let new = markers(&predicted.members, built);
    let mut is_raised = !new.is_empty() || !plan.aligned.is_empty();
    for (at, marker) in new {
        // What is marked last stands furthest behind, so each place counts those before it.
        let at = at.min(predicted.members.len());
        inferred.members.insert(at, abi::AbiMember::bytes(0, marker.explicit_align.unwrap_or(1)));
        predicted.members.insert(at, marker);
    }
    for (member, abi_member) in predicted.members.iter().zip(&mut inferred.members) {
        let own = member.explicit_align.unwrap_or(1).max(abi_member.align);
        // Beyond its type's.
        let mut others = built.iter().flat_map(|built| &built.members);
        let found = others.find(|other| other.name == member.name);
        let found = found.filter(|found| found.name.is_some() && !found.aligned_type);
        let written = found.and_then(|found| found.explicit_align).filter(|align| *align > own);
        is_raised |= written.is_some();
        abi_member.align = written.unwrap_or(abi_member.align);
    }
    if is_raised {
        let placement = inferred.place();
        for (member, offset) in predicted.members.iter_mut().zip(&placement.bit_offsets) {
            member.bit_offset = *offset;
        }
        predicted = Layout::from_members(&predicted, predicted.members.clone(), placement.size);
    }
    Some(predicted)
}

/// An order of the declared members in another build of the same source: the indices of its members in order of place,
/// and its layout then. `None` for a union.
pub fn predict_order(
    declared: &Arrangement,
    order: &[usize],
    other: &Layout,
) -> Option<(Vec<usize>, Layout)> {
    let there = order_there(declared, order, other);
    let layout = abi::reorder(other, &there)?;
    Some((there, layout))
}

/// The build's members in an order of the declared ones. Members that aren't declared follow the one whose text is in
/// front of theirs, which may be absent here; if lines don't show it, the one they are declared behind.
fn order_there(declared: &Arrangement, order: &[usize], other: &Layout) -> Vec<usize> {
    let is_same_text = is_same_text(declared, other);
    let position = |index: usize| order.iter().position(|placed| *placed == index);
    let mut leader = None;
    let mut keyed: Vec<(Option<usize>, usize)> = Vec::new();
    for (index, member) in other.members.iter().enumerate() {
        let in_front = || if is_same_text { declared_in_front(declared, member) } else { None };
        let own = declared_index(declared, other, index).and_then(position);
        leader = own.or_else(|| in_front().and_then(position)).or(leader);
        keyed.push((leader, index));
    }
    keyed.sort();
    keyed.into_iter().map(|(_, index)| index).collect()
}

/// Whether all members that are declared and that a build has stand at the same lines.
fn is_same_text(declared: &Arrangement, other: &Layout) -> bool {
    let named = |member: &&Member| member.name.is_some();
    other.members.iter().filter(named).all(|member| {
        let known = declared.members.iter().find(|placed| placed.name == member.name);
        known.is_none_or(|placed| placed.line == member.line)
    })
}

/// The declared member whose text is in front of one that isn't declared.
fn declared_in_front(declared: &Arrangement, member: &Member) -> Option<usize> {
    let lines = declared.members.iter().map(|placed| placed.line);
    let before = other_build::find_preceding(lines, member.line)?;
    declared.members.get(before).map(|placed| placed.index)
}

/// The declared index of a build's member. Unnamed ones of one kind go by line, in other sources by number.
fn declared_index(declared: &Arrangement, other: &Layout, index: usize) -> Option<usize> {
    let member = other.members.get(index)?;
    if member.name.is_some() {
        let known = declared.members.iter().find(|placed| placed.name == member.name);
        return known.map(|placed| placed.index);
    }
    let is_kind = |name: &Option<String>, type_name: &str| name.is_none() && type_name == member.type_name;
    let mut known = declared.members.iter().filter(|placed| is_kind(&placed.name, &placed.type_name));
    let before = other.members.get(..index).unwrap_or_default();
    let number = before.iter().filter(|other| is_kind(&other.name, &other.type_name)).count();
    let own = known.clone().find(|placed| placed.line.is_some() && placed.line == member.line);
    own.or_else(|| known.nth(number)).map(|placed| placed.index)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fieldline_layout::testing;

    /// Members of a size that is their alignment, one right behind the other.
    pub(crate) fn layout(members: &[(&str, u64)]) -> Layout {
        let mut end = 0;
        let member = |(name, size): &(&str, u64)| {
            end += size;
            testing::member(name, end - size, *size, *size)
        };
        let members: Vec<Member> = members.iter().map(member).collect();
        testing::layout("pair", end, members)
    }

    fn plan(declared: &Layout, order: &[usize]) -> StructPlan {
        let chosen = abi::reorder(declared, order).unwrap();
        let text = serde_json::json!({
            "name": "pair", "fingerprint": 0, "outcome": "moved", "samples": 0, "needed": 0,
            "declared": Arrangement::new(declared, 0..declared.members.len()),
            "chosen": Arrangement::new(&chosen, order.iter().copied()),
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn unnamed_members_of_one_kind_are_distinguished() {
        let mut recorded = layout(&[("a", 8), ("b", 4), ("c", 8)]);
        for (line, member) in (10..).zip(&mut recorded.members).skip(1) {
            member.name = None;
            member.line = Some(line);
        }
        let struct_plan = plan(&recorded, &[2, 1, 0]);
        let sizes = |layout: &Layout| layout.members.iter().map(Member::size).collect::<Vec<_>>();
        assert_eq!(sizes(&predict_build(&struct_plan, &recorded, None).unwrap()), [8, 4, 8]);
        // One of them is not in this build: its line shows which.
        recorded.members.remove(1);
        let predicted = predict_build(&struct_plan, &recorded, None).unwrap();
        assert_eq!(predicted.members.iter().map(|member| member.line).collect::<Vec<_>>(), [Some(12), None]);
    }

    #[test]
    fn a_build_with_other_members_has_its_own_prediction() {
        let recorded = layout(&[("a", 8), ("b", 8), ("c", 8)]);
        let struct_plan = plan(&recorded, &[2, 0, 1]);
        assert_eq!(
            predict_plan(&struct_plan, None).members.iter().map(Member::offset).collect::<Vec<_>>(),
            [0, 8, 16]
        );
        // `b` is not there, `x` follows `a`.
        let other = layout(&[("a", 8), ("x", 8), ("c", 8)]);
        let predicted = predict_build(&struct_plan, &other, None).unwrap();
        let names: Vec<&str> = predicted.members.iter().map(Member::label).collect();
        assert_eq!(names, ["c", "a", "x"]);
        assert_eq!(predicted.size, 24);
        // An alignment that the patch wrote moves what follows.
        let mut built = predicted.clone();
        built.members[1].explicit_align = Some(64);
        let predicted = predict_build(&struct_plan, &other, Some(&built)).unwrap();
        let offsets: Vec<u64> = predicted.members.iter().map(Member::offset).collect();
        assert_eq!((offsets, predicted.size), (vec![0, 64, 72], 128));
    }

    #[test]
    fn members_that_the_plan_aligns_are_predicted_so_in_every_build() {
        let recorded = layout(&[("a", 8), ("b", 8), ("c", 8)]);
        let struct_plan = StructPlan { aligned: vec![(1, 64)], ..plan(&recorded, &[0, 1, 2]) };
        let place = |other: &Layout, built: Option<&Layout>| {
            let predicted = predict_build(&struct_plan, other, built).unwrap();
            (offsets(&predicted), predicted.size)
        };
        assert_eq!(place(&recorded, None), (vec![0, 64, 72], 128));
        // What was built without it is not as predicted.
        assert_eq!(place(&recorded, Some(&recorded)), (vec![0, 64, 72], 128));
        // It is found by name in a build with other members.
        assert_eq!(place(&layout(&[("x", 8), ("b", 8)]), None), (vec![0, 64], 128));
    }

    #[test]
    fn a_member_of_that_build_only_follows_the_text_in_front_of_it() {
        let at_lines = |members: &[(&str, u64)], lines: [u32; 3]| {
            let mut layout = layout(members);
            layout.members.iter_mut().zip(lines).for_each(|(member, line)| member.line = Some(line));
            layout
        };
        let struct_plan = plan(&at_lines(&[("a", 8), ("b", 8), ("c", 8)], [1, 2, 5]), &[1, 2, 0]);
        let order = |lines: [u32; 3]| {
            let predicted =
                predict_build(&struct_plan, &at_lines(&[("a", 8), ("x", 8), ("c", 8)], lines), None).unwrap();
            predicted.members.iter().map(|member| member.label().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(order([1, 3, 5]), ["x", "c", "a"], "b is in front of it, and not there");
        assert_eq!(order([11, 13, 15]), ["c", "a", "x"], "another text, whose lines say nothing");
    }

    /// A marker behind `at` members.
    fn marked(built: &Layout, markers: &[(usize, &str, u64)]) -> Layout {
        let mut marked = built.clone();
        for (at, name, align) in markers.iter().rev() {
            let name = format!("__cacheline_group_{name}");
            let marker = Member { name: Some(name), bit_size: 0, ..built.members[0].clone() };
            marked
                .members
                .insert(*at, Member { explicit_align: Some(*align).filter(|align| *align > 1), ..marker });
        }
        marked
    }

    fn offsets(layout: &Layout) -> Vec<u64> {
        layout.members.iter().map(Member::offset).collect()
    }

    #[test]
    fn markers_are_predicted_where_the_members_beside_them_lie() {
        let recorded = layout(&[("a", 8), ("b", 8), ("c", 8)]);
        let struct_plan = plan(&recorded, &[2, 0, 1]);
        let names = [(1, "begin__g", 1), (2, "end__g", 1), (2, "pad__g", 1)];
        let built = marked(&abi::reorder(&recorded, &[2, 0, 1]).unwrap(), &names);
        let predicted = predict_plan(&struct_plan, Some(&built));
        let labels: Vec<&str> = predicted.members.iter().map(Member::label).collect();
        let marks = ["begin__g", "end__g", "pad__g"].map(|name| format!("__cacheline_group_{name}"));
        assert_eq!(labels, ["c", &marks[0], "a", &marks[1], &marks[2], "b"]);
        assert_eq!(offsets(&predicted), [0, 8, 8, 16, 16, 16]);
        // In another build alignments of markers move members.
        let names = [(1, "begin__g", 64), (2, "end__g", 8), (2, "pad__g", 64)];
        let built = marked(&abi::reorder(&recorded, &[2, 0, 1]).unwrap(), &names);
        let predicted = predict_build(&struct_plan, &recorded, Some(&built)).unwrap();
        assert_eq!((offsets(&predicted), predicted.size), (vec![0, 64, 64, 72, 128, 128], 192));
        // Markers that were there before are members like others.
        let declared = marked(&recorded, &[(1, "begin__g", 1), (2, "end__g", 1)]);
        assert!(markers(&declared.members, Some(&declared)).is_empty());
    }
}
