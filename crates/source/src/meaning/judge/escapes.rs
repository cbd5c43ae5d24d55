//! Addresses whose types are lost, and pointers that may be such addresses.
//!
//! An address that becomes a `void *` or a number may go ways that aren't followed. It demands nothing as long as
//! nobody takes a pointer of unknown origin for one to numbers.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::judge::callee::{Does, does, gives_back};
use crate::meaning::types::Type;
use crate::meaning::value::{Base, Sum, Value, constant};

/// Deepest first member that is looked at.
const DEEPEST: usize = 16;

impl<'t> Evaluator<'_, '_, 't> {
    /// Addresses of objects that go ways which aren't followed.
    pub(in crate::meaning) fn escape(&mut self, sums: &[Sum<'t>]) {
        if !self.world().is_complete {
            return;
        }
        for sum in sums {
            let (Some(Base::Object(record) | Base::Content(record)), []) = (sum.base, sum.terms.as_slice())
            else {
                continue;
            };
            if self.subject(record).is_some() {
                self.keep(Slot::Escaped(record), &[Sum::object(record)]);
            }
        }
    }

    /// The address of a member that stands in an array of pointers to bytes, or to anything.
    pub(in crate::meaning) fn parts_escape(&mut self, value: &Value<'t>, ty: &Type<'t>) {
        let pointee = self.world().pointee(ty);
        if !self.world().is_complete || !matches!(pointee, Some(Type::Byte | Type::Void)) {
            return;
        }
        for sum in value.sums.iter().filter(|sum| sum.base.is_some()) {
            if let Some((record, _)) = sum.member().filter(|(record, _)| self.subject(record).is_some()) {
                self.keep(Slot::EscapedParts(record), std::slice::from_ref(sum));
            }
        }
    }

    /// Members whose addresses escaped, where a pointer of unknown origin is taken for one to longer numbers.
    fn parts_taken(&mut self, number: &Type<'t>) {
        let mut records: Vec<&'t [u8]> = self.world().subjects.keys().copied().collect();
        records.sort_unstable();
        for record in records {
            for (own, member) in self.kept(Slot::EscapedParts(record)).iter().filter_map(Sum::member) {
                self.inside(own, member, number, true);
            }
        }
    }

    /// A pointer that is given a type which doesn't say what it points to.
    pub(in crate::meaning) fn untyped(&mut self, sums: &[Sum<'t>], target: &Type<'t>) {
        let world = self.world();
        let is_untyped = match world.pointee(target) {
            Some(pointee) => matches!(pointee, Type::Void | Type::Unknown | Type::Pointer(_)),
            None => matches!(target, Type::Number(_, 8)),
        };
        if is_untyped {
            self.escape(sums);
        }
    }

    /// Arguments of a function whose body isn't known.
    pub(in crate::meaning) fn handed_away(&mut self, name: &[u8], arguments: &[Value<'t>]) {
        let is_memory = matches!(does(name), Does::Sets | Does::Moves) || gives_back(name);
        if is_memory || !self.world().is_complete {
            return;
        }
        for argument in arguments.iter().filter(|argument| !argument.is_type && !argument.is_function()) {
            let sums = self.sums_of(argument);
            self.escape(&sums);
            let inner = self.world().pointee(&argument.ty).and_then(|inner| self.world().pointee(&inner));
            if let Some(Type::Record(record)) = inner {
                self.escape(&[Sum::object(record)]);
            }
        }
    }

    /// Objects that templates of the library make or keep: their addresses come back as what isn't known.
    pub(in crate::meaning) fn owned_by_library(&mut self) {
        let world = self.world();
        if !self.is_cpp || !world.is_complete {
            return;
        }
        for at in 0..self.cursor.pieces.len() {
            let word = self.cursor.text(at);
            let is_template = self.cursor.text(at + 1) == b"<" && self.cursor.word(at).is_some();
            let is_own = world.templates.contains(word) || word.ends_with(b"_cast") || word == b"template";
            if !is_template || is_own {
                continue;
            }
            self.cursor.at = at + 1;
            self.cursor.skip_angles();
            for inside in at + 2..self.cursor.at {
                let Some((record, _)) = world.subjects.get_key_value(self.cursor.text(inside)) else {
                    continue;
                };
                let record = *record;
                self.escape(&[Sum::object(record)]);
                self.keep(Slot::Outside, &[Sum::object(record)]);
            }
        }
    }

    /// Whether a record's first member may be read as a number: others' bytes nobody would take for it.
    fn begins_with_number(&self, record: &'t [u8], number: &Type<'t>) -> bool {
        let world = self.world();
        let mut ty = Type::Record(record);
        for _ in 0..DEEPEST {
            ty = match &ty {
                Type::Record(record) => {
                    match world.records.get(record).and_then(|known| known.members.first()) {
                        Some(first) => world.resolve(&first.ty),
                        None => return true,
                    }
                }
                Type::Array(inner, _) => world.resolve(inner),
                _ => break,
            };
        }
        match (&ty, number) {
            (Type::Number(_, own), Type::Number(_, wanted)) => own == wanted || *own == 0 || *wanted == 0,
            (Type::Byte | Type::Pointer(_), _) => false,
            _ => true,
        }
    }

    /// A pointer of unknown origin taken for one to numbers: it may be an address that isn't followed. Gives whether there
    /// is one.
    pub(in crate::meaning) fn taken_from_anywhere(
        &mut self,
        value: &Value<'t>,
        sums: &[Sum<'t>],
        to: &Type<'t>,
        is_cast: bool,
    ) -> bool {
        let world = self.world();
        let is_known = sums.iter().any(|sum| {
            !matches!(sum.base, None | Some(Base::Bytes | Base::Numbers | Base::Sized | Base::Parts))
        });
        if !world.is_complete || is_known || value.is_text || constant(value).is_some() {
            return false;
        }
        let is_given = !self.is_cpp && value.call.is_some() && world.resolve(&value.ty) == Type::Unknown;
        let is_memory = value.call.is_some_and(|name| does(name) == Does::Keeps);
        let pointee = world.pointee(&value.ty);
        let is_bytes = matches!(pointee, Some(Type::Byte));
        let is_open = match (&pointee, world.resolve(&value.ty)) {
            (Some(Type::Void | Type::Unknown | Type::Named(_)), _) => true,
            (None, Type::Unknown) if !self.is_cpp && value.call.is_some() => true,
            (None, Type::Unknown | Type::Number(_, 8) | Type::Named(_)) => is_cast,
            _ => false,
        };
        let number = match to {
            Type::Number(..) if is_open && !is_memory => to.clone(),
            // A pointer that is read out of bytes, or out of what isn't known.
            // A library's macro gives it without saying its type.
            Type::Pointer(inner) if (is_open || is_bytes) && (is_cast || is_given && !is_memory) => {
                world.resolve(inner)
            }
            _ => return false,
        };
        if !matches!(number, Type::Number(..)) {
            return false;
        }
        if is_cast {
            self.parts_taken(&number);
        }
        let escaped = self.escaped_as(&number);
        for record in &escaped {
            self.start(record, &number, false);
        }
        !escaped.is_empty()
    }

    /// Records whose addresses went where they aren't followed, and whose first members may be read as a number.
    pub(in crate::meaning) fn escaped_as(&mut self, number: &Type<'t>) -> Vec<&'t [u8]> {
        let mut escaped: Vec<&'t [u8]> = self.world().subjects.keys().copied().collect();
        escaped.retain(|record| !self.kept(Slot::Escaped(record)).is_empty());
        escaped.retain(|record| self.begins_with_number(record, number));
        escaped.sort_unstable();
        escaped
    }
}
