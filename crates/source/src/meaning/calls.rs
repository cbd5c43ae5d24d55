//! Functions that are handed objects, and bytes of them.

use super::evaluator::{Evaluator, Slot};
use super::expression::lossy;
use super::types::Type;
use super::value::{Base, Sum, Term, Value, join};
use crate::uses::UseDemand;

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

const SETS: [&str; 6] = ["memset", "bzero", "explicit_bzero", "memzero_explicit", "memset_s", "memzero"];
const MOVES: [&str; 8] =
    ["memcpy", "memmove", "mempcpy", "bcopy", "memcpy_s", "unsafe_memcpy", "memcpy_inline", "copy_n"];
const STRINGS: [&str; 9] =
    ["strscpy", "strlcpy", "strncpy", "strlcat", "strncat", "strncmp", "strnlen", "strtomem", "snprintf"];
const READS: [&str; 19] = [
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
    "nla_put",
    "skb_put_data",
];
/// Verbs of hash tables.
const TABLES: [&str; 9] = ["add", "insert", "find", "lookup", "get", "put", "remove", "del", "init"];
const KEEPS: [&str; 12] = [
    "alloc", "free", "dup", "sort", "search", "assert", "print", "prefetch", "poison", "sizeof", "kasan",
    "kmsan",
];
/// Functions that give memory which others see as well.
const MAPS: [&str; 8] = [
    "mmap",
    "mmap64",
    "shmat",
    "MapViewOfFile",
    "ioremap",
    "memremap",
    "devm_ioremap",
    "devm_ioremap_resource",
];
const ASSERTS: [&str; 6] =
    ["BUILD_BUG_ON", "static_assert", "_Static_assert", "BUILD_BUG_ON_MSG", "compiletime_assert", "CTASSERT"];

fn does(name: &[u8]) -> Does {
    let name = lossy(name);
    let name = name.trim_start_matches('_').trim_start_matches("builtin_").trim_start_matches('_');
    let name = name.trim_start_matches("underlying_").trim_end_matches("_chk").to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match name.as_str() {
        plain if SETS.contains(&plain) => Does::Sets,
        plain if MOVES.contains(&plain) => Does::Moves,
        "read" | "pread" | "pread64" | "ioctl" | "fcntl" => Does::Reads,
        _ if has(&STRINGS) => Does::Keeps,
        _ if name.contains("hash") && has(&TABLES) => Does::Unknown,
        _ if has(&READS) => Does::Reads,
        _ if has(&KEEPS) => Does::Keeps,
        _ => Does::Unknown,
    }
}

pub(super) fn is_assertion(name: &[u8]) -> bool {
    ASSERTS.iter().any(|known| known.as_bytes() == name)
}

impl<'t> Evaluator<'_, '_, 't> {
    /// A call by the bracket here.
    pub(super) fn call(&mut self, callee: &Value<'t>) -> Value<'t> {
        let end = self.cursor.behind(self.cursor.at);
        let name = callee.call.unwrap_or_default();
        if callee.is_type {
            let ty = callee.ty.clone();
            self.constructed(&ty);
            return Value::typed(ty);
        }
        self.cursor.at += 1;
        let before = self.context;
        if is_assertion(name) {
            self.context = super::evaluator::Context::Constant;
        }
        let arguments = self.arguments(name, end);
        self.context = before;
        self.cursor.at = end;
        if name.is_empty() {
            self.called_through_pointer(&arguments);
            return Value::typed(returned(&self.world().resolve(&callee.ty)));
        }
        self.judge_call(name, &arguments)
    }

    fn arguments(&mut self, name: &'t [u8], end: usize) -> Vec<Value<'t>> {
        let parameters = self.world().functions.get(name).map(|function| &function.parameters);
        let mut found = Vec::new();
        while self.cursor.at < end.saturating_sub(1) {
            let start = self.cursor.at;
            let wanted = parameters.and_then(|all| all.get(found.len())).map(|(_, ty)| ty.clone());
            let value = self.argument(wanted);
            found.push(value);
            while self.cursor.at < end.saturating_sub(1) && !self.cursor.is(b",") {
                self.cursor.at = match self.cursor.here() {
                    b"(" | b"[" | b"{" => self.cursor.behind(self.cursor.at),
                    _ => self.cursor.at + 1,
                };
            }
            self.cursor.at = (self.cursor.at + 1).max(start + 1);
        }
        found
    }

    fn argument(&mut self, wanted: Option<Type<'t>>) -> Value<'t> {
        if self.cursor.is(b"{") {
            let ty = wanted.unwrap_or_default();
            self.list(&ty);
            return Value::typed(ty);
        }
        let start = self.cursor.at;
        let word = self.cursor.here();
        let is_local = self.local(word).is_some();
        // A type as a macro's argument.
        if !is_local && let Some(found) = self.cursor.specifiers(false) {
            let base = self.specified(&found.ty, found.of.as_ref());
            let declared = self.cursor.declarator(&base);
            if matches!(self.cursor.here(), b"," | b")")
                && declared.as_ref().is_some_and(|declared| declared.name.is_empty())
            {
                let ty = declared.map_or(base, |declared| declared.ty);
                return Value { is_type: true, ..Value::typed(ty) };
            }
            self.cursor.at = start;
        }
        self.assignment()
    }

    fn judge_call(&mut self, name: &'t [u8], arguments: &[Value<'t>]) -> Value<'t> {
        let world = self.world();
        let function = world.functions.get(name);
        if let Some(function) = function {
            for (number, (argument, (_, ty))) in arguments.iter().zip(&function.parameters).enumerate() {
                let sums = self.sums_of(argument);
                self.convert(argument, ty, false);
                if function.is_defined && !self.is_typed(ty) {
                    self.keep(Slot::Parameter(function.home, name, number), &sums);
                }
                if !function.is_defined && world.assembler.contains(name) {
                    self.assembled(name, &sums, ty);
                }
            }
        }
        self.callbacks(function, name, arguments);
        let does = does(name);
        let is_known =
            function.is_some_and(|function| function.is_defined) && !matches!(does, Does::Sets | Does::Moves);
        let all: Vec<Vec<Sum<'t>>> = arguments.iter().map(|argument| self.sums_of(argument)).collect();
        for (number, argument) in arguments.iter().enumerate().filter(|(_, argument)| !argument.is_type) {
            let parameter = function.and_then(|function| function.parameters.get(number)).map(|(_, ty)| ty);
            // What is handed on as the same type is judged where it arrives.
            let is_same = parameter.is_some_and(|ty| self.is_typed(ty));
            if is_known || is_same || world.resolve(&argument.ty).element().is_none() {
                continue;
            }
            for sum in &all[number] {
                self.handed(name, does, sum, (number, arguments, &all));
            }
        }
        self.allocated(name, does, arguments, &all, function.map(|function| function.returns.clone()))
    }

    /// Arguments beyond the parameters, and those that stand beside a function which may be handed them.
    fn callbacks(
        &mut self,
        function: Option<&super::types::Function<'t>>,
        name: &'t [u8],
        arguments: &[Value<'t>],
    ) {
        let world = self.world();
        let named = arguments.iter().filter_map(|argument| argument.call.filter(|_| argument.is_function()));
        let called: Vec<&'t [u8]> = named.collect();
        for (number, argument) in arguments.iter().enumerate() {
            let mut sums = self.sums_of(argument);
            if let Some(function) = function.filter(|function| function.is_defined) {
                if number >= function.parameters.len() {
                    self.keep(Slot::Parameter(function.home, name, usize::MAX), &sums);
                }
                // An object for a reference to a template's type.
                let ty = function.parameters.get(number).map(|(_, ty)| world.resolve(ty));
                let is_open = matches!(ty, Some(Type::Named(_) | Type::Unknown));
                if is_open && matches!(world.resolve(&argument.ty), Type::Record(_)) {
                    self.keep(
                        Slot::Parameter(function.home, name, number),
                        argument.place.as_deref().unwrap_or_default(),
                    );
                }
            }
            sums.retain(|sum| matches!(sum.base, Some(Base::Object(_))));
            for callee in &called {
                let Some(known) = world.functions.get(callee) else { continue };
                for place in 0..known.parameters.len() {
                    self.keep(Slot::Parameter(known.home, callee, place), &sums);
                }
            }
        }
    }

    /// Arguments of a call through a pointer: functions were cast to be called so.
    pub(super) fn called_through_pointer(&mut self, arguments: &[Value<'t>]) {
        let casts = self.kept(Slot::Global(b"(cast)"));
        for sum in arguments.iter().flat_map(|argument| self.sums_of(argument)).collect::<Vec<_>>() {
            let (Some(Base::Object(record)), []) = (sum.base, sum.terms.as_slice()) else { continue };
            for cast in &casts {
                if let Some(Base::Object(wanted)) = cast.base
                    && wanted != record
                    && self.world().common_prefix(record, wanted).is_some_and(|count| count > 0)
                {
                    self.convert(
                        &Value::sums(Type::Void.pointer(), vec![sum.clone()]),
                        &Type::Record(wanted).pointer(),
                        false,
                    );
                }
            }
        }
    }

    fn assembled(&mut self, name: &[u8], sums: &[Sum<'t>], ty: &Type<'t>) {
        let typed = match self.world().pointee(ty) {
            Some(Type::Record(record)) => vec![Sum::object(record)],
            _ => Vec::new(),
        };
        for sum in sums.iter().chain(&typed) {
            if let Some(Base::Object(record)) = sum.base {
                self.tell_whole(record, format!("assembler code of {} is handed its address", lossy(name)));
            }
        }
    }

    /// What a call gives.
    fn allocated(
        &mut self,
        name: &'t [u8],
        does: Does,
        arguments: &[Value<'t>],
        all: &[Vec<Sum<'t>>],
        returns: Option<Type<'t>>,
    ) -> Value<'t> {
        let text = lossy(name).to_ascii_lowercase();
        let is_allocation = does == Does::Keeps && (text.contains("alloc") || text.contains("dup"));
        let home = self.world().functions.get(name).and_then(|function| function.home);
        let mut sums = Vec::new();
        for (argument, own) in arguments.iter().zip(all) {
            if self.world().resolve(&argument.ty).element().is_some() {
                continue;
            }
            for sum in own.iter().filter(|sum| sum.base.is_none()) {
                self.length(sum, is_allocation, &mut sums);
            }
        }
        if MAPS.iter().any(|map| map.as_bytes() == name) {
            sums = vec![Sum { base: Some(Base::Mapped(name)), terms: Vec::new() }];
        }
        let is_function_known = self.world().functions.get(name).is_some_and(|function| function.is_defined);
        if !is_allocation && !MAPS.iter().any(|map| map.as_bytes() == name) && is_function_known {
            sums.clear();
        }
        join(&mut sums, &self.kept(Slot::Returned(home, name)));
        // `container_of(pointer, type, member)`.
        let named = arguments.iter().find(|argument| argument.is_type);
        let ty = match (returns, named) {
            (Some(ty), _) => ty,
            (None, Some(named)) => named.ty.clone().pointer(),
            _ => Type::Unknown,
        };
        if self.is_typed(&ty) {
            sums.clear();
        }
        Value { ty, sums, call: Some(name), ..Value::default() }
    }

    /// A length that ends, or goes on, behind a member.
    fn length(&mut self, sum: &Sum<'t>, is_allocation: bool, sums: &mut Vec<Sum<'t>>) {
        let is_more = |(added, term): &(bool, Term<'t>)| *added && !matches!(term, Term::Offset(..));
        for (added, record, member) in sum.offsets().collect::<Vec<_>>() {
            let Some((_, subject)) = self.subject(record).filter(|_| added) else { continue };
            join(sums, &[Sum::object(record)]);
            let is_last = subject.number(member).is_some_and(|number| number + 1 == subject.members.len());
            if sum.terms.iter().any(is_more) && is_last {
                let number = subject.members.len() - 1;
                self.tell(
                    record,
                    UseDemand::Last,
                    vec![number],
                    format!("lengths go on behind the offset of {}", lossy(member)),
                );
            } else if is_allocation {
                self.tell_pins(record, &[member], format!("memory is allocated up to {}", lossy(member)));
            }
        }
        for (added, term) in &sum.terms {
            let Term::Size(record) = term else { continue };
            join(sums, &[Sum::object(record)]);
            let Some((_, subject)) = self.subject(record).filter(|_| *added && sum.terms.len() > 1) else {
                continue;
            };
            let last = subject.members.len().checked_sub(1);
            let name = last.and_then(|last| subject.label(last)).map(String::as_bytes).unwrap_or_default();
            let world = self.world();
            let is_array =
                matches!(world.member(record, name).map(|ty| world.resolve(&ty)), Some(Type::Array(..)));
            if let Some(last) = last.filter(|_| is_array) {
                self.tell(
                    record,
                    UseDemand::Last,
                    vec![last],
                    format!("memory is allocated for more behind {}", lossy(name)),
                );
            }
        }
    }

    /// An address that a function is handed, with the lengths beside it.
    fn handed(
        &mut self,
        name: &'t [u8],
        does: Does,
        sum: &Sum<'t>,
        (number, arguments, all): (usize, &[Value<'t>], &[Vec<Sum<'t>>]),
    ) {
        let Some(Base::Object(record)) = sum.base else { return };
        if self.subject(record).is_none() || sum.subtracts() {
            return;
        }
        let text = lossy(name);
        let is_string = text.starts_with("str")
            || text.contains("puts")
            || text.contains("scanf")
            || text.contains("printf");
        let is_bytes = arguments
            .get(number)
            .is_some_and(|argument| self.world().pointee(&argument.ty) == Some(Type::Byte));
        if is_string && is_bytes && sum.terms.is_empty() {
            self.tell(
                record,
                UseDemand::Positions(1),
                Vec::new(),
                format!("{text} is handed its address as that of a text"),
            );
        }
        let is_number = |at: usize| {
            at != number
                && arguments.get(at).is_some_and(|argument| {
                    self.world().resolve(&argument.ty).element().is_none() && !argument.is_type
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
        if lengths.is_empty() && does == Does::Reads && has_number {
            let bytes = all.iter().enumerate().filter(|(at, _)| is_number(*at)).find_map(|(_, sums)| {
                sums.iter().find(|sum| matches!(sum.terms.as_slice(), [(true, Term::Number(_))]))
            });
            match bytes.filter(|_| name != b"ioctl") {
                Some(bytes) => lengths.push(bytes.clone()),
                None => lengths.push(Sum::term(Term::Other)),
            }
        }
        for length in lengths {
            self.bytes(name, does, (record, sum), &length, other);
        }
    }

    /// So many bytes from an address on.
    fn bytes(
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
                [(true, Term::MemberSize(of, size_of))] => {
                    *of == record && *size_of == member || self.is_size_alike(record, member, of, size_of)
                }
                [(true, Term::Size(of))] => is_made_of(world, &ty, of),
                [(true, Term::Number(number))] => own_size.is_some_and(|size| {
                    size == 0 || u64::try_from(*number).is_ok_and(|number| number <= size)
                }),
                [] => true,
                _ => false,
            };
            let is_array = matches!(ty, Type::Array(..));
            if is_own || is_array && length.has_other() {
                return;
            }
        }
        let whole = matches!(length.terms.as_slice(), [(true, Term::Size(of))] if *of == record);
        if whole && sum.terms.is_empty() {
            return self.whole(does, record, other, handed());
        }
        // A struct that it begins with.
        if let ([], [(true, Term::Size(of))]) = (sum.terms.as_slice(), length.terms.as_slice())
            && *of != record
            && self.subject(of).is_none()
        {
            if world.begins_with(of, record) {
                return;
            }
            let count = if world.begins_with(record, of) { Some(1) } else { world.common_prefix(record, of) };
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
                    false => self.part(does, (record, sum), start..end, other, &name),
                }
            }
            _ => self.vague(does, (record, sum), length, member, handed()),
        }
    }

    /// A part of an object's bytes.
    fn part(
        &mut self,
        does: Does,
        (record, sum): (&'t [u8], &Sum<'t>),
        bytes: std::ops::Range<i64>,
        other: Option<(&Value<'t>, &Vec<Sum<'t>>)>,
        name: &str,
    ) {
        let is_twin = |twin: &Sum<'t>| twin.base == sum.base && twin.terms == sum.terms;
        let is_ordered = match does {
            Does::Sets | Does::Keeps => false,
            Does::Moves => !other.is_some_and(|(_, sums)| sums.iter().any(is_twin)),
            _ => true,
        };
        let what = format!("{name} is handed a part of its bytes");
        if let Some((_, member)) = sum.member().filter(|(own, _)| *own == record) {
            self.tell_pins(record, &[member], what.clone());
        }
        self.tell_bytes(record, bytes, is_ordered, what);
    }

    fn is_size_alike(&self, record: &[u8], member: &[u8], of: &[u8], size_of: &[u8]) -> bool {
        let world = self.world();
        let ty = |record: &[u8], member: &[u8]| world.member(record, member).map(|ty| world.resolve(&ty));
        ty(record, member).is_some_and(|own| own != Type::Unknown && Some(own) == ty(of, size_of))
    }

    /// The whole object's bytes.
    fn whole(
        &mut self,
        does: Does,
        record: &'t [u8],
        other: Option<(&Value<'t>, &Vec<Sum<'t>>)>,
        what: String,
    ) {
        let world = self.world();
        let is_alike = other.is_some_and(|(value, sums)| {
            let typed = matches!(world.pointee(&value.ty), Some(Type::Record(own)) if own == record || world.begins_with(own, record));
            let is_it = |sum: &Sum<'t>| matches!(sum.base, Some(Base::Object(own)) if own == record && sum.terms.is_empty());
            typed || sums.iter().any(is_it)
        });
        match does {
            Does::Sets | Does::Keeps => {}
            Does::Moves if is_alike => {}
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

    /// `T(…)`: values of an aggregate by position, unless it has a constructor.
    pub(super) fn constructed(&mut self, ty: &Type<'t>) {
        let end = self.cursor.behind(self.cursor.at);
        self.cursor.at += 1;
        let values = self.arguments(b"", end);
        self.cursor.at = end;
        if let Type::Record(record) = self.world().resolve(ty)
            && values.len() > 1
        {
            let what = format!("an initialiser gives {} values by position", values.len());
            self.tell(record, UseDemand::Positions(values.len()), Vec::new(), what);
        }
    }
}

/// Whether a type is a record, or an array of it.
fn is_made_of<'t>(world: &super::types::World<'t>, ty: &Type<'t>, record: &[u8]) -> bool {
    let mut ty = world.resolve(ty);
    while let Type::Array(inner, _) = &ty {
        ty = world.resolve(inner);
    }
    matches!(ty, Type::Record(own) if own == record)
}

fn returned<'t>(ty: &Type<'t>) -> Type<'t> {
    match ty {
        Type::Function(returns) => (**returns).clone(),
        Type::Pointer(inner) => match &**inner {
            Type::Function(returns) => (**returns).clone(),
            _ => Type::Unknown,
        },
        _ => Type::Unknown,
    }
}
