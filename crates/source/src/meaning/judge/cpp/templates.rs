//! Templates of a program, and templates of the library that show bytes: what they make of a type isn't followed.
//!
//! Code is read once, and a template is read anew for each type. So a struct that a template is given, or an object
//! that it is handed, is held.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::stream::{Kind, Piece};
use crate::meaning::types::lossy;
use crate::uses::UseDemand;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Functions of the library that show an object as bytes.
const VIEWS: [&[u8]; 3] = [b"as_bytes", b"as_writable_bytes", b"bit_cast"];

/// Most words between a type and the name of what is declared of it.
const DECLARATION: usize = 12;

/// Names of the templates that a file declares; of operators their signs.
pub(in crate::meaning) fn template_names<'t>(pieces: &[Piece<'t>], found: &mut FxHashSet<&'t [u8]>) {
    for (at, piece) in pieces.iter().enumerate() {
        match piece.text {
            b"template" if text(pieces, at + 1) == b"<" => {
                found.extend(template_name(pieces, behind_angles(pieces, at + 1)));
            }
            // `int f(const auto &x)`
            b"auto" => found.extend(abbreviated(pieces, at)),
            _ => {}
        }
    }
}

fn text<'t>(pieces: &[Piece<'t>], at: usize) -> &'t [u8] {
    pieces.get(at).map_or(b"", |piece| piece.text)
}

/// The place behind `<…>`; that of the `<` if nothing closes it.
fn behind_angles(pieces: &[Piece<'_>], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, piece) in pieces.iter().enumerate().skip(start) {
        match piece.text {
            b"<" => depth += 1,
            b">" => depth = depth.saturating_sub(1),
            b">>" => depth = depth.saturating_sub(2),
            b";" | b"{" => return start,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    start
}

/// The name that a declaration behind `template <…>` declares.
fn template_name<'t>(pieces: &[Piece<'t>], start: usize) -> Option<&'t [u8]> {
    let (mut name, mut behind) = (None, start);
    for (at, piece) in pieces.iter().enumerate().skip(start) {
        if at < behind {
            continue;
        }
        match piece.text {
            b"operator" => return Some(text(pieces, at + 1)),
            b"template" | b"(" | b";" | b"{" | b"=" | b":" => return name,
            // `std::optional<T> read()`, `struct reader<int>`
            b"<" => behind = behind_angles(pieces, at).max(at + 1),
            _ if piece.kind == Kind::Word => name = Some(piece.text),
            _ => {}
        }
    }
    None
}

/// The function that `auto` is the type of a parameter of.
fn abbreviated<'t>(pieces: &[Piece<'t>], at: usize) -> Option<&'t [u8]> {
    let front = pieces.get(at.saturating_sub(DECLARATION)..at)?;
    let ends = |piece: &Piece<'_>| matches!(piece.text, b";" | b"{" | b"}" | b")");
    let front = front.get(front.iter().rposition(ends).map_or(0, |end| end + 1)..)?;
    let open = front.iter().position(|piece| piece.text == b"(")?;
    let name = front.get(open.checked_sub(1)?)?;
    let is_name = name.kind == Kind::Word && !matches!(name.text, b"for" | b"if" | b"while" | b"switch");
    is_name.then_some(name.text)
}

/// Variables of a file, by their names, with the structs that their types name.
type Objects<'t> = FxHashMap<&'t [u8], Vec<&'t [u8]>>;

impl<'t> Evaluator<'_, '_, 't> {
    /// Holds what templates are given.
    pub(in crate::meaning) fn templates(&mut self) {
        if !self.is_cpp {
            return;
        }
        self.member_pointers();
        let objects = self.objects();
        let pieces = self.cursor.pieces;
        for at in 0..pieces.len() {
            if self.world().templates.contains(text(pieces, at)) && text(pieces, at + 1) == b"<" {
                let end = behind_angles(pieces, at + 1);
                for record in self.said(at + 1..end) {
                    let what =
                        format!("template {} is given it, which isn't followed", lossy(text(pieces, at)));
                    self.report_at(at, record, UseDemand::Whole, what);
                }
            }
        }
        let mut start = 0;
        for at in 0..pieces.len() {
            if matches!(text(pieces, at), b";" | b"{" | b"}") {
                self.template_statement(start..at, &objects);
                start = at + 1;
            }
        }
    }

    /// Subjects that are said in a range.
    fn said(&self, range: Range<usize>) -> Vec<&'t [u8]> {
        let inside = self.cursor.pieces.get(range).unwrap_or_default();
        let said = inside.iter().map(|piece| piece.text);
        said.filter(|word| self.world().subjects.contains_key(word)).collect()
    }

    fn objects(&self) -> Objects<'t> {
        let pieces = self.cursor.pieces;
        let mut found = Objects::default();
        for (at, piece) in pieces.iter().enumerate() {
            if !self.world().subjects.contains_key(piece.text) {
                continue;
            }
            let declared = (at + 1..at + DECLARATION).find(|next| {
                let is_type =
                    matches!(text(pieces, *next), b"const" | b"constexpr" | b"struct" | b"unsigned");
                let ends = matches!(text(pieces, *next), b";" | b"{" | b"}" | b"(" | b")" | b"." | b"=");
                ends || pieces.get(*next).is_some_and(|piece| piece.kind == Kind::Word) && !is_type
            });
            if let Some(name) = declared.and_then(|at| pieces.get(at)).filter(|name| name.kind == Kind::Word)
            {
                found.entry(name.text).or_default().push(piece.text);
            }
        }
        found
    }

    /// Objects that a range of words hands on whole.
    fn handed_objects(&self, range: Range<usize>, objects: &Objects<'t>) -> Vec<&'t [u8]> {
        let pieces = self.cursor.pieces;
        let is_part = |at: usize| {
            matches!(text(pieces, at + 1), b"." | b"->" | b"::")
                || at > 0 && matches!(text(pieces, at - 1), b"." | b"->")
        };
        let whole = range.clone().filter(|at| !is_part(*at));
        let mut found: Vec<&'t [u8]> =
            whole.filter_map(|at| objects.get(text(pieces, at))).flatten().copied().collect();
        found.extend(self.said(range));
        found.sort_unstable();
        found.dedup();
        found
    }

    fn template_statement(&mut self, range: Range<usize>, objects: &Objects<'t>) {
        let pieces = self.cursor.pieces;
        for at in range.clone() {
            let word = text(pieces, at);
            let is_called = matches!(text(pieces, at + 1), b"(" | b"<");
            let is_sign = pieces.get(at).is_some_and(|piece| piece.kind == Kind::Sign);
            let is_declared = at > 0 && text(pieces, at - 1) == b"operator";
            if VIEWS.contains(&word) {
                self.shown_as_bytes(at, range.clone(), objects);
            } else if self.world().templates.contains(word) && !is_declared {
                let from = if is_sign { range.start } else { at };
                let records = self.handed_objects(from..range.end, objects);
                for record in
                    records.into_iter().filter(|_| is_called || is_sign || objects_follow(pieces, at))
                {
                    let what = format!("template {} is handed it, which isn't followed", lossy(word));
                    self.report_at(at, record, UseDemand::Whole, what);
                }
            } else if word == b"in_place" {
                for record in self.said(range.clone()) {
                    let what = "values in place are given to it by position".to_owned();
                    self.report_at(at, record, UseDemand::Whole, what);
                }
            } else if word.starts_with(b"emplace") && is_called {
                self.emplaced(at, range.clone(), objects);
            }
        }
    }

    /// Objects as bytes: of what isn't known, all that the file names.
    fn shown_as_bytes(&mut self, at: usize, range: Range<usize>, objects: &Objects<'t>) {
        let mut records = self.handed_objects(range, objects);
        if records.is_empty() {
            records = self.said(0..self.cursor.pieces.len());
        }
        for record in records {
            let what = format!("{} shows objects as bytes", lossy(text(self.cursor.pieces, at)));
            self.report_at(at, record, UseDemand::Whole, what);
        }
    }

    /// `all.emplace_back(1, 2)`: values by position for an element.
    fn emplaced(&mut self, at: usize, range: Range<usize>, objects: &Objects<'t>) {
        let pieces = self.cursor.pieces;
        let values = pieces.get(at + 1..self.cursor.behind(at + 1)).unwrap_or_default();
        let count = values.iter().filter(|piece| piece.text == b",").count() + 1;
        let holders = (range.start..at).filter_map(|place| objects.get(text(pieces, place)));
        let records: Vec<&'t [u8]> = holders.flatten().copied().collect();
        for record in records.into_iter().filter(|_| count > 1) {
            if self.world().records.get(record).is_some_and(|known| !known.has_constructor) {
                let what = format!("{} is handed {count} values for it", lossy(text(pieces, at)));
                self.report_at(at, record, UseDemand::Positions(count), what);
            }
        }
    }

    /// Pointers to members: their bits are offsets, which casts and copies show.
    fn member_pointers(&mut self) {
        let pieces = self.cursor.pieces;
        let shows = |piece: &Piece<'_>| matches!(piece.text, b"reinterpret_cast" | b"bit_cast" | b"memcpy");
        let is_pointer = |at: usize| text(pieces, at) == b"::" && text(pieces, at + 1) == b"*";
        if !pieces.iter().any(shows) || !(0..pieces.len()).any(is_pointer) {
            return;
        }
        for at in 1..pieces.len().saturating_sub(1) {
            let is_address = text(pieces, at - 1) == b"&" && text(pieces, at + 1) == b"::";
            let record = text(pieces, at);
            if (is_address || is_pointer(at + 1)) && self.world().subjects.contains_key(record) {
                let what = "a pointer to a member may be taken for its bits".to_owned();
                self.report_at(at, record, UseDemand::Whole, what);
            }
        }
    }

    /// `char text[24 - sizeof(T)]`: the size of an array is what is left beside it.
    pub(in crate::meaning) fn arrays_beside(&mut self) {
        let pieces = self.cursor.pieces;
        for at in (0..pieces.len()).filter(|at| text(pieces, *at) == b"[") {
            let end = self.cursor.behind(at);
            let inside = pieces.get(at..end).unwrap_or_default();
            if !inside
                .windows(2)
                .any(|pair| matches!(pair, [sign, size] if sign.text == b"-" && size.text == b"sizeof"))
            {
                continue;
            }
            for record in self.said(at..end) {
                let what = "what its size leaves of a number is the size of an array".to_owned();
                self.report_at(at, record, UseDemand::Size, what);
            }
        }
    }

    fn report_at(&mut self, at: usize, record: &[u8], demand: UseDemand, what: String) {
        self.cursor.at = at + 1;
        self.tell(record, demand, Vec::new(), what);
    }
}

/// `boxed b(object)`: a class template's parameters are told by what it is handed.
fn objects_follow(pieces: &[Piece<'_>], at: usize) -> bool {
    pieces.get(at + 1).is_some_and(|piece| piece.kind == Kind::Word)
        && matches!(text(pieces, at + 2), b"(" | b"{")
}
