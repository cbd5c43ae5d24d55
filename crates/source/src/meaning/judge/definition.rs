//! Demands of a struct's own definition, and of unions that hold it.

use crate::meaning::code::evaluator::Evaluator;
use crate::meaning::judge::symbols::mangled;
use crate::meaning::syntax::items::Items;
use crate::meaning::types::{Function, Member, Type, World, innermost, lossy};
use crate::uses::UseDemand;

/// Beginnings of the names of numbers whose byte order is fixed.
const FIXED: [&[u8]; 8] = [b"__le", b"__be", b"le16", b"le32", b"le64", b"be16", b"be32", b"be64"];

/// Structs of the system's headers that others' bytes follow.
const HEADS: [&[u8]; 6] = [b"nlmsghdr", b"cmsghdr", b"rtattr", b"nlattr", b"inotify_event", b"nfgenmsg"];

/// Fewest members of a struct that is taken for a device's registers where all of them are volatile.
const FEWEST_REGISTERS: usize = 3;

/// The line of a function's name.
fn items_line(evaluator: &Evaluator<'_, '_, '_>, name: &[u8]) -> u32 {
    let piece = evaluator.cursor.pieces.iter().find(|piece| piece.text == name);
    piece.map_or(0, |piece| piece.line)
}

impl<'t> Evaluator<'_, '_, 't> {
    /// Judges the definitions of a file.
    pub(in crate::meaning) fn definitions(&mut self, items: &Items<'t>, path: &str) {
        for (name, record) in &items.met.records {
            if record.is_union {
                self.union(record.line, &record.members);
            }
            if self.subject(name).is_none() || record.members.is_empty() {
                continue;
            }
            let line = record.line;
            if record.is_packed {
                self.tell_at(
                    name,
                    line,
                    UseDemand::Whole,
                    Vec::new(),
                    "it is packed: its layout is shared with others".to_owned(),
                );
            }
            if path.contains("uapi/") {
                self.tell_at(
                    name,
                    line,
                    UseDemand::Whole,
                    Vec::new(),
                    "it is part of the user interface".to_owned(),
                );
            }
            if let Some(member) = record.members.iter().find(|member| is_fixed(self.world(), &member.ty)) {
                let what = format!(
                    "{} has a fixed byte order: the layout is shared with others",
                    lossy(member.name)
                );
                self.tell_at(name, line, UseDemand::Whole, Vec::new(), what);
            }
            if record.members.len() >= FEWEST_REGISTERS
                && record.members.iter().all(|member| member.is_volatile)
            {
                let what = "all its members are volatile: a device has them where they are".to_owned();
                self.tell_at(name, line, UseDemand::Whole, Vec::new(), what);
            }
            if record.has_storage {
                let what = "its own operator new gives it memory".to_owned();
                self.tell_at(name, line, UseDemand::Whole, Vec::new(), what);
            }
            let computed = self.defaults_that_change(record);
            if computed.len() > 1 {
                let what = "defaults of members change something, in their order".to_owned();
                self.pins_at(name, line, &computed, what);
            }
            self.tail(name, record.members.last(), line);
            self.constructed_members(name, &record.members, line);
            self.defaults_of_class(name, line);
            self.heads(name, &record.members, line);
        }
        for (line, members) in &items.met.unions {
            self.union(*line, members);
        }
        self.declared_elsewhere(items);
        self.functions_elsewhere(items);
        self.symbols();
        self.templates();
        self.promises();
        self.arrays_beside();
    }

    fn pins_at(&mut self, record: &[u8], line: u32, names: &[&[u8]], what: String) {
        let before = self.found.len();
        self.tell_pins(record, names, what);
        for found in self.found.iter_mut().skip(before) {
            (found.line, found.source) = (line, 0);
        }
    }

    /// Functions that another file declares with other types.
    fn functions_elsewhere(&mut self, items: &Items<'t>) {
        let world = self.world();
        for (name, function) in items.functions.iter().filter(|(_, function)| function.home.is_none()) {
            let Some(other) = world.functions.shared.get(name) else { continue };
            let own = function.parameters.iter().map(|(_, ty)| ty).chain([&function.returns]);
            let others = other.parameters.iter().map(|(_, ty)| ty).chain([&other.returns]);
            if function.parameters.len() != other.parameters.len() {
                self.declared_with_other_count(name, [function, other]);
                continue;
            }
            for (own, other) in own.zip(others) {
                let record = |ty: &Type<'t>| match world.resolve(ty) {
                    Type::Record(record) => Some(record),
                    _ => None,
                };
                let Some((first, second)) =
                    record(own).zip(record(other)).filter(|(first, second)| first != second)
                else {
                    continue;
                };
                for record in [first, second] {
                    let what = format!("{} is declared with another type elsewhere", lossy(name));
                    self.tell_at(record, items_line(self, name), UseDemand::Whole, Vec::new(), what);
                }
            }
        }
    }

    /// A function of C that files declare with other numbers of parameters: what is handed by value lies where the
    /// others expect something else.
    fn declared_with_other_count(&mut self, name: &'t [u8], both: [&Function<'t>; 2]) {
        let is_old = both.iter().any(|function| function.parameters.is_empty());
        if self.is_cpp || is_old || !self.world().is_complete {
            return;
        }
        for (_, ty) in both.iter().flat_map(|function| &function.parameters) {
            if let Type::Record(record) = self.world().resolve(ty) {
                let what = format!("{} is declared with other parameters elsewhere", lossy(name));
                self.tell_at(record, items_line(self, name), UseDemand::Whole, Vec::new(), what);
            }
        }
    }

    /// Variables that another file declares as something else.
    fn declared_elsewhere(&mut self, items: &Items<'t>) {
        let world = self.world();
        for variable in items.variables.iter().filter(|variable| !variable.is_static) {
            let name = variable.declared.name;
            let own = world.resolve(&variable.declared.ty);
            let line = self.cursor.pieces.get(variable.value.start).map_or(0, |piece| piece.line);
            self.section_is_written(name, &own, line);
            self.said_by_assembler(name, &own, line);
            // By the name that the linker knows a variable of C++ by.
            let linked = mangled(name).and_then(|name| world.globals.shared.get(name));
            let Some(other) = linked.or_else(|| world.globals.shared.get(name)) else { continue };
            let other = world.resolve(other);
            let is_known = |ty: &Type<'t>| !matches!(ty, Type::Unknown | Type::Named(_));
            let is_attribute = world.after_bodies.contains(name);
            if own == other || is_attribute || !is_known(&own) || !is_known(&other) {
                continue;
            }
            for (ty, against) in [(&own, &other), (&other, &own)] {
                let records = [ty, against].map(|ty| innermost(world, ty));
                if let [Type::Record(record), second] = &records
                    && *second != Type::Record(record)
                {
                    let what = format!("{} is declared as another type here", lossy(name));
                    self.tell_at(record, line, UseDemand::Whole, Vec::new(), what);
                }
            }
        }
    }

    pub(in crate::meaning) fn tell_at(
        &mut self,
        record: &[u8],
        line: u32,
        demand: UseDemand,
        members: Vec<usize>,
        what: String,
    ) {
        let before = self.found.len();
        self.tell(record, demand, members, what);
        for found in self.found.iter_mut().skip(before) {
            (found.line, found.source) = (line, 0);
        }
    }

    /// Members whose constructors change something are constructed in their order.
    fn constructed_members(&mut self, name: &[u8], members: &[Member<'t>], line: u32) {
        if !self.is_cpp {
            return;
        }
        let found = self.members_with_effects(members);
        let Some((_, subject)) = self.subject(name).filter(|_| found.len() > 1) else { return };
        let numbers = found.iter().filter_map(|name| subject.number(name)).collect();
        let what = "members are constructed in their order, and that changes something".to_owned();
        self.tell_at(name, line, UseDemand::Boundary, numbers, what);
    }

    /// Heads whose bytes go on behind them: what stands there stays.
    fn heads(&mut self, name: &'t [u8], members: &[Member<'t>], line: u32) {
        let world = self.world();
        let is_head = |ty: &Type<'t>| match world.resolve(ty) {
            Type::Record(record) => {
                HEADS.contains(&record)
                    || world.records.get(record).is_some_and(|known| {
                        let last = known.members.last().filter(|_| !known.is_union);
                        last.is_some_and(|last| {
                            matches!(world.resolve(&last.ty), Type::Array(_, None | Some(0)))
                        })
                    })
            }
            _ => false,
        };
        let before = members.len().saturating_sub(1);
        for member in members.iter().take(before).filter(|member| is_head(&member.ty)) {
            let said = self.found.len();
            let what = format!("what {} goes on with stands behind it", lossy(member.name));
            self.tell_from(name, member.name, what);
            for found in self.found.iter_mut().skip(said) {
                (found.line, found.source) = (line, 0);
            }
        }
    }

    pub(in crate::meaning) fn tail(&mut self, name: &[u8], last: Option<&Member<'t>>, line: u32) {
        let Some((_, subject)) = self.subject(name) else { return };
        let Some(member) = last else { return };
        let is_tail = matches!(self.world().resolve(&member.ty), Type::Array(_, Some(0 | 1)));
        let number =
            subject.number(member.name).filter(|number| is_tail && *number + 1 == subject.members.len());
        if let Some(number) = number {
            let what = format!("{} may go on behind the end", lossy(member.name));
            self.tell_at(name, line, UseDemand::Last, vec![number], what);
        }
    }

    /// Objects that lie over one another.
    pub(in crate::meaning) fn union(&mut self, line: u32, members: &[Member<'t>]) {
        let world = self.world();
        let resolved: Vec<Type<'t>> = members.iter().map(|member| world.resolve(&member.ty)).collect();
        for (at, ty) in resolved.iter().enumerate() {
            if let Some(Type::Record(record)) = ty.element().map(|inner| world.resolve(inner)) {
                self.pointers_over(record, &resolved, line);
            }
            let Type::Record(record) = ty else { continue };
            for other in &resolved {
                if let Type::Record(other) = other {
                    self.alternatives(record, other);
                }
            }
            if self.subject(record).is_none() {
                continue;
            }
            for (_, other) in resolved.iter().enumerate().filter(|(other, _)| *other != at) {
                self.over(record, other, line);
            }
        }
    }

    /// A pointer to an object that lies over one to a number.
    fn pointers_over(&mut self, record: &'t [u8], members: &[Type<'t>], line: u32) {
        for other in members {
            let Some(to) = other.element().map(|inner| self.world().resolve(inner)) else { continue };
            if let (Type::Record(_), Type::Pointer(_)) = (&to, other) {
                let before = self.found.len();
                self.start(record, &to, true);
                for found in self.found.iter_mut().skip(before) {
                    (found.line, found.source) = (line, 0);
                }
            }
            if matches!((&to, other), (Type::Number(..), Type::Pointer(_))) {
                let before = self.found.len();
                self.start(record, &to, false);
                for found in self.found.iter_mut().skip(before) {
                    (found.line, found.source) = (line, 0);
                }
            }
        }
    }

    fn over(&mut self, record: &'t [u8], other: &Type<'t>, line: u32) {
        let what = |as_what: &str| format!("a union lays it over {as_what}");
        match other {
            Type::Record(over) if *over != record => {
                let world = self.world();
                let begins = world.begins_with(record, over) || world.begins_with(over, record);
                let count = if begins { 1 } else { world.common_prefix(record, over).unwrap_or(usize::MAX) };
                if count > 0 {
                    let what = what(&format!("a struct {}", lossy(over)));
                    self.tell_at(record, line, UseDemand::Positions(count), Vec::new(), what);
                }
            }
            Type::Array(inner, _) if matches!(self.world().resolve(inner), Type::Byte | Type::Number(..)) => {
                self.tell_at(record, line, UseDemand::Whole, Vec::new(), what("an array"));
            }
            Type::Number(..) => self.tell_at(record, line, UseDemand::Whole, Vec::new(), what("a number")),
            _ => {}
        }
    }
}

/// Whether numbers of a type have the same byte order everywhere.
fn is_fixed<'t>(world: &World<'t>, ty: &Type<'t>) -> bool {
    let mut ty = ty.clone();
    for _ in 0..16 {
        match &ty {
            Type::Named(name) if FIXED.iter().any(|fixed| name.starts_with(fixed)) => return true,
            Type::Named(name) => match world.typedefs.get(name) {
                Some(next) => ty = next.clone(),
                None => return false,
            },
            Type::Array(inner, _) => ty = (**inner).clone(),
            _ => return false,
        }
    }
    false
}
