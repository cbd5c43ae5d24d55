//! Code to trace: of compilation units, of symbols, or of functions that touch some types.

use super::names;
use crate::error::{Error, Result};
use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::dwarf::code::NameKind;
use fieldline_debuginfo::dwarf::code::{Function, name_hash};
use fieldline_layout::layout::{Layout, Member};
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Callee, Flow};
use fieldline_typeflow::operands::{ProgramOperands, Target, TypeIndex, TypedFunction};
use fieldline_typeflow::program::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use wildmatch::WildMatch;

/// Code to be traced: all that fits any of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeSelection {
    /// Compilation units by the beginning of their path in the tree (`kernel/sched/`, `lib/rbtree.c`).
    pub units: Vec<String>,
    /// Functions by their name, with `*` and `?`.
    pub symbols: Vec<String>,
    /// Structs: functions that touch them.
    pub types: Vec<String>,
}

/// Code to trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TracedCode {
    /// Ranges of linked addresses, sorted, none touching another.
    pub(crate) ranges: Vec<Range<u64>>,
    /// How many functions they are of.
    pub(crate) functions: usize,
    /// Functions that would belong to it but wait for other CPUs.
    pub(crate) left_out: Vec<String>,
}

/// The code that is selected. `layouts` are those of structs by name.
pub(crate) fn select<'a>(
    program: &'a Program<'a>,
    selection: &CodeSelection,
    layouts: &dyn Fn(&[String]) -> Result<BTreeMap<String, Layout>>,
) -> Result<TracedCode> {
    let mut selector = Selector { program, functions: BTreeMap::new() };
    let usual = [names::USUAL_UNITS.to_owned()];
    let is_empty = selection.units.is_empty() && selection.symbols.is_empty() && selection.types.is_empty();
    let units = if is_empty { &usual[..] } else { &selection.units };
    for unit in units {
        selector.add_units(unit)?;
    }
    for glob in &selection.symbols {
        selector.add_symbols(glob)?;
    }
    if !selection.types.is_empty() {
        selector.add_types(&selection.types, layouts)?;
    }
    Ok(selector.finish())
}

struct Selector<'a> {
    program: &'a Program<'a>,
    /// Ranges by entry, and the name.
    functions: BTreeMap<u64, (String, Vec<Range<u64>>)>,
}

impl<'a> Selector<'a> {
    fn unit_functions(&self, unit: u32) -> &'a [Function] {
        self.program.unit_index(unit).map_or(&[][..], |index| &index.functions)
    }

    fn units(&self) -> Range<u32> {
        0..u32::try_from(self.program.dwarf.unit_count()).unwrap_or(u32::MAX)
    }

    fn add(&mut self, function: &Function) {
        let name = self.program.dwarf.name_of(function.die).unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        self.functions.insert(function.entry(), (name, function.ranges.clone()));
    }

    fn add_units(&mut self, wanted: &str) -> Result<()> {
        let mut count = 0;
        for unit in self.units() {
            let name = self.program.dwarf.unit_name(unit).map_err(anyhow::Error::from)?;
            if is_in(&name, wanted) {
                count += 1;
                self.unit_functions(unit).iter().for_each(|function| self.add(function));
            }
        }
        if count == 0 {
            return Err(Error::NothingToTrace(format!("no unit's path begins with {wanted}")));
        }
        Ok(())
    }

    fn add_symbols(&mut self, glob: &str) -> Result<()> {
        let wanted = WildMatch::new(glob);
        let symbols = self.program.symbols.iter();
        let found: Vec<_> =
            symbols.filter(|symbol| symbol.is_function && wanted.matches(symbol.name)).cloned().collect();
        if found.is_empty() {
            return Err(Error::NothingToTrace(format!("no function is called {glob}")));
        }
        for symbol in found {
            let end = symbol.address.saturating_add(symbol.size.unwrap_or(1));
            let ranges = std::iter::once(symbol.address..end).collect();
            self.functions.insert(symbol.address, (symbol.name.to_owned(), ranges));
        }
        Ok(())
    }

    /// Adds functions that touch some structs, and those that they call and that touch what lies in these structs: lists,
    /// trees, locks.
    fn add_types(
        &mut self,
        types: &[String],
        layouts: &dyn Fn(&[String]) -> Result<BTreeMap<String, Layout>>,
    ) -> Result<()> {
        let units = self.units_that_define(types)?;
        let functions: Vec<&Function> = units.iter().flat_map(|unit| self.unit_functions(*unit)).collect();
        let entries: Vec<_> = functions.iter().map(|function| LinkedAddress(function.entry())).collect();
        let operands = ProgramOperands::new(self.program, &entries[..].into());
        let wanted: BTreeSet<&str> = types.iter().map(String::as_str).collect();
        let outer: Vec<String> = operands.types.iter().map(|entry| entry.name.name.clone()).collect();
        let mut all = outer.clone();
        all.extend(types.iter().cloned());
        let layouts = layouts(&all)?;
        let places: Vec<Vec<Range<u64>>> =
            outer.iter().map(|name| places_of(name, layouts.get(name), &wanted)).collect();
        let touches = |function: &TypedFunction| {
            let operands = function.instructions.iter().flat_map(|typed| &typed.operands);
            operands.map(|operand| operand.target).any(|target| is_at(target, &places))
        };
        let touching: BTreeSet<u64> = (operands.functions.iter().filter(|function| touches(function)))
            .filter_map(|function| function.ranges.first().map(|range| range.start))
            .collect();
        if touching.is_empty() {
            return Err(Error::NothingToTrace(format!("no function touches {}", types.join(", "))));
        }
        let touching: Vec<&Function> =
            functions.into_iter().filter(|function| touching.contains(&function.entry())).collect();
        let parts: BTreeSet<String> =
            types.iter().filter_map(|name| layouts.get(name)).flat_map(parts_of).collect();
        let callees = self.callees(&touching);
        touching.into_iter().for_each(|function| self.add(function));
        self.add_helpers(&callees, &parts);
        Ok(())
    }

    /// Units that define any of some structs.
    fn units_that_define(&self, types: &[String]) -> Result<Vec<u32>> {
        let mut units = BTreeSet::new();
        for name in types {
            let hash = name_hash(name.as_bytes());
            let defines = |unit: &u32| {
                let index = self.program.unit_index(*unit);
                let mut names = index.into_iter().flat_map(|index| index.names(NameKind::Aggregate));
                names.any(|(other, _)| other == hash)
            };
            let found: Vec<u32> = self.units().filter(defines).collect();
            if found.is_empty() {
                return Err(Error::NothingToTrace(format!("no unit defines struct {name}")));
            }
            units.extend(found);
        }
        Ok(units.into_iter().collect())
    }

    /// Entries of functions that some functions call.
    fn callees(&self, functions: &[&Function]) -> BTreeSet<u64> {
        let mut reader = InstructionReader::new(self.program.architecture);
        let mut callees = BTreeSet::new();
        for function in functions {
            for instruction in self.program.instructions(&mut reader, &function.ranges) {
                match instruction.flow {
                    Flow::Call(Callee::Direct(target)) | Flow::Jump(target) => callees.insert(target),
                    _ => false,
                };
            }
        }
        callees
    }

    /// Adds those functions that touch nothing but parts of the structs.
    fn add_helpers(&mut self, callees: &BTreeSet<u64>, parts: &BTreeSet<String>) {
        let known: Vec<LinkedAddress> = (callees.iter().filter(|entry| !self.functions.contains_key(entry)))
            .map(|entry| LinkedAddress(*entry))
            .filter(|entry| self.program.has_function(*entry))
            .collect();
        let operands = ProgramOperands::new(self.program, &known[..].into());
        let is_part =
            |ty: TypeIndex| operands.type_entry(ty).is_some_and(|entry| parts.contains(&entry.name.name));
        for function in &operands.functions {
            let targets = function.instructions.iter().flat_map(|typed| &typed.operands);
            let mut structs = targets.filter_map(|operand| match operand.target {
                Target::Exact { ty, .. } | Target::Within { ty } | Target::Element { ty, .. } => Some(ty),
                Target::Unknown(_) => None,
            });
            let Some(entry) = function.ranges.first().map(|range| range.start) else { continue };
            if structs.any(is_part)
                && let Some((_, function)) = self.program.function_at(LinkedAddress(entry))
            {
                self.add(function);
            }
        }
    }

    fn finish(self) -> TracedCode {
        let mut code = TracedCode::default();
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for (name, of_function) in self.functions.into_values() {
            if names::is_waiting(&name) {
                code.left_out.push(name);
                continue;
            }
            code.functions += 1;
            ranges.extend(of_function);
        }
        ranges.sort_by_key(|range| (range.start, range.end));
        for range in ranges {
            match code.ranges.last_mut().filter(|last| range.start <= last.end) {
                Some(last) => last.end = last.end.max(range.end),
                None => code.ranges.push(range),
            }
        }
        code.left_out.sort();
        code.left_out.dedup();
        code
    }
}

/// Whether a unit's path, relative to the tree or absolute, begins with another or leads there.
fn is_in(path: &str, wanted: &str) -> bool {
    let path = path.trim_start_matches("./");
    path.starts_with(wanted) || path.contains(&format!("/{}", wanted.trim_start_matches('/')))
}

/// Whether a target may lie at any of some places of its type.
fn is_at(target: Target<TypeIndex>, places: &[Vec<Range<u64>>]) -> bool {
    let places_in = |ty: TypeIndex| places.get(ty.0 as usize).map_or(&[][..], Vec::as_slice);
    match target {
        Target::Exact { ty, offset } | Target::Element { ty, offset, .. } => {
            places_in(ty).iter().any(|place| place.contains(&offset))
        }
        Target::Within { ty } => places_in(ty).iter().any(|place| place.start == 0),
        Target::Unknown(_) => false,
    }
}

/// Where in a struct others lie.
fn places_of(name: &str, layout: Option<&Layout>, wanted: &BTreeSet<&str>) -> Vec<Range<u64>> {
    let mut places = Vec::new();
    if wanted.contains(name) {
        places.push(0..u64::MAX);
    }
    if let Some(layout) = layout {
        add_places(&layout.members, wanted, &mut places);
    }
    places
}

fn add_places(members: &[Member], wanted: &BTreeSet<&str>, places: &mut Vec<Range<u64>>) {
    for member in members {
        if wanted.contains(struct_name(&member.type_name)) {
            places.push(member.offset()..member.offset() + member.size());
        }
        add_places(&member.members, wanted, places);
    }
}

/// Names of the structs that lie in a struct.
fn parts_of(layout: &Layout) -> Vec<String> {
    let mut parts = Vec::new();
    add_parts(&layout.members, &mut parts);
    parts
}

fn add_parts(members: &[Member], parts: &mut Vec<String>) {
    for member in members {
        let name = struct_name(&member.type_name);
        if name != member.type_name {
            parts.push(name.to_owned());
        }
        add_parts(&member.members, parts);
    }
}

/// The tag of a struct type, also of an array of such; the type itself if it is none.
fn struct_name(type_name: &str) -> &str {
    let tag = type_name.strip_prefix("struct ").or_else(|| type_name.strip_prefix("union "));
    tag.filter(|tag| !tag.contains('*'))
        .map_or(type_name, |tag| tag.split('[').next().unwrap_or(tag).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{demo, with_demo};
    use fieldline_debuginfo::types::with_types;

    /// The code that is selected in the demo's program: how many functions, or the error.
    fn selected(selection: &CodeSelection) -> std::result::Result<usize, String> {
        let layouts = |names: &[String]| {
            Ok(with_types(&demo(), None, None, |types| {
                let layouts = names.iter().filter_map(|name| types.layouts(name).ok()?.into_iter().next());
                Ok(layouts.map(|layout| (layout.name.clone(), layout)).collect())
            })?)
        };
        with_demo(|program| {
            let code = select(program, selection, &layouts).map_err(|error| error.to_string())?;
            assert!(code.ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{:?}", code.ranges);
            Ok(code.functions)
        })
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn functions_that_touch_a_struct_are_fewer_than_all() {
        let all = selected(&CodeSelection { symbols: words(&["*"]), ..CodeSelection::default() }).unwrap();
        let types = |names| selected(&CodeSelection { types: words(names), ..CodeSelection::default() });
        let (inbox, both) = (types(&["tx_inbox"]).unwrap(), types(&["tx_inbox", "tx_class"]).unwrap());
        assert!(0 < inbox && inbox < both && both < all, "{inbox} {both} {all}");
    }

    #[test]
    fn what_selects_nothing_is_an_error() {
        let units = CodeSelection { units: words(&["no/such/"]), ..CodeSelection::default() };
        assert!(selected(&units).unwrap_err().contains("no unit's path begins with no/such/"));
        let symbols = CodeSelection { symbols: words(&["no_such_*"]), ..CodeSelection::default() };
        assert!(selected(&symbols).unwrap_err().contains("no function is called no_such_*"));
        let types = CodeSelection { types: words(&["no_such"]), ..CodeSelection::default() };
        assert!(selected(&types).unwrap_err().contains("no unit defines struct no_such"));
        assert!(selected(&CodeSelection::default()).unwrap_err().contains(names::USUAL_UNITS));
    }

    #[test]
    fn units_are_found_by_the_beginning_of_their_path() {
        assert!(is_in("kernel/sched/core.c", "kernel/sched/"));
        assert!(is_in("/build/linux-6.12/kernel/sched/core.c", "kernel/sched/"));
        assert!(is_in("./lib/rbtree.c", "lib/rbtree.c"));
        assert!(!is_in("kernel/scheduler.c", "kernel/sched/") && !is_in("mm/slub.c", "kernel/sched/"));
    }

    #[test]
    fn structs_are_named_without_what_stands_around_their_tag() {
        assert_eq!(struct_name("struct list_head"), "list_head");
        assert_eq!(struct_name("struct rb_node[2]"), "rb_node");
        assert_eq!(struct_name("struct rq *"), "struct rq *");
        assert_eq!(struct_name("int"), "int");
    }
}
