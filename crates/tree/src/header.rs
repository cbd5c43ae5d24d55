//! The source tree a program was built from: the file that declares a struct, what its text allows, and its
//! edits.

use anyhow::{Context, Result, bail};
use fieldline_files::UnreadableKind;
use fieldline_layout::constraint::MemberNote;
use fieldline_layout::layout::Layout;
use fieldline_layout::types::split_namespace;
use fieldline_plan::StructPlan;
use fieldline_source::{
    CommentOnPlaces, DefinitionQuery, Edits, ExpectedMember, Join, SourceRefusal, SourceText, StructBody,
    startup,
};
use std::path::{Component, Path, PathBuf};

/// A file of the tree that declares a struct.
#[derive(Clone, Debug)]
pub struct Header {
    /// Path from the top of the tree, with `/`.
    pub path: String,
    /// Its content.
    pub text: Vec<u8>,
}

/// A struct's declaration as debug info has it.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The struct's tag.
    pub name: String,
    /// The file that declares it, as the compiler recorded it.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
    /// Name and line of each top-level member in declared order.
    pub members: Vec<(Option<String>, Option<u32>)>,
    /// How many of them come first that the text doesn't declare: base classes, the pointer to virtual functions.
    pub inherited: usize,
}

impl From<&Layout> for Declaration {
    fn from(layout: &Layout) -> Self {
        let members = layout.members.iter().map(|member| (member.name.clone(), member.line)).collect();
        Self {
            name: split_namespace(&layout.name).1.to_owned(),
            file: layout.file.clone(),
            line: layout.line,
            members,
            inherited: layout.members.iter().take_while(|member| member.is_inherited()).count(),
        }
    }
}

impl From<&StructPlan> for Declaration {
    fn from(struct_plan: &StructPlan) -> Self {
        let members =
            struct_plan.declared.members.iter().map(|member| (member.name.clone(), member.line)).collect();
        Self {
            name: split_namespace(&struct_plan.name).1.to_owned(),
            file: struct_plan.file.clone(),
            line: struct_plan.line,
            members,
            inherited: struct_plan.declared.members.iter().take_while(|member| member.inherited).count(),
        }
    }
}

/// Fails unless there is a folder where the tree should be.
pub fn check_tree(tree: &Path) -> Result<()> {
    if !tree.is_dir() {
        bail!("{}: no folder with a source tree", tree.display());
    }
    Ok(())
}

/// Whether a file couldn't be read because it is a pipe or a device: that is no answer about a struct.
pub(crate) fn is_special(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| UnreadableKind::in_error(cause).is_some())
}

/// Finds and reads the file that declares a struct.
pub fn open(tree: &Path, declaration: &Declaration) -> Result<Header> {
    check_tree(tree)?;
    let (top, name) = (tree.display(), &declaration.name);
    let declared = declaration.file.as_deref().with_context(|| {
        format!("struct {name}: debug info does not say which file declares it (BTF never does)")
    })?;
    let path = find_file(tree, declared).with_context(|| {
        format!("{top}: struct {name} is declared in {declared}, which is not in this tree")
    })?;
    let text =
        fieldline_files::read(&tree.join(&path)).with_context(|| tree.join(&path).display().to_string())?;
    let header = Header { path: normalize(&path).join("/"), text };
    let query = definition_query(declaration);
    if let Err(refusal @ SourceRefusal::NotFound { .. }) = SourceText::new(&header.text).find(&query) {
        bail!("{}: {refusal}", tree.join(&path).display());
    }
    Ok(header)
}

/// The longest end of a declared path that is a file of the tree: compilers record paths of the build
/// machine.
pub(crate) fn find_file(tree: &Path, declared: &str) -> Option<PathBuf> {
    let parts = normalize(Path::new(declared));
    (0..parts.len()).find_map(|skip| {
        let path: PathBuf = parts[skip..].iter().collect();
        // What is special is found too, so that opening it says what it is.
        std::fs::metadata(tree.join(&path)).is_ok_and(|data| !data.is_dir()).then_some(path)
    })
}

/// Names of a path without `.` and with `..` taken back.
fn normalize(path: &Path) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => {
                parts.pop();
            }
            _ => {}
        }
    }
    parts
}

/// The query for the definition of a declared struct.
pub(crate) fn definition_query(declaration: &Declaration) -> DefinitionQuery {
    DefinitionQuery::for_name(&declaration.name).with_line(declaration.line)
}

fn expected_members(declaration: &Declaration) -> Vec<ExpectedMember> {
    let member = |(index, (name, line)): (usize, &(Option<String>, Option<u32>))| {
        let member = name.as_deref().map_or_else(ExpectedMember::unnamed, ExpectedMember::named);
        ExpectedMember { is_inherited: index < declaration.inherited, ..member.with_line(*line) }
    };
    declaration.members.iter().enumerate().map(member).collect()
}

/// Facts of a declaration's text.
#[derive(Clone, Debug, Default)]
pub struct TextNotes {
    /// On each member, for the planner.
    pub members: Vec<MemberNote>,
    /// For readers, a sentence each.
    pub notes: Vec<String>,
    /// Comments that speak of places without a demand.
    pub comments: Vec<CommentOnPlaces>,
    /// The `#if` conditions around each member, outermost first.
    pub guards: Vec<Vec<String>>,
}

/// Facts of the text about each member, and about places.
pub fn read_notes(header: &Header, declaration: &Declaration) -> Result<TextNotes, SourceRefusal> {
    with_join(header, declaration, |join| {
        let mut constraints = join.constraints();
        let note = |position: &fieldline_source::MemberTextPosition| MemberNote {
            unit: u32::try_from(position.unit).ok(),
            guard: u32::try_from(position.guard).ok(),
            region: Some(position.zone),
            paragraph: Some(position.paragraph),
            is_under_comment: position.is_under_comment,
            immovable: position
                .fixed
                .as_ref()
                .map(|fixed| format!("{} ({}:{})", fixed.reason, header.path, fixed.line)),
        };
        Ok(TextNotes {
            members: constraints.members.iter().map(note).collect(),
            notes: find_notes(&header.path, join, &constraints),
            guards: spell_guards(&constraints),
            comments: std::mem::take(&mut constraints.comments),
        })
    })
}

/// The `#if` conditions around each member, outermost first.
pub fn read_guards(header: &Header, declaration: &Declaration) -> Result<Vec<Vec<String>>, SourceRefusal> {
    with_join(header, declaration, |join| Ok(spell_guards(&join.constraints())))
}

fn spell_guards(constraints: &fieldline_source::TextConstraints) -> Vec<Vec<String>> {
    let spell = |literal: &fieldline_source::ConditionLiteral| {
        if literal.holds { literal.atom.clone() } else { format!("not {}", literal.atom) }
    };
    let texts = |guard: usize| constraints.guards.get(guard).into_iter().flatten().map(spell).collect();
    constraints.members.iter().map(|member| texts(member.guard)).collect()
}

/// Notes on macros and lines that keep members together, shuffle them, or keep them under a condition.
fn find_notes(
    path: &str,
    join: &Join<'_, '_, '_>,
    constraints: &fieldline_source::TextConstraints,
) -> Vec<String> {
    let mut notes = Vec::new();
    let definition = join.body().definition();
    if definition.attributes.iter().any(|attribute| attribute == "__randomize_layout") {
        let what = "where CONFIG_RANDSTRUCT is set the compiler shuffles its members";
        notes.push(format!("{path}:{}: {what}", definition.line));
    }
    for unit in constraints.units.iter().filter(|unit| unit.members.len() > 1) {
        let members = constraints.members.get(unit.members.clone()).unwrap_or_default();
        let labels: Vec<&str> = members.iter().map(|member| member.label.as_str()).collect();
        let reason = unit.unit_reason.reason();
        notes.push(format!("{path}:{}: {} move as one: {reason}", unit.line, labels.join(", ")));
    }
    for statement in join.body().statements() {
        let text = String::from_utf8_lossy(join.body().text(statement));
        let name = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        if name.contains("struct_group") {
            notes.push(format!("{path}:{}: the members of a {name} move as one", statement.line));
        } else if name.starts_with("randomized_struct_fields") {
            notes.push(format!("{path}:{}: no member passes {name}", statement.line));
        }
    }
    let mut guarded = constraints.members.iter().filter(|member| member.guard > 0).map(|member| member.line);
    if let Some(first) = guarded.next() {
        let count = guarded.count() + 1;
        let what = "members stay under their #if conditions, wherever they move";
        notes.push(format!("{path}:{first}: {count} {what}"));
    }
    notes
}

/// Works on the text of a declaration, joined with the members of debug info.
pub fn with_join<T>(
    header: &Header,
    declaration: &Declaration,
    work: impl FnOnce(&Join<'_, '_, '_>) -> Result<T, SourceRefusal>,
) -> Result<T, SourceRefusal> {
    let source = SourceText::new(&header.text);
    let definition = source.find(&definition_query(declaration))?;
    let body = StructBody::parse(&source, &definition)?;
    work(&Join::new(&body, &expected_members(declaration))?)
}

/// A function that checks a struct's groups.
#[derive(Clone, Debug)]
pub struct GroupCheck {
    /// The function that calls it; none if it is an initcall of its own.
    pub caller: Option<String>,
    /// Its text.
    pub definition: String,
    /// A call of it.
    pub call: String,
}

/// One file's change.
#[derive(Clone, Debug)]
pub struct HeaderChange {
    /// The file as it is.
    pub header: Header,
    /// The edits.
    pub edits: Edits,
    /// Functions added to the edited text.
    checks: Vec<GroupCheck>,
}

impl HeaderChange {
    /// The change as a unified diff.
    pub fn diff(&self) -> Result<Vec<u8>> {
        Ok(fieldline_source::diff::unified(&self.header.path, &self.header.text, &self.text()?))
    }

    /// The whole new text.
    pub fn text(&self) -> Result<Vec<u8>> {
        let mut text = self.edits.apply(&self.header.text);
        for check in &self.checks {
            let edits = match &check.caller {
                Some(caller) => startup::insert_call(&text, caller, &check.definition, &check.call)
                    .with_context(|| self.header.path.clone())?,
                None => startup::append_function(&text, &check.definition),
            };
            text = edits.apply(&text);
        }
        Ok(text)
    }
}

/// A file before and after a step.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// From the top of the tree.
    pub path: String,
    /// The text before.
    pub old: Vec<u8>,
    /// The text after.
    pub new: Vec<u8>,
}

/// Adds edits and a check to the changes, one change a file.
pub fn add_change(
    changes: &mut Vec<HeaderChange>,
    header: Header,
    edits: &Edits,
    check: Option<GroupCheck>,
) -> Result<FileChange> {
    let path = header.path.clone();
    if !changes.iter().any(|change| change.header.path == path) {
        changes.push(HeaderChange { header, edits: Edits::default(), checks: Vec::new() });
    }
    let change =
        changes.iter_mut().find(|change| change.header.path == path).context("a change of the file")?;
    let old = change.text()?;
    change.edits.merge(edits).with_context(|| path.clone())?;
    change.checks.extend(check);
    Ok(FileChange { path, old, new: change.text()? })
}

/// The text of a file as changed so far.
pub fn current_text(changes: &[HeaderChange], header: &Header) -> Result<Vec<u8>> {
    match changes.iter().find(|change| change.header.path == header.path) {
        Some(change) => change.text(),
        None => Ok(header.text.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_build_machine_are_found_by_their_end() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tree.path().join("include/linux")).unwrap();
        std::fs::write(tree.path().join("include/linux/list.h"), "").unwrap();
        for declared in [
            "include/linux/list.h",
            "./include/linux/list.h",
            "/build/linux-6.1/debian/build/../../include/linux/list.h",
        ] {
            assert_eq!(
                find_file(tree.path(), declared),
                Some(PathBuf::from("include/linux/list.h")),
                "{declared}"
            );
        }
        assert_eq!(find_file(tree.path(), "include/linux/other.h"), None);
    }
}
