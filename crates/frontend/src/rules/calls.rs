//! Functions that are handed bytes of an object.

use super::pairs::{self, Evidence};
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::demand::{Demand, Edge};
use crate::records::Part;
use crate::report::{Findings, Found, before, behind};
use crate::sum::{Sum, Term, View};
use crate::tree::Index;

/// A function's effect on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// Sets them to one value.
    Sets,
    /// Copies them to or from another argument.
    Moves,
    /// Reads, writes, compares or hashes them, whatever their number.
    Reads,
    /// Keeps them as an object.
    Keeps,
    Unknown,
}

const SETS: [&str; 5] = ["memset", "bzero", "explicit_bzero", "memzero_explicit", "memset_s"];
const MOVES: [&str; 5] = ["memcpy", "memmove", "mempcpy", "bcopy", "memcpy_s"];
/// Functions of strings, which end by themselves.
const STRINGS: [&str; 8] =
    ["strscpy", "strlcpy", "strncpy", "strlcat", "strncat", "strncmp", "strnlen", "strtomem"];
const READS: [&str; 17] = [
    "write",
    "send",
    "recv",
    "hash",
    "crc",
    "csum",
    "checksum",
    "digest",
    "sha1",
    "sha256",
    "md5",
    "memcmp",
    "bcmp",
    "fread",
    "copy_to_user",
    "copy_from_user",
    "encrypt",
];
/// Verbs of hash tables.
const TABLES: [&str; 9] = ["add", "insert", "find", "lookup", "get", "put", "remove", "del", "init"];
const KEEPS: [&str; 8] = ["alloc", "free", "dup", "sort", "search", "assert", "print", "prefetch"];

fn does(name: &str) -> Does {
    let name = name.trim_start_matches('_').trim_start_matches("builtin_").trim_start_matches('_');
    let name = name.trim_start_matches("underlying_").trim_end_matches("_chk").to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match name.as_str() {
        plain if SETS.contains(&plain) => Does::Sets,
        plain if MOVES.contains(&plain) => Does::Moves,
        "read" | "pread" | "pread64" | "ioctl" => Does::Reads,
        _ if has(&STRINGS) => Does::Keeps,
        // A table is handed keys and values, not bytes.
        _ if name.contains("hash") && has(&TABLES) => Does::Unknown,
        _ if has(&READS) => Does::Reads,
        _ if has(&KEEPS) => Does::Keeps,
        _ => Does::Unknown,
    }
}

/// A call that hands a function bytes of an object.
struct Call<'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    node: Cursor<'u>,
    name: String,
    does: Does,
    arguments: Vec<(Index, Cursor<'u>)>,
}

pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let all: Vec<_> =
        view.tree.values(index).filter_map(|value| Some((value, view.cursor(value)?))).collect();
    let count = usize::try_from(node.argument_count()).unwrap_or(0);
    let arguments: Vec<_> = all.get(all.len().saturating_sub(count)..).unwrap_or_default().to_vec();
    let name = node.name();
    // What `ioctl` is handed keeps its type, as it takes anything.
    let is_open = name == "ioctl";
    let is_bytes = |(_, argument): &(Index, Cursor<'u>)| {
        let pointee = argument.ty().pointee().map(Type::kind);
        matches!(pointee, Some(TypeKind::Void | TypeKind::Byte | TypeKind::Number))
            || is_open && pointee == Some(TypeKind::Record)
    };
    if !arguments.iter().any(is_bytes) {
        return;
    }
    let call = Call { view, node, does: does(&name), name, arguments };
    for (number, (argument, _)) in
        call.arguments.iter().enumerate().filter(|(_, argument)| is_bytes(argument))
    {
        call.handed(number, &view.sum(*argument), found);
    }
}

/// A length that a function is handed.
enum Length<'u> {
    Bytes(u64, Option<Type<'u>>),
    /// Up to a place.
    UpTo(Edge),
    Unknown,
}

impl<'u> Call<'_, '_, 'u> {
    /// A pointer argument: what it points to, and how much of it is meant.
    fn handed(&self, number: usize, sum: &Sum<'u>, found: &mut Findings<'u>) {
        let Some(start) = &sum.start else { return };
        let Some(path) = path(sum) else { return self.inside(start.ty, sum, found) };
        let whole = match path.last() {
            Some(member) => member.ty(),
            None => start.ty,
        };
        // An array's first element is its address.
        let subjects = self.view.records.within(whole);
        if !subjects.is_empty() {
            self.object(number, &subjects, whole, found);
        }
        let (Some(first), Some(member)) = (path.first(), path.last()) else { return };
        if let Some(part) = self.view.records.part(*first) {
            // A pointer of the member's own type is to that member alone.
            let own = self.arguments.get(number).and_then(|(_, argument)| argument.ty().pointee());
            if own.is_none_or(|own| own.kind() == TypeKind::Void || !own.equals(member.ty())) {
                self.member(number, (&part, start.ty), *member, sum, found);
            }
        }
    }

    /// From a byte by its number on.
    fn inside(&self, ty: Type<'u>, sum: &Sum<'u>, found: &mut Findings<'u>) {
        let bytes = sum.terms.iter().map(|term| match term {
            (true, Term::Number(bytes)) => u64::try_from(*bytes).ok(),
            (true, Term::Size(ty, _)) => ty.size(),
            _ => None,
        });
        let bytes = bytes.sum::<Option<u64>>().filter(|bytes| ty.size().is_some_and(|size| *bytes < size));
        if let Some(bytes) = bytes {
            self.prefix(ty, bytes, found);
        }
    }

    /// Arguments that can be the length of the bytes behind a pointer.
    fn lengths(&self, pointer: usize) -> Vec<Length<'u>> {
        let is_last_only = matches!(self.does, Does::Sets | Does::Moves);
        let last = self.arguments.len().saturating_sub(1);
        let numbers = self.arguments.iter().enumerate().filter(|(number, (_, argument))| {
            argument.ty().kind() == TypeKind::Number && (!is_last_only || *number == last)
        });
        let lengths = numbers.map(|(number, (index, argument))| (number, self.length(*index, *argument)));
        // Numbers in front of it are files, flags and first values.
        let is_length = |(number, length): &(usize, Length<'u>)| {
            *number > pointer || matches!(length, Length::Bytes(_, Some(_)) | Length::UpTo(_))
        };
        lengths.filter(is_length).map(|(_, length)| length).collect()
    }

    fn length(&self, index: Index, argument: Cursor<'u>) -> Length<'u> {
        let sum = self.view.sum(index);
        if let Some(member) = sum.offsets(true).next().and_then(|path| path.first().copied())
            && sum.offsets(false).next().is_none()
            && let Some(part) = self.view.records.part(member)
        {
            let is_behind = sum.sizes(true).next().is_some();
            return Length::UpTo(if is_behind { behind(&part) } else { before(&part) });
        }
        if sum.has_offsets() {
            return Length::Unknown;
        }
        if let [(true, Term::Size(ty, _))] = sum.terms.as_slice() {
            return ty.size().map_or(Length::Unknown, |size| Length::Bytes(size, Some(*ty)));
        }
        if let Some(ty) = self.counted(index) {
            return ty.size().map_or(Length::Unknown, |size| Length::Bytes(size, Some(ty)));
        }
        // A number that an unknown function is handed is a length if it is made of sizes.
        if self.does == Does::Unknown && sum.sizes(true).next().is_none() && !self.has_size(index) {
            return Length::Unknown;
        }
        match argument.constant().and_then(|bytes| u64::try_from(bytes).ok()) {
            Some(bytes) => Length::Bytes(bytes, None),
            None => Length::Unknown,
        }
    }

    /// The type whose size a length is, counted in other units than bytes: `sizeof(T) / 4`.
    fn counted(&self, index: Index) -> Option<Type<'u>> {
        let index = self.view.peeled(index);
        let is_divided = self.view.cursor(index)?.binary_operator() == Operator::Divide;
        let left = self.view.tree.values(index).next().filter(|_| is_divided)?;
        match self.view.sum(left).terms.as_slice() {
            [(true, Term::Size(ty, _))] if ty.kind() == TypeKind::Record => Some(*ty),
            _ => None,
        }
    }

    /// Whether a sum of several terms has a size in it.
    fn has_size(&self, index: Index) -> bool {
        self.view.tree.below(index).any(|below| self.view.tree.kind(below) == Kind::SizeOf)
    }

    /// A whole object, from its first byte on.
    fn object(&self, number: usize, subjects: &[usize], ty: Type<'u>, found: &mut Findings<'u>) {
        let lengths = self.lengths(number);
        let up_to = lengths.iter().find_map(|length| match length {
            Length::UpTo(edge) => Some(edge.clone()),
            _ => None,
        });
        if let Some(to) = up_to {
            return self.up_to(subjects, ty, to, found);
        }
        let is_whole = |length: &Length<'u>| {
            matches!(length, Length::Bytes(_, Some(own)) if own.equals(ty))
                || matches!((length, ty.size()), (Length::Bytes(bytes, _), Some(size)) if *bytes == size && size > 16)
        };
        let has_whole = lengths.iter().any(is_whole);
        let prefix = lengths.iter().filter_map(|length| match (length, ty.size()) {
            (Length::Bytes(bytes, whose), Some(size)) if *bytes > 0 && *bytes < size => {
                Some((*bytes, whose.is_some()))
            }
            _ => None,
        });
        let prefix = prefix.filter(|(bytes, is_size)| *is_size || *bytes > 1).map(|(bytes, _)| bytes).max();
        match self.does {
            Does::Keeps => {}
            Does::Sets | Does::Moves if has_whole => self.moved(number, subjects, ty, found),
            Does::Sets | Does::Moves => match prefix.filter(|_| !lengths.iter().any(is_unknown)) {
                Some(bytes) => self.prefix(ty, bytes, found),
                None => self.moved(number, subjects, ty, found),
            },
            Does::Reads if lengths.is_empty() && !self.name.ends_with("ioctl") => {}
            Does::Reads if has_whole || prefix.is_none() => self.leave(subjects, found),
            Does::Unknown if has_whole && self.copies(number, ty) => {}
            Does::Unknown if has_whole => self.leave(subjects, found),
            Does::Reads => self.prefix(ty, prefix.unwrap_or(0), found),
            Does::Unknown => {}
        }
    }

    fn tell(&self, subject: usize, demand: Demand, why: String, found: &mut Findings<'u>) {
        found.push(Found { subject, node: self.node, demand, why });
    }

    fn leave(&self, subjects: &[usize], found: &mut Findings<'u>) {
        for subject in subjects {
            let why = format!("its bytes are handed to {}", self.name);
            self.tell(*subject, Demand::Whole, why, found);
        }
    }

    /// An object up to a member. What is read leaves with the objects inside.
    fn up_to(&self, subjects: &[usize], ty: Type<'u>, to: Edge, found: &mut Findings<'u>) {
        let own = self.view.records.subject(ty);
        if matches!(self.does, Does::Reads | Does::Unknown) {
            let inner: Vec<usize> = subjects.iter().copied().filter(|inner| Some(*inner) != own).collect();
            self.leave(&inner, found);
        }
        if let Some(subject) = own.filter(|_| self.does != Does::Keeps) {
            let why = format!("{} is handed its bytes up to a member", self.name);
            self.tell(subject, Demand::Range { from: Edge::Begin, to }, why, found);
        }
    }

    fn prefix(&self, ty: Type<'u>, bytes: u64, found: &mut Findings<'u>) {
        let Some(subject) = self.view.records.subject(ty) else { return };
        let count = self.view.records.covering(ty, bytes);
        let why = format!("{} is handed its bytes up to or from the {bytes}th on", self.name);
        self.tell(subject, Demand::First { count }, why, found);
    }

    /// Whether an unknown function says that it copies, from or to another object of the same type.
    fn copies(&self, number: usize, ty: Type<'u>) -> bool {
        let is_same = |(index, _): &(Index, Cursor<'u>)| {
            let sum = self.view.sum(*index);
            sum.start.is_some_and(|start| sum.terms.is_empty() && start.ty.equals(ty))
        };
        let mut others = self.arguments.iter().enumerate().filter(|(other, _)| *other != number);
        let says_so = ["copy", "cpy", "move"].iter().any(|word| self.name.contains(word));
        says_so && others.any(|(_, argument)| is_same(argument))
    }

    /// Copied from or to what isn't an object of the same type.
    fn moved(&self, number: usize, subjects: &[usize], ty: Type<'u>, found: &mut Findings<'u>) {
        if self.does != Does::Moves {
            return;
        }
        let others = self.arguments.iter().take(2).enumerate().filter(|(other, _)| *other != number);
        for (_, (other, _)) in others {
            let sum = self.view.sum(*other);
            let (Some(start), Some(path)) = (&sum.start, path(&sum)) else { continue };
            let is_call = start.call.is_some();
            let mut other = path.last().map_or(start.ty, |member| member.ty());
            while let Some(element) = other.element() {
                other = element;
            }
            match other.kind() {
                TypeKind::Record if !other.equals(ty) => {
                    pairs::records(self.view, self.node, (ty, other), Evidence::Certain, found);
                }
                TypeKind::Byte | TypeKind::Number if !is_call => self.leave(subjects, found),
                _ => {}
            }
        }
    }

    /// From a member on.
    fn member(
        &self,
        number: usize,
        (part, holder): (&Part, Type<'u>),
        member: Cursor<'u>,
        sum: &Sum<'u>,
        found: &mut Findings<'u>,
    ) {
        let is_behind = sum.sizes(true).next().is_some();
        let from = if is_behind { behind(part) } else { before(part) };
        let is_open = member.ty().kind() == TypeKind::Array || member.ty().kind() == TypeKind::Byte;
        for length in self.lengths(number) {
            let to = match length {
                Length::UpTo(to) if to != before(part) => to,
                Length::Bytes(bytes, _) if !is_behind && self.is_beyond(member, bytes) => {
                    self.view.records.reached(holder, &part.member, bytes).map_or(Edge::End, Edge::Behind)
                }
                Length::Unknown
                    if !is_open && matches!(self.does, Does::Sets | Does::Moves | Does::Reads) =>
                {
                    if self.view.sum_has_offsets(&self.arguments) { continue } else { Edge::End }
                }
                _ => continue,
            };
            let why = format!("{} is handed the bytes from {} on", self.name, part.member);
            self.tell(part.subject, Demand::Range { from: from.clone(), to }, why, found);
        }
    }

    /// Whether so many bytes don't fit a member.
    fn is_beyond(&self, member: Cursor<'u>, bytes: u64) -> bool {
        member.ty().size().is_some_and(|size| size > 0 && bytes > size && self.does != Does::Keeps)
    }
}

fn is_unknown(length: &Length<'_>) -> bool {
    matches!(length, Length::Unknown)
}

/// The members whose address a sum is; `None` if something unknown is added.
fn path<'u>(sum: &Sum<'u>) -> Option<Vec<Cursor<'u>>> {
    match sum.terms.as_slice() {
        [] => Some(Vec::new()),
        [(true, Term::Offset(path))]
        | [(true, Term::Offset(path)), (true, Term::Size(..) | Term::Number(0))] => Some(path.clone()),
        _ => None,
    }
}

impl<'u> View<'_, '_, 'u> {
    /// Whether any length is counted by offsets, which are judged themselves.
    fn sum_has_offsets(&self, arguments: &[(Index, Cursor<'u>)]) -> bool {
        let numbers = arguments.iter().filter(|(_, argument)| argument.ty().kind() == TypeKind::Number);
        numbers
            .into_iter()
            .any(|(index, _)| self.tree.kind(*index) != Kind::Integer && self.sum(*index).has_offsets())
    }
}
