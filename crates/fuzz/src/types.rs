//! Types: ELF files with DWARF, and BTF.

use fieldline_debuginfo::btf::{self, Btf};
use fieldline_debuginfo::dwarf::{self, DebugSections, Dwarf, LazyDwarf, TypeReader};
use fieldline_debuginfo::{Elf, FileBytes, LinkedAddress, Result, module};
use fieldline_layout::constraint::{PlacementRequests, constraints};
use fieldline_layout::{Layout, Member, TypeTable, abi, declaration};
use fieldline_typeflow::operands::program_operands::ProgramOperands;
use fieldline_typeflow::program::Program;

/// Most types, and most offsets of each, that are read.
const MAX_TYPES: usize = 512;
/// Members, nested ones included, after which no more layouts are read. A layout may have 65 536, and a few bytes make
/// one more type that has as many.
const MAX_MEMBERS: usize = 1 << 18;
/// Most names that are searched, each of which goes over all types.
const MAX_NAMES: usize = 8;

/// A program, object or module: every type, and the operands of its code.
pub fn dwarf(bytes: &[u8]) {
    let file = FileBytes::from_vec("fuzzed.ko", bytes.to_vec());
    let _ = program(&file);
    if let Ok(Some(linked)) = module::link_module(&file) {
        let _ = program(&linked);
    }
}

fn program(file: &FileBytes) -> Result<()> {
    let elf = Elf::parse(file)?;
    headers(&elf);
    if let Ok(Some(section)) = elf.section(".BTF") {
        btf(&section);
    }
    let sections = DebugSections::load(&elf, None)?;
    let _ = lazy(&sections);
    let dwarf = Dwarf::new(&sections)?;
    types(&dwarf)?;
    let mut program = Program::new(&elf, &dwarf)?;
    program.load_all();
    let functions = program.symbols.iter().filter(|symbol| symbol.is_function);
    let functions = functions.map(|symbol| LinkedAddress(symbol.address)).take(MAX_TYPES);
    let functions: Vec<LinkedAddress> = functions.collect();
    let answers = ProgramOperands::new(&program, &functions[..].into());
    std::hint::black_box(answers.functions.len());
    Ok(())
}

fn headers(elf: &Elf<'_>) {
    let _ = (elf.alt_link(), elf.debug_link(), elf.build_id(), elf.got_entries(), elf.thread_local_size());
    let _ = (elf.segments(), elf.text_sections(), elf.data_sections(), elf.bytes_at(0, 16));
}

fn lazy(sections: &DebugSections<'_>) -> Result<()> {
    let lazy = LazyDwarf::new(sections)?;
    let _ = dwarf::has_types_beyond_btf(lazy.first_units());
    let _ = lazy.find_first_many(&["torture", "list_head", "box"])?;
    let _ = lazy.find_typedefs(&["u64", "size_t"])?;
    Ok(())
}

fn types(dwarf: &Dwarf<'_>) -> Result<()> {
    let all = dwarf::index_definitions(dwarf)?;
    let names: Vec<&str> = all.iter().map(|definition| definition.name.as_ref()).take(MAX_TYPES).collect();
    let _ = dwarf::find_many(dwarf, &names)?;
    let mut reader = TypeReader::new(dwarf);
    for definition in all.iter().take(MAX_TYPES) {
        let _ = dwarf.path_of(definition.die);
        let _ = reader.read(definition.die)?;
    }
    show(reader.table());
    Ok(())
}

/// BTF as in /sys/kernel/btf: every type, by itself and as split BTF with itself as the base.
pub fn btf(bytes: &[u8]) {
    let Ok(base) = btf::parse(bytes, None) else { return };
    read_btf(&base);
    if let Ok(split) = btf::parse(bytes, Some(&base)) {
        read_btf(&split);
    }
}

fn read_btf(btf: &Btf<'_>) {
    for found in btf.definitions().take(MAX_NAMES) {
        let _ = btf.find(&String::from_utf8_lossy(found.name));
        let _ = btf.find_kind("box", btf::BtfKind::is_aggregate);
        let _ = (btf.resolve_aggregate(found.id), btf.holders(&[found.id]));
    }
    let mut table = TypeTable::new(btf.target());
    let mut reader = btf::BtfReader::new(btf);
    for id in btf.ids() {
        let _ = reader.read(id, &mut table);
    }
    show(&table);
}

/// Reads every type as `layout` does and as planning begins.
fn show(table: &TypeTable) {
    let mut members = 0;
    for (id, _) in table.iter().take(MAX_TYPES) {
        let _ = declaration::declare(table, id, "it");
        let Some(layout) = Layout::from_type(table, id) else { continue };
        members += layout.members.iter().map(count_nested).sum::<usize>();
        if members > MAX_MEMBERS {
            return;
        }
        let _ = (layout.fingerprint(), abi::find_mismatch(&layout), layout.cachelines(64));
        for offset in (0..layout.size).take(MAX_TYPES) {
            let _ = layout.path_at(offset);
        }
        if let Ok(units) = constraints(&layout, &PlacementRequests::default()) {
            let order = units.member_order(&units.initial_order());
            let _ = abi::reorder(&layout, &order);
        }
        let _ = serde_json::to_vec(&layout);
    }
}

/// Number of a member and all nested ones.
fn count_nested(member: &Member) -> usize {
    1 + member.members.iter().map(count_nested).sum::<usize>()
}
