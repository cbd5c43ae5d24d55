//! The declarations of a kernel tree against the debug info of a kernel built from it.

use crate::tools::inputs::{self, with_dwarf};
use crate::tools::shell::print_line;
use anyhow::{Context, Result};
use fieldline_debuginfo::dwarf::Dwarf;
use fieldline_layout::{Layout, Member};
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

/// Counts of structs by how their declaration compares with debug info.
#[derive(Default)]
struct Tally {
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
    let mut tally = Tally::default();
    for (file, layouts) in with_dwarf(&vmlinux, layouts_by_file)? {
        let Some(path) = in_tree(&tree, &file) else {
            tally.elsewhere += layouts.len();
            continue;
        };
        let text = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let source = SourceText::new(&text);
        layouts.iter().for_each(|layout| tally.add(&source, &text, layout, &path));
    }
    tally.print();
    Ok(tally.holds())
}

/// All layouts by the file that declares them.
fn layouts_by_file(dwarf: &Dwarf<'_>) -> Result<BTreeMap<String, Vec<Layout>>> {
    let mut files: BTreeMap<String, Vec<Layout>> = BTreeMap::new();
    for layout in inputs::layouts(dwarf)? {
        let layout = layout?;
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

/// A declaration against debug info.
struct Comparison {
    names_agree: bool,
    /// Members on the line that debug info gives.
    at_line: usize,
    /// The declared order written again gave the same bytes.
    is_identical: bool,
}

impl Tally {
    fn add(&mut self, source: &SourceText<'_>, text: &[u8], layout: &Layout, path: &Path) {
        let entry = format!("{}:{} {}", path.display(), layout.line.unwrap_or(0), layout.name);
        match compare(source, text, layout) {
            Ok(comparison) if comparison.names_agree => {
                self.equal += 1;
                self.members += layout.members.iter().filter(|member| member.name.is_some()).count();
                self.at_line += comparison.at_line;
                self.identical += usize::from(comparison.is_identical);
            }
            Ok(_) => self.wrong.push(entry),
            Err(SourceRefusal::NotFound { .. }) => self.made += 1,
            Err(refusal) => {
                self.refused.entry(reason(&refusal)).or_default().push(format!("{entry}: {refusal}"));
            }
        }
    }

    /// How many are refused, and how many the tree defines.
    fn totals(&self) -> (usize, usize) {
        let refused = self.refused.values().map(Vec::len).sum();
        (refused, self.equal + refused + self.wrong.len())
    }

    fn print(&self) {
        for (reason, structs) in &self.refused {
            print_line!("  refused, {reason}: {}", structs.len());
            structs.iter().for_each(|entry| print_line!("    {entry}"));
        }
        self.wrong.iter().for_each(|entry| print_line!("  wrong: {entry}"));
        let Self { equal, members, at_line, identical, made, elsewhere, .. } = self;
        let ((refused, found), wrong) = (self.totals(), self.wrong.len());
        let share = 100.0 * *equal as f64 / found.max(1) as f64;
        print_line!(
            "  {found} structs and unions defined in the tree: {equal} equal ({share:.2} %), {refused} refused, {wrong} wrong; \
             {identical} of {equal} written again byte by byte; {at_line} of {members} named members on the line of debug \
             info; {made} more made by macros, {elsewhere} declared outside"
        );
    }

    fn holds(&self) -> bool {
        let (refused, found) = self.totals();
        let are_few = refused * 100 <= found * MAX_REFUSED;
        found >= MIN_STRUCTS && are_few && self.wrong.is_empty() && self.identical == self.equal
    }
}

fn compare(source: &SourceText<'_>, text: &[u8], layout: &Layout) -> Result<Comparison, SourceRefusal> {
    let query = DefinitionQuery::for_name(&layout.name).with_line(layout.line);
    let definition: StructDefinition = source.find(&query)?;
    let body = StructBody::parse(source, &definition)?;
    let expected = |member: &Member| ExpectedMember {
        name: member.name.clone(),
        line: member.line,
        is_inherited: member.is_inherited(),
    };
    let expected: Vec<ExpectedMember> = layout.members.iter().map(expected).collect();
    let join = Join::new(&body, &expected)?;
    let declared: Vec<usize> = (0..expected.len()).collect();
    let is_identical = join.reorder(&declared)?.edits.apply(text) == text;
    let (names_agree, at_line) = (names_agree(&body, &join, &expected), at_line(&body, &join, &expected));
    Ok(Comparison { names_agree, at_line, is_identical })
}

/// Whether the statements joined with the members declare those names, all of them, in that order. A macro must be one
/// statement of one member, or name it.
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
            let certain = kept.filter(|member| !member.is_optional).map(|member| member.name.as_deref());
            let names = run.iter().map(|member| member.name.as_deref());
            let is_equal = names.clone().eq(all.iter().copied()) || names.eq(certain);
            if !is_equal && !is_renamed(&lines(body, statement), &all, run) {
                return false;
            }
        }
    }
    next == expected.len()
}

/// Whether a macro gave a member another name (`#define rcu_head callback_head`): the lines agree.
fn is_renamed(lines: &RangeInclusive<u32>, names: &[Option<&str>], run: &[ExpectedMember]) -> bool {
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
        let lines = join.statement_of(*index).map(|statement| lines(body, statement));
        member.name.is_some() && lines.zip(member.line).is_some_and(|(lines, line)| lines.contains(&line))
    };
    expected.iter().enumerate().filter(is_there).count()
}

fn reason(refusal: &SourceRefusal) -> &'static str {
    use SourceRefusal as Refusal;
    match refusal {
        Refusal::Ambiguous { .. } => "several definitions",
        Refusal::AmbiguousBranches { .. } => "several branches fit",
        Refusal::NoBranches { .. } | Refusal::Contradiction { .. } => "no choice of branches fits",
        Refusal::NotDeclared { .. } => "a member is not declared",
        Refusal::Differs { .. } => "a declaration differs",
        Refusal::Unbalanced { .. } | Refusal::TooDeep { .. } | Refusal::Entangled { .. } => "can't be read",
        _ => "other",
    }
}
