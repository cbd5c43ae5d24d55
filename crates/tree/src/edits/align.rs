//! Alignments of planned structs within their holder, written into its declaration.

use super::patches::{PatchSet, PatchStep, PatchSubject};
use crate::header::{self, Declaration, Header, HeaderChange};
use anyhow::{Result, anyhow, bail};
use fieldline_layout::Layout;
use fieldline_plan::StructPlan;
use fieldline_plan::result::{AlignedPart, Together};
use fieldline_source::{EditOverlap, Edits, MemberAnnotation};
use std::path::Path;

/// Where kernel trees define the short form of the attribute, the newest place first.
const DEFINED_IN: [&str; 4] = [
    "include/linux/compiler_attributes.h",
    "include/linux/compiler_types.h",
    "include/linux/compiler-gcc.h",
    "include/linux/compiler.h",
];
/// How its definition begins.
const DEFINITION: &[u8] = b"#define __aligned(";

/// Why members of a struct can't be aligned in its declaration; `None` if they can.
pub(crate) fn find_obstacle(tree: &Path, holder: &Layout, members: &[usize]) -> Option<String> {
    let aligned: Vec<(usize, u64)> = members.iter().map(|member| (*member, 1)).collect();
    align(tree, &Declaration::from(holder), &aligned).err().map(|error| format!("{error:#}"))
}

/// The header that declares a struct, and the edits that align some of its members, each to so many bytes.
fn align(tree: &Path, declaration: &Declaration, aligned: &[(usize, u64)]) -> Result<(Header, Edits)> {
    let header = header::open(tree, declaration)?;
    let annotation = |(member, to): &(usize, u64)| MemberAnnotation {
        member: *member,
        comment: None,
        attribute: Some(attribute(tree, *to)),
    };
    let annotations: Vec<MemberAnnotation> = aligned.iter().map(annotation).collect();
    let done = header::with_join(&header, declaration, |join| join.annotate(&annotations))
        .map_err(|refusal| anyhow!("{}: {refusal}", header.path))?;
    if let Some((member, reason)) = done.without_attribute.first() {
        let name = declaration.members.get(*member).and_then(|member| member.0.as_deref());
        bail!("{}: {}: {reason}", header.path, name.unwrap_or("(anonymous)"));
    }
    Ok((header, done.edits))
}

/// The attribute that aligns a member to so many bytes, as the tree writes it.
fn attribute(tree: &Path, to: u64) -> String {
    let defines = |path: &str| {
        let text = fieldline_files::read(&tree.join(path)).unwrap_or_default();
        memchr::memmem::find(&text, DEFINITION).is_some()
    };
    match DEFINED_IN.iter().any(|path| defines(path)) {
        true => format!("__aligned({to})"),
        false => format!("__attribute__((aligned({to})))"),
    }
}

/// Adds the alignments of a holder, if all orders that they were judged with are in the patch.
pub(super) fn add_holder(
    changes: &mut Vec<HeaderChange>,
    patched: &mut PatchSet,
    (found, structs): (&Together, &[StructPlan]),
    tree: &Path,
) -> Result<()> {
    let Some(holder) = StructPlan::of_holder(found) else { return Ok(()) };
    let is_patched = |name: &str| patched.steps.iter().any(|step| step.name() == Some(name));
    let changes_order = |name: &str| structs.iter().any(|own| own.name == name && own.changes());
    let missing = found.parts.iter().find(|part| changes_order(&part.name) && !is_patched(&part.name));
    if let Some(part) = missing {
        let reason = format!("it is aligned for the planned order of struct {}, which is refused", part.name);
        patched.refusals.push((holder.name, reason));
        return Ok(());
    }
    let (header, edits) = match align(tree, &Declaration::from(&holder), &holder.aligned) {
        Ok(done) => done,
        Err(error) if header::is_special(&error) => return Err(error),
        Err(error) => {
            patched.refusals.push((holder.name, format!("{error:#}")));
            return Ok(());
        }
    };
    let path = header.path.clone();
    let file = match header::add_change(changes, header, &edits, None) {
        Err(error) if error.is::<EditOverlap>() => {
            let reason = "its declaration stands inside that of another struct that moves";
            patched.refusals.push((holder.name, format!("{path}: {reason}")));
            return Ok(());
        }
        file => file?,
    };
    let subject = PatchSubject::Alignment(found.holder.clone());
    let notes: Vec<String> = found.aligned.iter().map(|aligned| describe(found, aligned)).collect();
    patched.notes.extend(notes.iter().map(|note| format!("{path}: {note}")));
    patched.steps.push(PatchStep { subject, files: vec![file], notes, ..PatchStep::default() });
    Ok(())
}

/// The reason of an alignment, a sentence without its full stop.
fn describe(found: &Together, aligned: &AlignedPart) -> String {
    let Together { holder, before, after, .. } = found;
    let AlignedPart { member, to, padding, .. } = aligned;
    let cost = match padding {
        0 => format!("struct {holder} has {after} bytes with and without that"),
        _ => format!("{padding} of the {after} bytes of struct {holder} are for that"),
    };
    format!("{member} begins at a multiple of {to} bytes; {cost}, and {before} bytes are declared")
}
