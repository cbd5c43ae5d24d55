//! The declarations of a kernel tree against the debug info of a kernel built from it.

use crate::tools::inputs::{self, with_dwarf};
use crate::tools::shell::print_line;
use anyhow::{Context, Result};
use fieldline_debuginfo::dwarf::{self, Dwarf, TypeReader};
use fieldline_layout::Layout;
use fieldline_source::{
    DeclaredMembers, DefinitionQuery, ExpectedMember, Join, MemberShape, SourceRefusal, SourceText,
    Statement, StructBody, StructDefinition,
};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};

/// Most structs of a tree that may be refused, in percent.
const MAX_REFUSED: usize = 1;
/// Fewer structs than this are no kernel.
const MIN_STRUCTS: usize = 5000;

/// What came of all structs whose declaring file is in the tree.
#[derive(Default)]
struct DeclarationTally {
    /// Body read, names equal and in order.
    equal: usize,
    /// Named members of those.
    members: usize,
    /// Of them, those whose line is the one debug info gives.
    at_line: usize,
    /// The declared order written again gave the same bytes.
    identical: usize,
    refused: BTreeMap<&'static str, Vec<String>>,
    wrong: Vec<String>,
    /// Made by a macro: the file has no definition of that name.
    made: usize,
    /// Declared in a file that the tree doesn't have.
    elsewhere: usize,
}

/// `cargo xtask source [VMLINUX [TREE]]`: reads the declaration of every struct and union that debug info declares in a
/// file of the tree.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let vmlinux = args.first().map_or_else(inputs::vmlinux, |path| Ok(path.into()))?;
    let tree = args.get(1).map_or_else(|| inputs::tree(&vmlinux), |path| Ok(path.into()))?;
    let mut count = DeclarationTally::default();
    for (file, layouts) in with_dwarf(&vmlinux, layouts_by_file)? {
        let Some(path) = in_tree(&tree, &file) else {
            count.elsewhere += layouts.len();
            continue;
        };
        let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let source = SourceText::new(&text);
        for layout in &layouts {
            count.compare_declaration(&source, &text, layout, &path);
        }
    }
    count.print();
    Ok(count.holds())
}

/// All layouts by the file that declares them.
fn layouts_by_file(dwarf: &Dwarf<'_>) -> Result<BTreeMap<String, Vec<Layout>>> {
    let mut reader = TypeReader::new(dwarf);
    let mut files: BTreeMap<String, Vec<Layout>> = BTreeMap::new();
    for definition in dwarf::index_definitions(dwarf)? {
        let id = reader.read(definition.die)?;
        let Some(layout) = Layout::from_type(reader.table(), id) else { continue };
        if let Some(file) = &layout.file {
            files.entry(file.clone()).or_default().push(layout);
        }
    }
    Ok(files)
}

/// The longest end of a declared path that is a file of the tree.
pub(crate) fn in_tree(tree: &Path, declared: &str) -> Option<PathBuf> {
    let mut parts: Vec<&std::ffi::OsStr> = Vec::new();
    for component in Path::new(declared).components() {
        match component {
            Component::Normal(name) => parts.push(name),
            Component::ParentDir => drop(parts.pop()),
            _ => {}
        }
    }
    (0..parts.len()).find_map(|skip| {
        let path = tree.join(parts.iter().skip(skip).collect::<PathBuf>());
        path.is_file().then_some(path)
    })
}

/// What a declaration was found to be: whether the text alone gives the names of members, how many of them are on the line of
/// debug info, and whether their order written again gave the same bytes.
struct DeclarationComparison {
    names_agree: bool,
    at_line: usize,
    is_identical: bool,
}

impl DeclarationTally {
    fn compare_declaration(&mut self, source: &SourceText<'_>, text: &[u8], layout: &Layout, path: &Path) {
        let place = || format!("{}:{} {}", path.display(), layout.line.unwrap_or(0), layout.name);
        match read(source, text, layout) {
            Ok(reading) if reading.names_agree => {
                self.equal += 1;
                self.members += layout.members.iter().filter(|member| member.name.is_some()).count();
                self.at_line += reading.at_line;
                self.identical += usize::from(reading.is_identical);
            }
            Ok(_) => self.wrong.push(place()),
            Err(SourceRefusal::NotFound { .. }) => self.made += 1,
            Err(refusal) => {
                let entry = format!("{}: {refusal}", place());
                self.refused.entry(reason(&refusal)).or_default().push(entry);
            }
        }
    }

    fn refusals(&self) -> usize {
        self.refused.values().map(Vec::len).sum()
    }

    fn print(&self) {
        let found = self.equal + self.refusals() + self.wrong.len();
        for (reason, structs) in &self.refused {
            print_line(&format!("  refused, {reason}: {}", structs.len()));
            structs.iter().for_each(|entry| print_line(&format!("    {entry}")));
        }
        self.wrong.iter().for_each(|entry| print_line(&format!("  wrong: {entry}")));
        print_line(&format!(
            "  {found} structs and unions defined in the tree: {} equal ({:.2} %), {} refused, {} wrong; {} of {} written \
             again byte by byte; {} of {} named members on the line of debug info; {} more made by macros, {} declared outside",
            self.equal,
            100.0 * self.equal as f64 / found.max(1) as f64,
            self.refusals(),
            self.wrong.len(),
            self.identical,
            self.equal,
            self.at_line,
            self.members,
            self.made,
            self.elsewhere
        ));
    }

    fn holds(&self) -> bool {
        let found = self.equal + self.refusals() + self.wrong.len();
        let refused = self.refusals() * 100 <= found * MAX_REFUSED;
        found >= MIN_STRUCTS && refused && self.wrong.is_empty() && self.identical == self.equal
    }
}

fn read(
    source: &SourceText<'_>,
    text: &[u8],
    layout: &Layout,
) -> Result<DeclarationComparison, SourceRefusal> {
    let query = DefinitionQuery::for_name(&layout.name).with_line(layout.line);
    let definition: StructDefinition = source.find(&query)?;
    let body = StructBody::parse(source, &definition)?;
    let member =
        |member: &fieldline_layout::Member| ExpectedMember { name: member.name.clone(), line: member.line };
    let expected: Vec<ExpectedMember> = layout.members.iter().map(member).collect();
    let join = Join::new(&body, &expected)?;
    let declared: Vec<usize> = (0..expected.len()).collect();
    let same = join.reorder(&declared)?.edits.apply(text);
    Ok(DeclarationComparison {
        names_agree: names_agree(&body, &join, &expected),
        at_line: at_line(&body, &join, &expected),
        is_identical: same == text,
    })
}

/// Whether the statements taken for the members declare those names, all of them, in that order. What the text alone
/// doesn't tell (macros) must be one statement a member, or a statement that names it.
fn names_agree(body: &StructBody<'_, '_>, join: &Join<'_, '_, '_>, expected: &[ExpectedMember]) -> bool {
    let mut next = 0;
    for (index, statement) in body.statements().iter().enumerate() {
        let members = join.members_of(index);
        if members.is_empty() {
            continue;
        }
        let Some(run) = expected.get(members.clone()).filter(|_| members.start == next) else { return false };
        next = members.end;
        if let DeclaredMembers::Members(declared) = &statement.declared {
            let kept = declared.iter().filter(|member| member.shape != MemberShape::UnnamedBits);
            let all: Vec<Option<&str>> = kept.clone().map(|member| member.name.as_deref()).collect();
            let sure = kept.filter(|member| !member.is_optional).map(|member| member.name.as_deref());
            let sure: Vec<Option<&str>> = sure.collect();
            let found: Vec<Option<&str>> = run.iter().map(|member| member.name.as_deref()).collect();
            let renamed = || is_renamed(body, statement, &all, run);
            if found != all && found != sure && !renamed() {
                return false;
            }
        }
    }
    next == expected.len()
}

/// Whether a macro gave a member another name (`#define rcu_head callback_head`): the line proves that it is the one.
fn is_renamed(
    body: &StructBody<'_, '_>,
    statement: &Statement,
    names: &[Option<&str>],
    run: &[ExpectedMember],
) -> bool {
    let lines = lines(body, statement);
    let fits = |(name, member): (&Option<&str>, &ExpectedMember)| {
        let is_named = name.is_some() && member.name.is_some();
        is_named && member.line.is_some_and(|line| lines.contains(&line))
    };
    names.len() == run.len() && names.iter().zip(run).all(fits)
}

/// 1-based lines of a statement.
fn lines(body: &StructBody<'_, '_>, statement: &Statement) -> RangeInclusive<u32> {
    let breaks = body.text(statement).iter().filter(|byte| **byte == b'\n').count();
    statement.line..=statement.line.saturating_add(u32::try_from(breaks).unwrap_or(u32::MAX))
}

/// Named members whose statement covers the line that debug info gives them; compilers disagree about unnamed ones.
fn at_line(body: &StructBody<'_, '_>, join: &Join<'_, '_, '_>, expected: &[ExpectedMember]) -> usize {
    let is_there = |(index, member): &(usize, &ExpectedMember)| {
        let statement = join.statement_of(*index);
        let lines = statement.map(|statement| lines(body, statement));
        member.name.is_some() && lines.zip(member.line).is_some_and(|(lines, line)| lines.contains(&line))
    };
    expected.iter().enumerate().filter(is_there).count()
}

fn reason(refusal: &SourceRefusal) -> &'static str {
    match refusal {
        SourceRefusal::Ambiguous { .. } => "several definitions",
        SourceRefusal::AmbiguousBranches { .. } => "several branches fit",
        SourceRefusal::NoBranches { .. } | SourceRefusal::Contradiction { .. } => {
            "no choice of branches fits"
        }
        SourceRefusal::NotDeclared { .. } => "a member is not declared",
        SourceRefusal::Differs { .. } => "a declaration differs",
        SourceRefusal::Unbalanced { .. }
        | SourceRefusal::TooDeep { .. }
        | SourceRefusal::Entangled { .. } => "can't be read",
        _ => "other",
    }
}
