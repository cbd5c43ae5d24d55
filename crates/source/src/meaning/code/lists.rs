//! Lists of values in braces, against the type that they are for.

use crate::body::attribute::is_shouted;
use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::judge::callee::Does;
use crate::meaning::stream::Kind;
use crate::meaning::types::{Member, Record, Type, World, innermost, lossy};
use crate::meaning::value::{Base, Sum, Term, Value};
use crate::uses::UseDemand;

/// The values that a list has given so far.
#[derive(Default)]
struct Progress<'t> {
    /// The number of the next member.
    next: usize,
    /// Values without names in front of the first with one.
    count: usize,
    /// Of those, calls of macros that nobody defines.
    macros: usize,
    is_named: bool,
    /// Whether values of a member without braces have come: those behind them belong to other members.
    is_elided: bool,
    /// Members that values without names follow, and those that get them.
    behind: Vec<&'t [u8]>,
    last: Option<&'t [u8]>,
    /// Members whose values change something while they are computed.
    computed: Vec<&'t [u8]>,
    addresses: Vec<&'t [u8]>,
    /// Addresses of members, and lengths beside them.
    parts: Vec<Sum<'t>>,
    lengths: Vec<Sum<'t>>,
    sizes: Vec<&'t [u8]>,
    /// All values.
    values: Vec<Vec<Sum<'t>>>,
}

impl<'t> Evaluator<'_, '_, 't> {
    /// The list at the brace here. The place is behind it afterwards.
    pub(in crate::meaning) fn list(&mut self, ty: &Type<'t>) {
        let end = self.cursor.behind(self.cursor.at);
        self.steps += 1;
        if self.cursor.depth >= 60 {
            self.cursor.at = end;
            return;
        }
        self.cursor.depth += 1;
        let open = self.cursor.at;
        self.cursor.at += 1;
        let close = end.saturating_sub(1);
        match self.world().resolve(ty) {
            Type::Record(record) => self.record_list(record, open, close),
            Type::Array(inner, _) => self.array_list(&inner, close),
            Type::Named(name) => self.other_list(close, name, !self.has_templates),
            _ => self.other_list(close, b"", false),
        }
        self.cursor.at = end;
        self.cursor.depth -= 1;
    }

    /// Goes on behind the next comma.
    fn next_value(&mut self, start: usize, close: usize) {
        while self.cursor.at < close && !self.cursor.is(b",") {
            self.cursor.at = match self.cursor.here() {
                b"(" | b"[" | b"{" => self.cursor.behind(self.cursor.at),
                _ => self.cursor.at + 1,
            };
        }
        self.cursor.at = (self.cursor.at + 1).max(start + 1);
    }

    /// A list of a type that isn't known, or of which only its name is.
    fn other_list(&mut self, close: usize, name: &'t [u8], has_name: bool) {
        let (mut values, mut is_named, mut is_pack) = (Vec::new(), false, false);
        while self.cursor.at < close {
            let start = self.cursor.at;
            is_named |= self.designators(&Type::Unknown).is_some();
            let value = match self.cursor.is(b"{") {
                true => {
                    self.list(&Type::Unknown);
                    Value::default()
                }
                false => self.assignment(),
            };
            let given = self.sums_of(&value);
            self.lost(&given);
            self.kept_as_arguments(&Type::Named(name), &given);
            is_pack |= self.cursor.is(b"...");
            values.push(value);
            self.next_value(start, close);
        }
        self.deleter(name, &values);
        self.side_by_side(&values);
        self.any_pointers(&values);
        if self.is_cpp && !is_named {
            if !has_name {
                self.any_aggregate(&values, is_pack);
            }
            self.judge_call(b"a constructor", &values);
        }
    }

    /// Values by position for any struct that they fit.
    fn any_aggregate(&mut self, values: &[Value<'t>], is_pack: bool) {
        let is_nothing = values.iter().all(|value| value.sums.iter().any(|sum| *sum == Sum::default()));
        if is_nothing {
            return;
        }
        let world = self.world();
        let mut records: Vec<&'t [u8]> = world.subjects.keys().copied().collect();
        records.sort_unstable();
        for record in records {
            let Some(known) = world.records.get(record) else { continue };
            let is_aggregate = !known.has_base && !known.has_constructor;
            let fits = values.len() <= known.members.len()
                && values
                    .iter()
                    .zip(&known.members)
                    .all(|(value, member)| may_be(world, &value.ty, &member.ty));
            if is_aggregate && fits {
                let count = if is_pack { known.members.len() } else { values.len() };
                let what = format!("a list gives {count} values by position to a type that isn't known");
                self.tell(record, UseDemand::Positions(count), Vec::new(), what);
            }
        }
    }

    /// Addresses of members in a list for any struct of so many pointers to bytes: it may keep them.
    fn any_pointers(&mut self, values: &[Value<'t>]) {
        let world = self.world();
        let all: Vec<Vec<Sum<'t>>> = values.iter().map(|value| self.sums_of(value)).collect();
        let is_part = |sum: &Sum<'t>| sum.base.is_some() && sum.member().is_some();
        if !world.is_complete || all.len() < 2 || !all.iter().all(|sums| sums.iter().any(is_part)) {
            return;
        }
        let is_open =
            |member: &Member<'t>| matches!(world.pointee(&member.ty), Some(Type::Void | Type::Byte));
        let fits =
            |record: &Record<'t>| record.members.len() == all.len() && record.members.iter().all(is_open);
        let tables = [&world.records.own, &*world.records.shared];
        let records = tables.into_iter().flatten().filter(|(_, record)| fits(record));
        let mut holders: Vec<(&'t [u8], Vec<&'t [u8]>)> = records
            .map(|(name, record)| (*name, record.members.iter().map(|member| member.name).collect()))
            .collect();
        holders.sort_unstable();
        holders.dedup();
        for (holder, members) in holders {
            for (member, sums) in members.into_iter().zip(&all) {
                self.keep_member(holder, member, sums);
            }
        }
    }

    /// Skips `.a.b[3] =`; gives the member or element that is named.
    fn designators(&mut self, ty: &Type<'t>) -> Option<(Option<&'t [u8]>, Type<'t>)> {
        let world = self.world();
        let mut ty = world.resolve(ty);
        let mut first = None;
        let start = self.cursor.at;
        loop {
            if self.cursor.is(b".") && self.cursor.word(self.cursor.at + 1).is_some() {
                let name = self.cursor.text(self.cursor.at + 1);
                first = first.or(Some(name));
                ty = match ty {
                    Type::Record(record) => world.member(record, name).unwrap_or_default(),
                    _ => Type::Unknown,
                };
                if ty == Type::Unknown {
                    ty = world.holders.get(name).cloned().unwrap_or_default();
                }
                ty = world.resolve(&ty);
                self.cursor.at += 2;
            } else if self.cursor.is(b"[") {
                let end = self.cursor.behind(self.cursor.at);
                self.cursor.at += 1;
                let index = self.expression();
                self.offset_is_number(&index, "an index");
                self.cursor.at = end;
                ty = ty.element().map(|inner| world.resolve(inner)).unwrap_or_default();
            } else {
                break;
            }
        }
        if self.cursor.at > start {
            self.cursor.eat(b"=");
            return Some((first, ty));
        }
        if self.cursor.word(start).is_some()
            && self.cursor.text(start + 1) == b":"
            && self.cursor.text(start + 2) != b":"
        {
            let name = self.cursor.text(start);
            let ty = match ty {
                Type::Record(record) => world.member(record, name).unwrap_or_default(),
                _ => Type::Unknown,
            };
            self.cursor.at += 2;
            return Some((Some(name), ty));
        }
        None
    }

    fn array_list(&mut self, inner: &Type<'t>, close: usize) {
        let mut loose: Vec<(usize, bool)> = Vec::new();
        let mut values = Vec::new();
        while self.cursor.at < close {
            let start = self.cursor.at;
            let named = self.designators(&Type::Array(std::sync::Arc::new(inner.clone()), None));
            let ty = named.map_or_else(|| inner.clone(), |(_, ty)| ty);
            match self.cursor.is(b"{") {
                true => self.list(&ty),
                false => {
                    let is_macro = self.is_macro();
                    let value = self.assignment();
                    let is_whole = !self.holds_records(&ty) || self.is_whole(&value, &ty);
                    if self.holds_records(&ty) && self.is_left_over(start) {
                        loose.push((start, false));
                    } else if !is_whole {
                        loose.push((start, is_macro));
                        self.place_unknown(&value);
                    }
                    self.convert(&value, &ty, false);
                    self.parts_escape(&value, &ty);
                    values.push(value);
                }
            }
            self.next_value(start, close);
        }
        self.side_by_side(&values);
        let is_nothing = loose.len() == 1
            && loose
                .iter()
                .all(|(at, _)| fits_any_first(self.cursor.pieces.get(*at).map_or(b"", |piece| piece.text)));
        if loose.iter().any(|(_, is_macro)| !is_macro) && !is_nothing {
            self.elided(inner);
        }
    }

    /// Whether values of a type can be written without braces of their own.
    fn holds_records(&self, ty: &Type<'t>) -> bool {
        matches!(innermost(self.world(), ty), Type::Record(_))
    }

    fn is_whole(&self, value: &Value<'t>, ty: &Type<'t>) -> bool {
        let world = self.world();
        let wanted = innermost(world, ty);
        world.resolve(&value.ty) == wanted || value.ty == Type::Unknown && value.call.is_some()
    }

    /// Values without braces of their own: of all records inside nothing moves.
    fn elided(&mut self, ty: &Type<'t>) {
        let mut left = vec![innermost(self.world(), ty)];
        let mut seen: Vec<&[u8]> = Vec::new();
        while let Some(Type::Record(record)) = left.pop() {
            if seen.contains(&record) || seen.len() > 100 {
                continue;
            }
            seen.push(record);
            self.tell_whole(record, "an initialiser gives its values without braces of their own".to_owned());
            let members = self.world().records.get(record).map(|known| &known.members);
            for member in members.into_iter().flatten() {
                let ty = innermost(self.world(), &member.ty);
                if matches!(ty, Type::Record(_)) {
                    left.push(ty);
                }
            }
        }
    }

    /// Whether a macro of the program stands here that wasn't replaced: it calls itself in roundabout ways.
    fn is_left_over(&self, at: usize) -> bool {
        let Some(word) = self.cursor.word(at) else { return false };
        let macros = &self.world().macros;
        word == b"__VA_OPT__"
            || self.local(word).is_none()
                && macros
                    .all
                    .iter()
                    .any(|known| known.definition.name == word && known.definition.parameters.is_some())
    }

    /// An address in a list whose values aren't told apart by braces: the place it is for isn't known.
    fn place_unknown(&mut self, value: &Value<'t>) {
        if self.is_typed(&value.ty) || self.world().resolve(&value.ty).element().is_some() {
            for sum in self.sums_of(value) {
                if let (Some(Base::Object(record)), []) = (sum.base, sum.terms.as_slice()) {
                    let what = "its address stands in a list without braces of its own".to_owned();
                    self.tell_whole(record, what);
                }
            }
        }
    }

    /// Whether a macro that nobody defines stands here: it may name members.
    pub(in crate::meaning) fn is_macro(&self) -> bool {
        let piece = self.cursor.pieces.get(self.cursor.at);
        piece.is_some_and(|piece| piece.kind == Kind::Word && piece.text != b"NULL" && is_shouted(piece.text))
            && self.local(self.cursor.here()).is_none()
            && self.known.get(Slot::Global(self.cursor.here())).is_none()
            && !self.world().globals.contains_key(self.cursor.here())
    }

    fn record_list(&mut self, record: &'t [u8], open: usize, close: usize) {
        let mut progress = Progress::default();
        while self.cursor.at < close {
            let start = self.cursor.at;
            self.record_value(record, &mut progress);
            self.next_value(start, close);
        }
        self.cursor.at = close.max(open + 1);
        let is_nothing = progress.count == 1
            && !progress.is_named
            && self
                .cursor
                .pieces
                .get(open + 1..close)
                .unwrap_or_default()
                .iter()
                .all(|piece| fits_any_first(piece.text));
        let may_be_names = progress.macros > 0
            && (progress.is_named || progress.macros == progress.count && progress.count == 1);
        if progress.count > 0 && !is_nothing && !may_be_names {
            let what = format!("an initialiser gives {} values by position", progress.count);
            self.tell(record, UseDemand::Positions(progress.count), Vec::new(), what);
        }
        if !progress.behind.is_empty() {
            let what = "an initialiser gives a value to what follows a named member".to_owned();
            self.tell_pins(record, &progress.behind, what);
        }
        // They are computed in the members' order, whatever that of the list.
        if progress.computed.len() > 1 {
            let what =
                "an initialiser computes values that change something, in the members' order".to_owned();
            self.tell_pins(record, &progress.computed, what);
        }
        for part in &progress.parts {
            let Some(Base::Object(object)) = part.base else { continue };
            for length in &progress.lengths {
                self.bytes(record, Does::Reads, (object, part), length, None);
            }
        }
        self.stand_together(&progress.values);
        for object in progress.addresses.iter().filter(|object| progress.sizes.contains(object)) {
            let what = format!("its address and its size are given to a struct {}", lossy(record));
            self.tell_whole(object, what);
        }
    }

    fn record_value(&mut self, record: &'t [u8], progress: &mut Progress<'t>) {
        let world = self.world();
        let members = world.records.get(record).map(|known| known.members.as_slice()).unwrap_or_default();
        let named = self.designators(&Type::Record(record));
        let is_designated = named.is_some();
        let is_macro = !is_designated && self.is_macro();
        let (name, ty) = match named {
            Some((Some(name), ty)) => (Some(name), ty),
            _ => {
                let member = members.get(progress.next);
                (member.map(|member| member.name), member.map(|member| member.ty.clone()).unwrap_or_default())
            }
        };
        if let Some(name) = name.filter(|_| is_designated) {
            progress.next = members.iter().position(|member| member.name == name).unwrap_or(progress.next);
            progress.is_named = true;
        } else if progress.is_named {
            if !is_macro {
                progress.behind.extend(progress.last.into_iter().chain(name));
            }
        } else {
            progress.count += 1;
            progress.macros += usize::from(is_macro);
        }
        progress.last = name;
        progress.next += 1;
        if self.cursor.is(b"{") {
            return self.list(&ty);
        }
        let effects = self.effects;
        let value = self.assignment();
        if self.holds_records(&ty)
            && !is_macro
            && !self.is_whole(&value, &ty)
            && !value
                .sums
                .iter()
                .all(|sum| sum.base.is_none() && sum.terms.is_empty() && !value.sums.is_empty())
        {
            self.elided(&ty);
            self.elided(&Type::Record(record));
            progress.is_elided = true;
        }
        if progress.is_elided {
            self.place_unknown(&value);
        }
        let sums = self.sums_of(&value);
        if self.is_cpp && world.records.get(record).is_some_and(|known| known.has_constructor) {
            self.keep(Slot::Method(record, progress.next - 1), &sums);
        }
        let is_typed = self.is_typed(&ty);
        for sum in &sums {
            match sum.base {
                Some(Base::Object(_)) if !is_typed && sum.member().is_some() => {
                    progress.parts.push(sum.clone())
                }
                None if sum.is_telling() || record == b"iovec" => progress.lengths.push(sum.clone()),
                _ => {}
            }
            match (sum.base, sum.terms.as_slice()) {
                (Some(Base::Object(object)), []) if !is_typed => progress.addresses.push(object),
                (None, [(true, Term::Size(object))]) => progress.sizes.push(object),
                _ => {}
            }
        }
        if self.effects > effects {
            progress.computed.extend(name);
        }
        self.convert(&value, &ty, false);
        if let Some(bits) = name.and_then(|name| self.bits_of(record, name)) {
            self.kept_in_bits(&value, bits);
        }
        if let Some(name) = name.filter(|_| !is_typed) {
            self.keep_member(record, name, &sums);
        }
        self.kept_by_library(record, &sums);
        progress.values.push(sums);
    }
}

/// Whether a value of a type may be one of another.
fn may_be<'t>(world: &World<'t>, value: &Type<'t>, wanted: &Type<'t>) -> bool {
    let (value, wanted) = (world.resolve(value), world.resolve(wanted));
    match (&value, &wanted) {
        (Type::Record(own), Type::Record(other)) => own == other,
        (Type::Number(..) | Type::Byte, Type::Pointer(_) | Type::Array(..) | Type::Record(_)) => false,
        (Type::Pointer(_) | Type::Array(..), Type::Number(..) | Type::Byte | Type::Record(_)) => false,
        (Type::Record(_), Type::Number(..) | Type::Byte | Type::Pointer(_)) => false,
        _ => true,
    }
}

/// Whether a piece of what clears an object may stand there whatever member is the first: compilers warn of `{NULL}`
/// for a number, and of braces around one.
fn fits_any_first(text: &[u8]) -> bool {
    is_zero(text) && !matches!(text, b"{" | b"}" | b"NULL" | b"nullptr")
}

pub(in crate::meaning) fn is_zero(text: &[u8]) -> bool {
    match text {
        b"{" | b"}" | b"," | b"NULL" | b"false" | b"nullptr" => true,
        _ => {
            !text.is_empty()
                && text.first() == Some(&b'0')
                && text
                    .iter()
                    .all(|byte| matches!(byte, b'0' | b'x' | b'U' | b'L' | b'u' | b'l' | b'.' | b'f'))
        }
    }
}
