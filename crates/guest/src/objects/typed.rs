//! Objects out of allocations and variables: typed, for each CPU, with what lies in them.

use super::GuestObject;
use super::allocations::Allocation;
use super::parts::{Part, is_wanted, parts};
use super::statics::{StaticVariable, static_variables};
use crate::error::Result;
use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::types::{DefinitionReader, with_types};
use fieldline_layout::types::TypeId;
use fieldline_typeflow::operands::returned::returned_types;
use fieldline_typeflow::program::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where the kernel and its CPUs' data lie in the guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelPlace {
    /// How far from its linked address the kernel lies.
    pub(crate) moved: u64,
    /// The distance of each CPU's data.
    pub(crate) cpu_offsets: Vec<u64>,
    /// Nanoseconds at which the window began.
    pub(crate) window: u64,
}

/// An object before it is known what lies in it.
struct Root {
    address: u64,
    type_name: String,
    /// Bytes that are there.
    size: u64,
    /// Bytes of the type.
    type_size: u64,
    name: String,
    begin: Option<u64>,
    end: Option<u64>,
    cpu: Option<usize>,
}

/// All objects of the window, of the types that are wanted or hold such, by address.
pub(crate) fn objects<'a>(
    program: &'a Program<'a>,
    vmlinux: &Path,
    allocations: &[Allocation],
    place: &KernelPlace,
    wanted: &[String],
) -> Result<Vec<GuestObject>> {
    let mut roots = allocated(program, allocations, place);
    roots.extend(static_variables(program).iter().flat_map(|variable| of_variable(program, variable, place)));
    let names: BTreeSet<&str> = roots.iter().map(|root| root.type_name.as_str()).collect();
    let mut parts = read_parts(vmlinux, &names.into_iter().collect::<Vec<_>>(), wanted)?;
    let mut all: Vec<GuestObject> = Vec::new();
    for root in &roots {
        let key = (root.type_name.clone(), root.type_size);
        add_object(&mut all, root, parts.entry(key).or_default(), wanted);
    }
    all.sort();
    all.dedup();
    Ok(all)
}

/// Objects that were allocated, by what the callers of the allocators do with them.
fn allocated<'a>(program: &'a Program<'a>, allocations: &[Allocation], place: &KernelPlace) -> Vec<Root> {
    let linked = |caller: &LinkedAddress| LinkedAddress(caller.0.wrapping_sub(place.moved));
    let callers: BTreeSet<LinkedAddress> =
        allocations.iter().flat_map(|allocation| &allocation.callers).map(linked).collect();
    let types = returned_types(program, &callers.into_iter().collect::<Vec<_>>());
    let mut roots = Vec::new();
    for allocation in allocations {
        // A struct whose end depends on the machine is allocated without what the machine lacks.
        let fits = |size: u64| allocation.size == 0 || size / 2 <= allocation.size;
        let mut typed = allocation.callers.iter().filter_map(|caller| {
            let entry = types.get(&linked(caller)).filter(|entry| fits(entry.name.size))?;
            Some((linked(caller), &entry.name))
        });
        let Some((caller, entry)) = typed.next() else { continue };
        let name = program.symbols.function_at(LinkedAddress(caller.0.saturating_sub(1)));
        let name = name.map_or_else(|| format!("{:#x}", caller.0), |symbol| symbol.name.to_owned());
        let begin = Some(allocation.begin).filter(|begin| *begin > place.window);
        let (type_name, type_size, end) = (entry.name.clone(), entry.size, allocation.end);
        let size = if allocation.size == 0 { type_size } else { type_size.min(allocation.size) };
        let root = |address, cpu| {
            let (type_name, name) = (type_name.clone(), name.clone());
            Root { address, type_name, size, type_size, name, begin, end, cpu }
        };
        if allocation.is_per_cpu {
            let offsets = place.cpu_offsets.iter().enumerate();
            roots.extend(
                offsets.map(|(cpu, offset)| root(allocation.address.wrapping_add(*offset), Some(cpu))),
            );
        } else {
            roots.push(root(allocation.address, None));
        }
    }
    roots
}

/// The objects that a variable is: one, an array, or one for each CPU.
fn of_variable(program: &Program<'_>, variable: &StaticVariable, place: &KernelPlace) -> Vec<Root> {
    // Data of CPUs that are linked at 0 stay there: only distances from them are used.
    let is_moved = !variable.is_per_cpu || program.per_cpu.range.start.0 >> 63 != 0;
    let address = variable.address.0.wrapping_add(if is_moved { place.moved } else { 0 });
    let bases: Vec<(Option<usize>, u64)> = if variable.is_per_cpu {
        let offsets = place.cpu_offsets.iter().enumerate();
        offsets.map(|(cpu, offset)| (Some(cpu), address.wrapping_add(*offset))).collect()
    } else {
        vec![(None, address)]
    };
    let mut roots = Vec::new();
    for (cpu, base) in bases {
        for index in 0..variable.count {
            let name = if variable.count > 1 {
                format!("{}[{index}]", variable.name)
            } else {
                variable.name.clone()
            };
            let (type_name, size) = (variable.type_name.clone(), variable.size);
            let (address, begin, end) = (base + index * size, None, None);
            roots.push(Root { address, type_name, size, type_size: size, name, begin, end, cpu });
        }
    }
    roots
}

fn add_object(all: &mut Vec<GuestObject>, root: &Root, parts: &[Part], wanted: &[String]) {
    let Root { address, size, begin, end, cpu, .. } = *root;
    if is_wanted(&root.type_name, size, wanted) {
        let (type_name, name) = (root.type_name.clone(), root.name.clone());
        all.push(GuestObject { address, type_name, size, name, begin, end, cpu });
    }
    let parts = parts.iter().filter(|part| part.offset + part.size <= size);
    all.extend(parts.map(|part| GuestObject {
        address: address + part.offset,
        type_name: part.type_name.clone(),
        size: part.size,
        name: format!("{}.{}", root.name, part.path),
        begin,
        end,
        cpu,
    }));
}

/// The parts of some structs, by name and size.
fn read_parts(
    vmlinux: &Path,
    names: &[&str],
    wanted: &[String],
) -> Result<BTreeMap<(String, u64), Vec<Part>>> {
    Ok(with_types(vmlinux, None, None, |types| {
        let definitions = types.find_many(names)?;
        let entries: Vec<_> = definitions.iter().flatten().cloned().collect();
        let mut reader = types.reader(&entries)?;
        let mut ids: Vec<(String, TypeId)> = Vec::new();
        for (name, entries) in names.iter().zip(&definitions) {
            for entry in entries.iter().filter(|entry| !entry.is_typedef) {
                ids.push(((*name).to_owned(), reader.read(entry)?));
            }
        }
        Ok(parts_by_name(&reader, ids, wanted))
    })?)
}

fn parts_by_name(
    reader: &DefinitionReader<'_, '_>,
    ids: Vec<(String, TypeId)>,
    wanted: &[String],
) -> BTreeMap<(String, u64), Vec<Part>> {
    let table = reader.table();
    let mut found = BTreeMap::new();
    for (name, id) in ids {
        let key = (name, table.size_of(id));
        found.entry(key).or_insert_with(|| parts(table, id, wanted));
    }
    found
}
