//! Numbers of bytes from an address on.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::judge::callee::{ANONYMOUS, Does};
use crate::meaning::types::{TargetStruct, Type, World, lossy};
use crate::meaning::value::{Base, Sum, Term, Value, constant};
use crate::uses::UseDemand;

impl<'t> Evaluator<'_, '_, 't> {
    /// An address that a function is handed, with the lengths beside it.
    pub(in crate::meaning) fn handed(
        &mut self,
        name: &'t [u8],
        does: Does,
        sum: &Sum<'t>,
        (number, arguments, all): (usize, &[Value<'t>], &[Vec<Sum<'t>>]),
    ) {
        self.taken_behind(sum, &Type::Void.pointer());
        if sum.base == Some(Base::Mapped(ANONYMOUS)) && !matches!(does, Does::Sets | Does::Keeps) {
            self.mapped_otherwise();
        }
        let Some(Base::Object(record)) = sum.base else { return };
        if self.subject(record).is_none() {
            return self.handed_with_base(name, does, record, (number, arguments, all));
        }
        if sum.subtracts() || self.is_copied_block(does, sum, (number, arguments, all)) {
            return;
        }
        // An address is printed, whatever numbers stand beside it.
        let is_text = self.handed_as_text(name, (record, sum), (number, arguments));
        if lossy(name).contains("printf") && !is_text {
            return;
        }
        // What nobody defines and is spelled as macros are may be handed anything.
        let is_macro = crate::body::attribute::is_shouted(name);
        let is_number = |at: usize| {
            at != number
                && arguments.get(at).is_some_and(|argument| {
                    let ty = self.world().resolve(&argument.ty);
                    ty.element().is_none() && !argument.is_type && !(is_macro && ty == Type::Unknown)
                })
        };
        let is_length = |sum: &Sum<'t>| sum.base.is_none() && sum.is_telling();
        let mut lengths: Vec<Sum<'t>> = Vec::new();
        for (at, sums) in all.iter().enumerate().filter(|(at, _)| is_number(*at)) {
            let is_last = at + 1 == all.len() && at > 0 && matches!(does, Does::Sets | Does::Moves);
            let telling = sums.iter().filter(|sum| is_length(sum) || is_last).cloned();
            lengths.extend(telling);
            if is_last && sums.is_empty() {
                lengths.push(Sum::term(Term::Other));
            }
        }
        let other = match number {
            0 => Some(1),
            1 => Some(0),
            _ => None,
        };
        let other = other.and_then(|at| Some((arguments.get(at)?, all.get(at)?)));
        let has_number = (0..all.len()).any(is_number);
        // Behind a class that others are derived from there is more to read.
        let is_read = does == Does::Reads || self.world().has_derived(record);
        if lengths.is_empty() && is_read && has_number {
            let bytes = all.iter().enumerate().filter(|(at, _)| is_number(*at)).find_map(|(_, sums)| {
                sums.iter().find(|sum| matches!(sum.terms.as_slice(), [(true, Term::Number(_))]))
            });
            match bytes.filter(|_| name != b"ioctl") {
                Some(bytes) => lengths.push(bytes.clone()),
                None => lengths.push(Sum::term(Term::Other)),
            }
        }
        let addresses = all.get(number).map(Vec::as_slice).unwrap_or_default();
        for length in self.of_own_row(sum, addresses, lengths) {
            self.bytes(name, does, (record, sum), &length, other);
        }
    }

    /// An object whose bytes are handed on, with those of what it is derived from.
    fn handed_with_base(
        &mut self,
        name: &[u8],
        does: Does,
        record: &'t [u8],
        (number, arguments, all): (usize, &[Value<'t>], &[Vec<Sum<'t>>]),
    ) {
        let world = self.world();
        let is_own = |value: &Value<'t>| world.pointee(&value.ty) == Some(Type::Record(record));
        let others = arguments.iter().enumerate().filter(|(at, _)| *at != number);
        let is_copy = does == Does::Moves && others.map(|(_, value)| value).any(is_own);
        let is_size = |sum: &Sum<'t>| sum.terms.contains(&(true, Term::Size(record)));
        if is_copy || matches!(does, Does::Sets | Does::Keeps) || !all.iter().flatten().any(is_size) {
            return;
        }
        let members = world.records.get(record).map(|known| known.members.as_slice()).unwrap_or_default();
        for member in members.iter().filter(|member| member.name.is_empty()) {
            if let Type::Record(base) = world.resolve(&member.ty) {
                let what = format!("{} is handed the bytes of a struct {}", lossy(name), lossy(record));
                self.tell_whole(base, what);
            }
        }
    }

    /// A copy of a block, whatever its size, into memory that nothing else is known of: an object like it.
    fn is_copied_block(
        &mut self,
        does: Does,
        sum: &Sum<'t>,
        (number, arguments, all): (usize, &[Value<'t>], &[Vec<Sum<'t>>]),
    ) -> bool {
        let (true, 1, [to, _, _], [known, _, length]) =
            (does == Does::Moves && sum.terms.is_empty(), number, arguments, all)
        else {
            return false;
        };
        let is_same = |other: &Sum<'t>| other == sum;
        let is_void = self.world().pointee(&to.ty) == Some(Type::Void);
        let is_vague =
            length.iter().all(|length| length.base.is_none() && !length.is_telling() && length.has_other());
        let Some(name) = to.name.filter(|_| is_void && is_vague && known.iter().all(is_same)) else {
            return false;
        };
        if self.local(name).is_none_or(|local| local.parameter.is_some()) {
            return false;
        }
        // Where the copy goes the object goes.
        self.assign(name, std::slice::from_ref(sum));
        true
    }

    /// An argument of a function of texts; whether it is a pointer to characters.
    fn handed_as_text(
        &mut self,
        name: &[u8],
        (record, sum): (&'t [u8], &Sum<'t>),
        (number, arguments): (usize, &[Value<'t>]),
    ) -> bool {
        let text = lossy(name);
        let is_string = text.starts_with("str")
            || text.contains("puts")
            || text.contains("scanf")
            || text.contains("printf");
        let pointee = arguments.get(number).and_then(|argument| self.world().pointee(&argument.ty));
        // Functions of strings take whatever they are handed for one.
        let is_bytes = pointee == Some(Type::Byte) || pointee == Some(Type::Void) && text.starts_with("str");
        if is_string && is_bytes && sum.terms.is_empty() {
            let what = format!("{text} is handed its address as that of a text");
            let changes = ["cpy", "cat", "sprintf", "scanf", "gets"].iter().any(|verb| text.contains(verb));
            match changes && number == 0 {
                true => self.tell_whole(record, what),
                false => {
                    let count = self.members_in_front(record, arguments);
                    self.tell(record, UseDemand::Positions(count), Vec::new(), what);
                }
            }
        }
        // Those that are told a length write no more.
        let is_bounded = ["ncpy", "lcpy", "scpy", "snprintf"].iter().any(|verb| text.contains(verb));
        if is_string
            && is_bytes
            && number == 0
            && !is_bounded
            && let Some((own, member)) = sum.member()
            && own == record
            && !self.is_array(record, member)
        {
            self.tell_from(record, member, format!("{text} is handed {} as a text", lossy(member)));
        }
        is_bytes
    }

    /// The members that a number of bytes beside an address reaches; the first one, if none says more.
    fn members_in_front(&self, record: &[u8], arguments: &[Value<'t>]) -> usize {
        let bytes = arguments.iter().filter(|argument| !argument.is_type).filter_map(constant).max();
        let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
        let reached = |(_, subject): (usize, &TargetStruct)| {
            subject.members.iter().filter(|member| member.offset < bytes).count()
        };
        self.subject(record).map_or(0, reached).max(1)
    }

    /// So many bytes from an address on.
    pub(in crate::meaning) fn bytes(
        &mut self,
        name: &[u8],
        does: Does,
        (record, sum): (&'t [u8], &Sum<'t>),
        length: &Sum<'t>,
        other: Option<(&Value<'t>, &Vec<Sum<'t>>)>,
    ) {
        let Some((_, subject)) = self.subject(record) else { return };
        let world = self.world();
        let name = lossy(name);
        let handed = || format!("{name} is handed its bytes");
        let start = sum.number(subject);
        let member = sum.member().filter(|(own, _)| *own == record).map(|(_, member)| member);
        let own_size = member.and_then(|member| subject.member(member)).map(|member| member.size);
        if let Some(member) = member {
            let ty = world.member(record, member).map(|ty| world.resolve(&ty)).unwrap_or_default();
            let is_own = match length.terms.as_slice() {
                [(true, Term::MemberSize(owner, size_of))] => {
                    *owner == record && *size_of == member
                        || self.has_same_type(record, member, owner, size_of)
                }
                [(true, Term::Size(owner))] => is_made_of(world, &ty, owner),
                [(true, Term::Number(number))] => own_size.is_some_and(|size| {
                    size == 0 || u64::try_from(*number).is_ok_and(|number| number <= size)
                }),
                [] => true,
                _ => false,
            };
            let is_array = matches!(ty, Type::Array(..));
            if is_own {
                return;
            }
            if is_array && length.has_other() {
                return self.beyond(record, member, handed());
            }
        }
        let inner = sum.offsets().map(|(_, _, member)| member).next();
        if let Some(inner) = inner.filter(|_| sum.offsets().count() == 1 && sum.has_other())
            && length.terms.contains(&(true, Term::MemberSize(record, inner)))
        {
            return;
        }
        let whole = matches!(length.terms.as_slice(), [(true, Term::Size(owner))] if *owner == record);
        if whole && sum.terms.is_empty() {
            return self.whole(does, record, other, handed());
        }
        // A struct that it begins with.
        if let ([], [(true, Term::Size(owner))]) = (sum.terms.as_slice(), length.terms.as_slice())
            && *owner != record
            && self.subject(owner).is_none()
        {
            if world.begins_with(owner, record) {
                return;
            }
            let count =
                if world.begins_with(record, owner) { Some(1) } else { world.common_prefix(record, owner) };
            return match count {
                Some(count) if count > 0 => {
                    self.tell(record, UseDemand::Positions(count), Vec::new(), handed())
                }
                _ => self.tell_whole(record, handed()),
            };
        }
        match (start, length.number(subject)) {
            (Some(start), Some(bytes)) => {
                let end = start.saturating_add(bytes);
                let is_all = start == 0 && u64::try_from(end).is_ok_and(|end| end >= subject.size);
                match is_all {
                    true => self.whole(does, record, other, handed()),
                    false => {
                        let is_number = |(_, term): &(bool, Term<'t>)| matches!(term, Term::Number(_));
                        let is_literal = length.terms.iter().all(is_number) && member.is_none();
                        self.part(does, (record, sum), start..end, other, (&name, is_literal));
                    }
                }
            }
            _ => self.vague(does, (record, sum), length, member, handed()),
        }
    }

    /// A part of an object's bytes.
    pub(in crate::meaning) fn part(
        &mut self,
        does: Does,
        (record, sum): (&'t [u8], &Sum<'t>),
        bytes: std::ops::Range<i64>,
        other: Option<(&Value<'t>, &Vec<Sum<'t>>)>,
        (name, is_literal): (&str, bool),
    ) {
        let is_twin = |twin: &Sum<'t>| twin.base == sum.base && twin.terms == sum.terms;
        let is_ordered = match does {
            Does::Sets | Does::Keeps => false,
            Does::Moves => !other.is_some_and(|(_, sums)| sums.iter().any(is_twin)),
            _ => true,
        };
        let what = format!("{name} is handed a part of its bytes");
        if is_literal {
            return self.tell_whole(record, what);
        }
        if let Some((_, member)) = sum.member().filter(|(own, _)| *own == record) {
            self.tell_pins(record, &[member], what.clone());
        } else if let (true, Some((_, subject)), Ok(start)) =
            (sum.offsets().count() == 0, self.subject(record), u64::try_from(bytes.start))
        {
            // So many bytes are those of the members in front.
            let front = subject.members.iter().filter(|member| member.offset < start).count();
            if front > 0 {
                self.tell(record, UseDemand::Positions(front), Vec::new(), what.clone());
            }
        }
        self.tell_bytes(record, bytes, is_ordered, what);
    }

    fn has_same_type(&self, record: &[u8], member: &[u8], owner: &[u8], size_of: &[u8]) -> bool {
        let world = self.world();
        let ty = |record: &[u8], member: &[u8]| world.member(record, member).map(|ty| world.resolve(&ty));
        ty(record, member).is_some_and(|own| own != Type::Unknown && Some(own) == ty(owner, size_of))
    }

    /// The whole object's bytes.
    pub(in crate::meaning) fn whole(
        &mut self,
        does: Does,
        record: &'t [u8],
        other: Option<(&Value<'t>, &Vec<Sum<'t>>)>,
        what: String,
    ) {
        let world = self.world();
        let is_same_kind = other.is_some_and(|(value, sums)| {
            let typed = matches!(world.pointee(&value.ty), Some(Type::Record(own)) if own == record || world.begins_with(own, record));
            let is_it = |sum: &Sum<'t>| matches!(sum.base, Some(Base::Object(own)) if own == record && sum.terms.is_empty());
            typed || sums.iter().any(is_it)
        });
        let writes = match does {
            Does::Sets => true,
            Does::Moves => is_same_kind,
            _ => false,
        };
        if writes && world.has_derived(record) {
            let what = format!("{what}, in the last of which members of what is derived from it may lie");
            return self.tell_whole(record, what);
        }
        match does {
            Does::Sets | Does::Keeps => {}
            Does::Moves if is_same_kind => {}
            _ => self.tell_whole(record, what),
        }
    }

    /// A number of bytes that isn't known.
    fn vague(
        &mut self,
        does: Does,
        (record, sum): (&'t [u8], &Sum<'t>),
        length: &Sum<'t>,
        member: Option<&'t [u8]>,
        what: String,
    ) {
        let mut names: Vec<&'t [u8]> =
            length.offsets().filter(|(_, own, _)| *own == record).map(|(_, _, name)| name).collect();
        names.extend(sum.offsets().filter(|(_, own, _)| *own == record).map(|(_, _, name)| name));
        if length.offsets().count() > 0 {
            return self.tell_pins(record, &names, what);
        }
        match (does, member) {
            (Does::Keeps, _) => {}
            (Does::Unknown, Some(_)) if !length.is_telling() => {}
            (_, Some(member)) => self.tell_from(record, member, what),
            _ => self.tell_whole(record, what),
        }
    }
}

/// Whether a type is a record, or an array of it.
fn is_made_of<'t>(world: &World<'t>, ty: &Type<'t>, record: &[u8]) -> bool {
    let mut ty = world.resolve(ty);
    while let Type::Array(inner, _) = &ty {
        ty = world.resolve(inner);
    }
    matches!(ty, Type::Record(own) if own == record)
}
