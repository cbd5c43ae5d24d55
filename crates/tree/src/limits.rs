//! Constraints of the source on the order of a struct's members, or why it can't be changed at all.

use crate::code::{CodeReader, Progress, StructCode};
use crate::documents::{self, ListedStruct};
use crate::header::{self, Declaration};
use crate::remarks;
use crate::uses::{self, BuildView, DeclaredStruct, UsesByFile};
use crate::variants;
use anyhow::Result;
use fieldline_layout::Layout;
use fieldline_layout::constraint::{PlacementRequests, shared_layout};
use fieldline_plan::result::{ConditionalMember, Insistence, UseProof, Verdict};
use fieldline_plan::{Plan, PlanRequest, StructPlan};
use fieldline_source::CommentOnPlaces;
use std::path::Path;

/// Most uses that are told of a struct that is refused for them.
const MOST_NOTES_ON_USES: usize = 100;

/// A source tree and how its code is read.
#[derive(Clone, Copy)]
pub struct SourceInput<'t> {
    /// The tree; without one, only debug info constrains orders.
    pub tree: Option<&'t Path>,
    /// The front end, if there is a build; without one, code is read as text.
    pub code: Option<&'t CodeReader>,
    /// A folder for what is kept of large trees between runs, so that the next one reads less.
    pub kept: Option<&'t Path>,
    /// Why orders are wanted though something beside this program depends on them; then that is told, and no refusal.
    pub allowed: Option<&'t str>,
    /// Called while units are read.
    pub progress: &'t (dyn Fn(Progress) + Sync),
}

impl<'t> SourceInput<'t> {
    /// A tree without a build.
    pub fn text(tree: Option<&'t Path>) -> Self {
        Self { tree, code: None, kept: None, allowed: None, progress: &|_| {} }
    }
}

/// The source's requests for a struct, or why it can't be changed there.
/// Fails if the tree has no declaration of it.
pub fn read_requests(tree: Option<&Path>, layout: &Layout) -> Result<(PlacementRequests, Option<String>)> {
    if let Some(tree) = tree {
        header::open(tree, &Declaration::from(layout))?;
    }
    let limits =
        read_limits(&SourceInput::text(tree), std::slice::from_ref(layout))?.pop().unwrap_or_default();
    Ok((limits.requests, limits.refusal))
}

/// Constraints on the order of a struct's members.
#[derive(Clone, Default)]
pub struct SourceLimits {
    /// The requests.
    pub requests: PlacementRequests,
    /// Notes that are no constraints, a sentence each.
    pub notes: Vec<String>,
    /// Members under `#if`.
    pub conditions: Vec<ConditionalMember>,
    /// Comments of the declaration that speak of places, with its file.
    pub comments: (String, Vec<CommentOnPlaces>),
    /// Why the source can't be changed, if so.
    pub refusal: Option<String>,
    /// The proof that the constraints are all there are; none without a tree.
    pub proof: Option<UseProof>,
    /// Uses that depend on the order of members, if it is to change all the same.
    pub insistence: Option<Insistence>,
}

/// Constraints of a tree on structs: by their declarations, and by all code that can know them. A struct
/// whose declaration can't be read has a refusal.
/// Fails if the tree can't be read.
pub fn read_limits(source: &SourceInput<'_>, layouts: &[Layout]) -> Result<Vec<SourceLimits>> {
    let Some(tree) = source.tree else { return Ok(vec![SourceLimits::default(); layouts.len()]) };
    header::check_tree(tree)?;
    let read = layouts.iter().map(|layout| read_declaration(tree, layout)).collect::<Result<_>>()?;
    add_uses((source, tree), layouts, read)
}

/// Constraints by the declaration of a struct, with the path of its file if that was found.
type HeaderLimits = (SourceLimits, Option<String>);

fn read_declaration(tree: &Path, layout: &Layout) -> Result<HeaderLimits> {
    let declaration = Declaration::from(layout);
    let mut limits = SourceLimits::default();
    let header = match header::open(tree, &declaration) {
        Ok(header) => header,
        Err(error) if header::is_special(&error) => return Err(error),
        Err(error) => {
            limits.refusal = Some(format!("{error:#}"));
            return Ok((limits, None));
        }
    };
    match header::read_notes(&header, &declaration) {
        Ok(text) => {
            limits.requests.notes = text.members;
            limits.requests.configurations = variants::smaller_configurations(&text.guards);
            limits.notes = text.notes;
            limits.conditions = conditional_members(text.guards);
            limits.comments = (header.path.clone(), text.comments);
        }
        Err(refusal) => limits.refusal = Some(format!("{}: {refusal}", header.path)),
    }
    Ok((limits, Some(header.path)))
}

/// The members that stand under conditions; `guards` has those of each member.
fn conditional_members(guards: Vec<Vec<String>>) -> Vec<ConditionalMember> {
    let members = guards.into_iter().enumerate().filter(|(_, conditions)| !conditions.is_empty());
    members.map(|(index, conditions)| ConditionalMember { index, conditions }).collect()
}

/// Adds those by the rest of the tree.
fn add_uses(
    (source, tree): (&SourceInput<'_>, &Path),
    layouts: &[Layout],
    read: Vec<HeaderLimits>,
) -> Result<Vec<SourceLimits>> {
    let declared = layouts
        .iter()
        .zip(&read)
        .filter_map(|(layout, (_, header))| Some(DeclaredStruct { layout, header: header.as_deref()? }));
    let declared: Vec<DeclaredStruct<'_>> = declared.collect();
    let listed: Vec<_> = declared.iter().map(|declared| ListedStruct::from(declared.layout)).collect();
    let code = read_code(source, &declared)?;
    let view = source.code.zip(code.first()).map(|(reader, code)| BuildView::new(reader.compiled(), code));
    let (found, documents) = match declared.is_empty() {
        true => (Ok(Vec::new()), Vec::new()),
        false => rayon::join(
            || uses::find_in_tree((tree, source.kept), &declared, view.as_ref()),
            || documents::find_notes(tree, &listed),
        ),
    };
    let (mut found, mut documents, mut code) = (found?.into_iter(), documents.into_iter(), code.into_iter());
    let limits = layouts.iter().zip(read).map(|(layout, (mut limits, header))| {
        if header.is_some() {
            let (found, code) = (found.next().unwrap_or_default(), code.next());
            limits.add_uses(found, code.as_ref(), layout, source.allowed);
            limits.notes.extend(documents.next().unwrap_or_default());
        }
        limits
    });
    Ok(limits.collect())
}

/// Findings of the front end, by struct; nothing without a build.
fn read_code(source: &SourceInput<'_>, declared: &[DeclaredStruct<'_>]) -> Result<Vec<StructCode>> {
    let Some(reader) = source.code else { return Ok(Vec::new()) };
    let structs: Vec<(&Layout, &str)> =
        declared.iter().map(|declared| (declared.layout, declared.header)).collect();
    // Who insists on a new order keeps what else is known to depend on it.
    reader.read(&structs, source.allowed.is_some(), source.progress)
}

impl SourceLimits {
    /// Adds the uses of a struct: what the front end has read, as it found it, and the rest as text.
    fn add_uses(
        &mut self,
        mut found: UsesByFile,
        code: Option<&StructCode>,
        layout: &Layout,
        allowed: Option<&str>,
    ) {
        self.proof = Some(code.map_or(UseProof::Text, |code| UseProof::FrontEnd { units: code.units() }));
        if let Some(code) = code {
            found.retain_places(|path, line| !code.has_read(path, line));
        }
        self.notes.extend(found.add_to(&mut self.requests, layout));
        let Some(code) = code else { return };
        let limits = code.add_to(&mut self.requests, layout);
        self.notes.extend(limits.notes);
        let Some(reason) = allowed else { return self.refuse_whole(&limits.whole) };
        self.requests.is_shared_allowed = true;
        let shared = shared_layout(layout).map(|shared| shared.to_string());
        let uses: Vec<String> = limits.whole.into_iter().chain(shared).collect();
        self.insistence = (!uses.is_empty()).then(|| Insistence { reason: reason.to_owned(), uses });
    }

    /// Refuses a struct for demands on all its members.
    fn refuse_whole(&mut self, demands: &[String]) {
        let Some((first, rest)) = demands.split_first() else { return };
        let more = match rest.len() {
            0 => String::new(),
            1 => ", and another such use".to_owned(),
            count => format!(", and {count} more such uses"),
        };
        self.refusal.get_or_insert(format!("its order is depended on: {first}{more}"));
        self.notes.extend(
            rest.iter().take(MOST_NOTES_ON_USES).map(|demand| format!("its order is depended on: {demand}")),
        );
        let untold = rest.len().saturating_sub(MOST_NOTES_ON_USES);
        self.notes.extend((untold > 0).then(|| format!("its order is depended on in {untold} more places")));
    }
}

/// Adds notes to a plan, and refuses what the source refuses.
pub fn apply_limits(plan: &mut Plan, limits: Vec<SourceLimits>) {
    for (struct_plan, limits) in plan.structs.iter_mut().zip(limits) {
        struct_plan.notes.extend(limits.notes);
        struct_plan.conditions = limits.conditions;
        struct_plan.proof = limits.proof;
        struct_plan.insistence = limits.insistence;
        remarks::add_comments(struct_plan, &limits.comments.0, &limits.comments.1);
        if let Some(reason) = limits.refusal {
            refuse(struct_plan, reason);
        }
    }
}

/// Holds the orders of a plan that was made before against what a tree and its build ask for. What breaks that is
/// refused. `layouts`: those of the plan's structs, where they are known. All are asked for, also those that don't
/// move: what text says of a struct depends on which headers are read beside it, and so on the structs asked for.
/// Fails if the tree can't be read.
pub fn recheck(plan: &mut Plan, source: &SourceInput<'_>, layouts: &[Option<Layout>]) -> Result<()> {
    let known: Vec<Layout> = layouts.iter().flatten().cloned().collect();
    let mut limits = read_limits(source, &known)?.into_iter();
    for (struct_plan, layout) in plan.structs.iter_mut().zip(layouts) {
        let Some(layout) = layout else { continue };
        let limits = limits.next().unwrap_or_default();
        if !struct_plan.changes() {
            continue;
        }
        let request = PlanRequest { layout, requests: &limits.requests };
        let refusal = limits.refusal.or_else(|| request.broken_by(struct_plan));
        struct_plan.proof = limits.proof;
        struct_plan.insistence = limits.insistence;
        if let Some(reason) = refusal {
            refuse(struct_plan, reason);
        }
    }
    Ok(())
}

/// A plan that can't be carried out proposes nothing.
fn refuse(struct_plan: &mut StructPlan, reason: String) {
    struct_plan.verdict = Verdict::Refused { reason };
    struct_plan.chosen = struct_plan.declared.clone();
    struct_plan.moved.clear();
    struct_plan.candidates.clear();
    struct_plan.forecasts.clear();
    struct_plan.sizes.clear();
    struct_plan.builds.clear();
    struct_plan.groups.clear();
    struct_plan.comments.clear();
    struct_plan.search = None;
    struct_plan.confidence = None;
    struct_plan.terms.clear();
}
