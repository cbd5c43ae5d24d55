//! Values that are given another type.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::flows::Slot;
use crate::meaning::judge::callee::ANONYMOUS;
use crate::meaning::types::{Function, Type, lossy, spell};
use crate::meaning::value::{Base, Sum, Term, Value, constant};
use crate::uses::UseDemand;

impl<'t> Evaluator<'_, '_, 't> {
    /// A value given another type. `is_cast`: by a cast, else by an assignment or as an argument.
    pub(in crate::meaning) fn convert(
        &mut self,
        value: &Value<'t>,
        ty: &Type<'t>,
        is_cast: bool,
    ) -> Value<'t> {
        let world = self.world();
        let target = world.resolve(ty);
        let called = value.call.filter(|_| is_cast && value.is_function());
        if let Some(function) = called.and_then(|name| world.functions.get(name)) {
            self.cast_function(function, &target);
        }
        let sums = self.sums_of(value);
        if let (Type::Record(wanted), Type::Record(own)) = (&target, world.resolve(&value.ty))
            && is_cast
            && *wanted != own
        {
            // A reference to another type.
            self.records(own, wanted, true);
        }
        self.pointers_to_pointers(value, &target, is_cast);
        self.filled_elsewhere(value, &target);
        self.untyped(&sums, &target);
        let Some(to) = target.element().map(|element| world.resolve(element)) else {
            if target == Type::Byte && world.is_complete {
                self.kept_in_byte(value);
            }
            if matches!(target, Type::Number(b"bool" | b"_Bool", _)) {
                self.offset_is_tested(value);
            }
            // An object that is made of a value without saying so.
            if let Type::Record(class) = target
                && self.is_cpp
                && world.resolve(&value.ty) != target
            {
                self.handed_to_constructor(class, std::slice::from_ref(&sums));
            }
            // Numbers keep what they count.
            return Value {
                ty: if target == Type::Unknown { value.ty.clone() } else { target },
                sums,
                call: value.call,
                is_result: value.is_result,
                is_object: value.is_object,
                ..Value::default()
            };
        };
        if is_cast {
            self.number_as_address(value, &to);
        }
        // What may be what is wanted is taken to be that.
        let is_explained = |sum: &Sum<'t>| matches!((&to, sum.base), (Type::Record(wanted), Some(Base::Object(own))) if *wanted == own && sum.terms.is_empty());
        self.taken_from_outside(value, &sums, &to, is_cast);
        let is_escaped = self.taken_from_anywhere(value, &sums, &to, is_cast);
        let is_pointer = world.resolve(&value.ty).element().is_some();
        let is_kept = value.member.is_some();
        // A member of what isn't known was only guessed by its name: without a cast it has the type it is given to.
        let is_guess = !is_cast && matches!(value.member, Some((b"", _)));
        if !(is_guess || is_kept && sums.iter().any(is_explained)) {
            for sum in &sums {
                self.judge(sum, &to, is_cast);
            }
            if let Type::Record(record) = to {
                self.bytes_as(value, &sums, record, is_cast, is_pointer);
                self.viewed(value, &sums, record, is_cast);
            }
        }
        let keeps = match &to {
            Type::Record(_) => sums.iter().all(|sum| sum.base.is_none()) && sums.len() == 1 && !is_pointer,
            _ => true,
        };
        let entry = value.entry.or_else(|| self.entry_of(&sums, &to, value.is_object));
        let mut sums = if keeps { sums } else { Vec::new() };
        // Until all values were followed, one without an origin may just not have got its own yet.
        if is_escaped && !self.is_quiet {
            sums.push(Sum { base: Some(Base::Escaped), terms: Vec::new() });
        }
        let (call, is_result, is_object) = (value.call, value.is_result, value.is_object);
        Value { ty: target, sums, call, is_result, entry, is_object, ..Value::default() }
    }

    /// A function whose type is cast.
    fn cast_function(&mut self, function: &Function<'t>, target: &Type<'t>) {
        let world = self.world();
        let records = function.parameters.iter().filter_map(|(_, ty)| match world.pointee(ty) {
            Some(Type::Record(record)) => Some(Sum::object(record)),
            _ => None,
        });
        let records: Vec<Sum<'t>> = records.collect();
        // Objects that are handed by value lie in registers and on the stack by their order.
        let own = function.parameters.iter().map(|(_, ty)| ty).chain([&function.returns]);
        for ty in own.filter(|_| *target != Type::Unknown) {
            if let Type::Record(record) = world.resolve(ty) {
                let what = "a function that is handed or returns it is called as another type";
                self.tell_whole(record, what.to_owned());
            }
        }
        self.keep(Slot::Global(b"(cast)"), &records);
    }

    /// An address that comes from where others were put and aren't followed.
    fn taken_from_outside(&mut self, value: &Value<'t>, sums: &[Sum<'t>], to: &Type<'t>, is_cast: bool) {
        let world = self.world();
        let ty = world.resolve(&value.ty);
        let is_open = matches!(&ty, Type::Unknown)
            || matches!(world.pointee(&ty), Some(Type::Void)) && value.name.is_none();
        let is_taken = match to {
            Type::Record(_) => true,
            Type::Number(..) | Type::Pointer(_) => is_cast,
            _ => false,
        };
        if !world.is_complete || !sums.is_empty() || !is_open || !is_taken || value.is_text {
            return;
        }
        let outside: Vec<&'t [u8]> = self
            .kept(Slot::Outside)
            .iter()
            .filter_map(|sum| match sum.base {
                Some(Base::Object(record)) => Some(record),
                _ => None,
            })
            .collect();
        // What may be what is wanted is taken to be that.
        if matches!(to, Type::Record(wanted) if outside.contains(wanted)) {
            return;
        }
        for record in outside {
            self.start(record, to, false);
        }
    }

    /// Bytes or a fixed address taken for an object.
    fn bytes_as(
        &mut self,
        value: &Value<'t>,
        sums: &[Sum<'t>],
        record: &'t [u8],
        is_cast: bool,
        is_pointer: bool,
    ) {
        let pointee = self.world().pointee(&value.ty);
        if is_cast && is_pointer && sums.is_empty() && pointee == Some(Type::Byte) {
            return self.tell_whole(record, "bytes are taken for it by a cast".to_owned());
        }
        if is_cast && matches!(pointee, Some(Type::Pointer(_))) && self.world().is_complete {
            let what = "a pointer to a pointer is taken for one to it".to_owned();
            self.tell(record, UseDemand::Positions(1), Vec::new(), what);
        }
        if is_cast
            && is_pointer
            && let Some(Type::Number(..)) = pointee
            && !sums.iter().any(|sum| sum.base.is_some())
        {
            return self.tell_whole(record, "a pointer to numbers is taken for one to it".to_owned());
        }
        if is_cast && !is_pointer && constant(value).is_some_and(|number| number != 0) {
            self.tell_whole(record, "memory at a fixed address is taken for it".to_owned());
        }
    }

    fn judge(&mut self, sum: &Sum<'t>, to: &Type<'t>, is_cast: bool) {
        self.taken_behind(sum, to);
        match (sum.base, sum.terms.as_slice()) {
            (Some(Base::Object(record)), [])
                if is_cast
                    && *to == Type::Byte
                    && self.subject(record).is_some()
                    && self.world().has_derived(record) =>
            {
                self.tell_whole(record, "it is taken for bytes, and others are derived from it".to_owned());
            }
            (Some(Base::Object(record)), []) => self.start(record, to, is_cast),
            (Some(Base::Object(record)), [(true, Term::Offset(own, member))]) if record == *own => {
                self.inside(record, member, to, is_cast);
            }
            (Some(Base::Object(record)), [(true, Term::Other)])
                if is_cast
                    && self.world().is_complete
                    && matches!(to, Type::Number(..) | Type::Pointer(_)) =>
            {
                let what = "its bytes are read or written at distances that aren't known";
                self.tell_whole(record, what.to_owned());
            }
            (Some(Base::Object(record)), [(true, Term::Stride)]) if *to == Type::Record(record) => {
                let what = "objects are counted by a number of bytes".to_owned();
                self.tell(record, UseDemand::Size, Vec::new(), what);
            }
            // On by sizes that somebody has added up.
            (Some(Base::Object(record)), terms) if is_known_distance(record, terms) => {
                if let Type::Record(wanted) = to {
                    let what = "a number of bytes leads from a member to a struct";
                    self.tell_whole(record, what.to_owned());
                    self.tell_whole(wanted, what.to_owned());
                }
            }
            (Some(Base::Bytes), _) => {
                if let Type::Record(wanted) = to {
                    self.tell_whole(wanted, "bytes are taken for it".to_owned());
                }
            }
            (Some(Base::Parts), _) => {
                if let Type::Record(wanted) = to {
                    let what = "objects are counted by parts of a fixed size".to_owned();
                    self.tell(wanted, UseDemand::Size, Vec::new(), what);
                }
            }
            (Some(Base::Mapped(ANONYMOUS)), _) => self.mapped_as(to),
            // From a member by so many bytes as somebody has added up.
            (Some(Base::Object(record)), terms)
                if *to == Type::Record(record)
                    && sum.has_other()
                    && terms
                        .iter()
                        .any(|(_, term)| matches!(term, Term::Offset(own, _) if *own == record)) =>
            {
                self.tell_whole(record, "a number of bytes leads from a member to a struct".to_owned());
            }
            (Some(Base::Mapped(function)), _) => {
                if let Type::Record(wanted) = to {
                    self.tell_whole(wanted, format!("memory that {} gives is taken for it", lossy(function)));
                }
            }
            _ => {}
        }
    }

    /// The beginning of an object taken for something else.
    pub(in crate::meaning) fn start(&mut self, record: &'t [u8], to: &Type<'t>, is_cast: bool) {
        match to {
            Type::Record(wanted) => self.records(record, wanted, is_cast),
            Type::Number(..) | Type::Pointer(_) => {
                if let Some(first) = self.world().first_record(record) {
                    self.start(first, to, is_cast);
                }
                let Some((_, subject)) = self.subject(record) else { return };
                let size = self.world().size(to).unwrap_or(u64::MAX);
                let covered = subject.members.iter().take_while(|member| member.offset < size);
                let count = covered.count().max(1);
                let what = format!("a pointer to it is taken for a pointer to {}", spell(to));
                self.tell(record, UseDemand::Positions(count), Vec::new(), what);
            }
            Type::Named(name) if is_cast => {
                let what = format!("a pointer to it is cast to {}, which is declared elsewhere", lossy(name));
                self.tell_whole(record, what);
            }
            Type::Array(inner, _) => self.start(record, &self.world().resolve(inner), is_cast),
            _ => {}
        }
    }

    pub(in crate::meaning) fn records(&mut self, record: &'t [u8], wanted: &'t [u8], is_cast: bool) {
        if record == wanted {
            return;
        }
        self.alternatives(record, wanted);
        self.alternatives(wanted, record);
        let world = self.world();
        let what =
            || format!("a pointer to struct {} is taken for one to struct {}", lossy(record), lossy(wanted));
        let has_base = |name: &[u8]| world.records.get(name).is_some_and(|known| known.has_base);
        if has_base(record) || has_base(wanted) {
            return;
        }
        if world.begins_with(record, wanted) {
            self.begun_as_part(record, wanted);
            return self.tell(record, UseDemand::First, Vec::new(), what());
        }
        if world.begins_with(wanted, record) {
            self.longer_kind(record, wanted);
            return self.tell(wanted, UseDemand::First, Vec::new(), what());
        }
        self.longer_kind(record, wanted);
        match world.common_prefix(record, wanted) {
            Some(0) if !is_cast => {}
            Some(0) => {
                self.tell_whole(record, what());
                self.tell_whole(wanted, what());
            }
            Some(count) => {
                for name in [record, wanted] {
                    self.tell(name, UseDemand::Positions(count), Vec::new(), what());
                }
            }
            // A type that nobody defines is a handle.
            None if self.is_handle(record) || self.is_handle(wanted) => {}
            None => {
                self.tell_whole(record, what());
                self.tell_whole(wanted, what());
            }
        }
    }

    fn is_handle(&self, record: &[u8]) -> bool {
        let world = self.world();
        world.is_complete && !world.records.contains_key(record) && world.declared.contains(record)
    }

    /// A member taken for something else.
    pub(in crate::meaning) fn inside(
        &mut self,
        record: &'t [u8],
        member: &'t [u8],
        to: &Type<'t>,
        is_cast: bool,
    ) {
        if self.subject(record).is_none() && !matches!(to, Type::Record(_)) {
            return;
        }
        let world = self.world();
        let own = world.member(record, member).map(|ty| world.resolve(&ty)).unwrap_or_default();
        let mut element = own.clone();
        while let Type::Array(inner, _) = &element {
            element = world.resolve(inner);
        }
        let size = self.subject(record).and_then(|(_, subject)| Some(subject.member(member)?.size));
        match (&element, to) {
            (_, Type::Byte | Type::Void | Type::Unknown | Type::Function(_)) | (Type::Unknown, _) => {}
            (Type::Record(inner), Type::Record(wanted))
                if inner != wanted && !matches!(own, Type::Array(..)) && world.begins_with(wanted, inner) =>
            {
                let what =
                    format!("{} is taken for the beginning of a struct {}", lossy(member), lossy(wanted));
                self.tell_from(record, member, what);
            }
            (Type::Record(inner), Type::Record(wanted))
                if inner != wanted && !matches!(own, Type::Array(..)) && self.is_longer(inner, wanted) =>
            {
                let what = format!("{} is taken for a longer struct {}", lossy(member), lossy(wanted));
                self.tell_from(record, member, what);
            }
            (Type::Record(inner), Type::Record(wanted))
                if inner == wanted && !matches!(own, Type::Array(..)) =>
            {
                self.handed_as_part(record, member, inner);
            }
            // A tail of bytes holds what its users put there.
            (Type::Byte, Type::Record(wanted)) if is_cast && matches!(own, Type::Array(..)) => {
                self.tell_whole(wanted, format!("bytes of {} are taken for it", lossy(member)));
            }
            (_, Type::Record(_)) if is_cast && !matches!(element, Type::Record(_) | Type::Byte) => {
                let what = format!("{} is taken for the beginning of a struct", lossy(member));
                self.tell_from(record, member, what);
                if let (Type::Record(wanted), true) = (to, matches!(own, Type::Array(..))) {
                    self.tell_whole(wanted, format!("numbers of {} are taken for it", lossy(member)));
                }
            }
            (_, Type::Named(_)) if is_cast && element != *to => {
                let what = format!("{} is taken for a type that is declared elsewhere", lossy(member));
                self.tell_from(record, member, what);
            }
            (_, Type::Array(inner, _))
                if !matches!(own, Type::Array(..)) && !matches!(world.resolve(inner), Type::Byte) =>
            {
                self.walk(record, member);
            }
            (_, Type::Number(_, wide)) if size.is_some_and(|size| u64::from(*wide) > size && size > 0) => {
                let what = format!("more bytes than those of {} are read or written there", lossy(member));
                self.tell_from(record, member, what);
            }
            _ => {}
        }
    }
}

/// Whether terms are a distance from an object of a record that no compiler changes with its order.
fn is_known_distance(record: &[u8], terms: &[(bool, Term<'_>)]) -> bool {
    let is_known = |(sign, term): &(bool, Term<'_>)| match term {
        Term::Other | Term::Stride => false,
        Term::Offset(..) | Term::Size(_) => *sign,
        Term::MemberSize(..) | Term::Number(_) | Term::Distance(_) => true,
    };
    match terms {
        [(true, Term::Number(_))] => true,
        [(true, Term::Size(other) | Term::MemberSize(other, _))] => *other != record,
        [] | [_] => false,
        _ => terms.iter().all(is_known),
    }
}
