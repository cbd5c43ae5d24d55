//! Ranked locations for a new member, as text.

use crate::report::color::Palette;
use fieldline_plan::placement::{PlacementReport, RankedPlacement};
use fieldline_plan::result::Basis;
use std::fmt::Write;

/// Appends the table of the best locations with their reasons.
pub(crate) fn draw(out: &mut String, place: &PlacementReport, paint: Palette) {
    let title = paint.bold(&format!("struct {}", place.name));
    let size = match place.member.bit_size % 8 {
        0 => format!("{} bytes", place.member.bit_size / 8),
        1 if place.member.bit_size == 1 => "1 bit".to_owned(),
        _ => format!("{} bits", place.member.bit_size),
    };
    let basis = match place.basis {
        Basis::Profile => format!("{} samples", place.samples),
        Basis::Layout => "by holes and structure alone: no profile, so hot members are not known".to_owned(),
    };
    let (declaration, align) = (&place.member.declaration, place.member.align);
    let _ = writeln!(out, "{title}: where '{declaration}' ({size}, align {align}) costs least ({basis})");
    if place.cold && place.basis == Basis::Layout {
        out.push_str("  --cold changes nothing without a profile: every line may be hot\n");
    }
    let verdict = if place.impossible { "impossible" } else { "refused" };
    out.extend(place.refusal.iter().map(|refusal| format!("  {verdict}: {refusal}\n")));
    out.extend(place.barred.iter().map(|barred| format!("  excluded: {barred}\n")));
    if place.placements.is_empty() {
        return;
    }
    let near = match place.with.is_empty() {
        true => String::new(),
        false => format!(" on the cacheline of {}", place.with.join(" and ")),
    };
    let (shown, all) = (place.placements.len(), place.suitable);
    let _ = write!(out, "  best {shown} of {all} legal locations{near}; ");
    out.push_str("bytes (and kmalloc class) by line size, before and after\n");
    draw_table(out, place);
    for (number, placement) in (1..).zip(&place.placements) {
        let _ = writeln!(out, "  {number}: {}", placement.reason);
        out.extend(placement.notes.iter().map(|note| format!("     {note}\n")));
    }
    if !place.holders.is_empty() {
        let _ = writeln!(out, "  if it grows, so do the structs that embed it: {}", place.holders.join(", "));
    }
    out.push('\n');
}

/// Appends rows with aligned columns.
fn draw_table(out: &mut String, place: &PlacementReport) {
    let mut rows = vec![column_titles(place)];
    rows.extend((1..).zip(&place.placements).map(|(number, placement)| row_cells(place, number, placement)));
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().filter_map(|row| Some(row.get(column)?.len())).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in &rows {
        let mut line = String::from(" ");
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // Names are left-aligned, numbers right-aligned.
            let _ =
                if column == 1 { write!(line, " {cell:<width$}") } else { write!(line, " {cell:>width$}") };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn column_titles(place: &PlacementReport) -> Vec<String> {
    let mut head: Vec<String> = ["", "after", "offset", "hole"].map(str::to_owned).into();
    let sizes = place.placements.first().map_or(&[][..], |placement| &placement.sizes);
    head.extend(sizes.iter().map(|size| format!("{} B lines", size.build_line)));
    head.extend(["moved", "pushed"].map(str::to_owned));
    head.extend((place.basis == Basis::Profile).then(|| "line's heat".to_owned()));
    head
}

fn row_cells(place: &PlacementReport, number: usize, placement: &RankedPlacement) -> Vec<String> {
    let after = placement.after.as_deref().unwrap_or("(the start)");
    let line = placement.line.map_or_else(|| after.to_owned(), |line| format!("{after}, line {line}"));
    let offset = match placement.bit_offset.filter(|bits| bits % 8 > 0) {
        Some(bits) => format!("{}:{}", bits / 8, bits % 8),
        None => placement.offset.to_string(),
    };
    let mut cells = vec![number.to_string(), line, offset, placement.hole.to_string()];
    cells.extend(placement.sizes.iter().map(|size| {
        format!("{} -> {} ({} -> {})", size.before, size.after, size.slab_before, size.slab_after)
    }));
    cells.extend([placement.shifted, placement.pushed.len()].map(|count| count.to_string()));
    if place.basis == Basis::Profile {
        cells.push(placement.heat.map_or_else(String::new, |heat| {
            format!("{:.1} %{}", heat.share * 100.0, if heat.hot { " hot" } else { "" })
        }));
    }
    cells
}
