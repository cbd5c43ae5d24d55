//! A parsed unit.

use super::cursor::Cursor;
use super::kind::{Kind, kind};
use super::library::{Index, Library};
use super::place::{Place, expansion};
use super::text::owned;
use clang_sys::{
    CXChildVisit_Continue, CXChildVisit_Recurse, CXChildVisitResult, CXClientData, CXCursor,
    CXDiagnostic_Error, CXError_Success, CXFile, CXSourceLocation, CXSourceRange, CXTranslationUnit,
    CXTranslationUnit_DetailedPreprocessingRecord, CXTranslationUnit_KeepGoing, clang_TargetInfo_dispose,
    clang_TargetInfo_getPointerWidth, clang_disposeDiagnostic, clang_disposeSourceRangeList,
    clang_disposeTranslationUnit, clang_equalCursors, clang_getAllSkippedRanges, clang_getDiagnostic,
    clang_getDiagnosticLocation, clang_getDiagnosticSeverity, clang_getDiagnosticSpelling, clang_getFileName,
    clang_getInclusions, clang_getNumDiagnostics, clang_getRangeEnd, clang_getRangeStart,
    clang_getTranslationUnitCursor, clang_getTranslationUnitTargetInfo, clang_parseTranslationUnit2FullArgv,
    clang_visitChildren,
};
use std::ffi::{CString, c_char, c_uint};
use std::marker::PhantomData;
use std::ptr::null_mut;

/// A diagnostic of the front end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) place: Place,
    pub(crate) text: String,
}

/// A unit that libclang has read.
#[derive(Debug)]
pub(crate) struct ParsedUnit {
    raw: CXTranslationUnit,
    _index: Index,
}

impl ParsedUnit {
    /// Parses what a command line of clang compiles, its first word included. The error is libclang's number.
    pub(crate) fn parse(library: &Library, words: &[String]) -> Result<Self, i32> {
        let index = library.index();
        let words: Vec<CString> =
            words.iter().map(|word| CString::new(word.replace('\0', "")).unwrap_or_default()).collect();
        let pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        let count = i32::try_from(pointers.len()).unwrap_or(i32::MAX);
        let mut raw = null_mut();
        // SAFETY: `count` pointers to strings that end in a zero and outlive the call; no file name beside them, no
        // unsaved files; `raw` is a valid place for the result.
        let code = unsafe {
            clang_parseTranslationUnit2FullArgv(
                index.raw,
                std::ptr::null(),
                pointers.as_ptr(),
                count,
                null_mut(),
                0,
                CXTranslationUnit_KeepGoing | CXTranslationUnit_DetailedPreprocessingRecord,
                &raw mut raw,
            )
        };
        match code == CXError_Success && !raw.is_null() {
            true => Ok(Self { raw, _index: index }),
            false => Err(code),
        }
    }

    /// Errors of the unit, warnings apart.
    pub(crate) fn errors(&self) -> Vec<Message> {
        // SAFETY: the unit is alive; each diagnostic is disposed of once, after its parts were copied.
        unsafe {
            let count = clang_getNumDiagnostics(self.raw);
            let messages = (0..count).filter_map(|number| {
                let diagnostic = clang_getDiagnostic(self.raw, number);
                let message = (clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error).then(|| {
                    let text = owned(clang_getDiagnosticSpelling(diagnostic));
                    Message { place: expansion(clang_getDiagnosticLocation(diagnostic)), text }
                });
                clang_disposeDiagnostic(diagnostic);
                message
            });
            messages.collect()
        }
    }

    /// Bytes of an address of the machine that the unit is for.
    pub(crate) fn address_size(&self) -> u64 {
        // SAFETY: the unit is alive; what is told of its machine is disposed of once, after it was asked.
        let bits = unsafe {
            let machine = clang_getTranslationUnitTargetInfo(self.raw);
            let bits = clang_TargetInfo_getPointerWidth(machine);
            clang_TargetInfo_dispose(machine);
            bits
        };
        u64::try_from(bits).unwrap_or(0) / 8
    }

    /// The files that the unit reads, itself included, as the command names them.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        let data: *mut Vec<String> = &raw mut files;
        // SAFETY: the unit is alive; `include` casts the data back to what it is, and nothing else uses the list during
        // the call.
        unsafe { clang_getInclusions(self.raw, include, data.cast()) };
        files.sort_unstable();
        files.dedup();
        files
    }

    /// First and last lines of the text that conditions leave out.
    pub(crate) fn skipped(&self) -> Vec<(String, u32, u32)> {
        // SAFETY: the unit is alive; the list is disposed of once, after its ranges were copied.
        let ranges = unsafe {
            let list = clang_getAllSkippedRanges(self.raw);
            let Some(found) = list.as_ref() else { return Vec::new() };
            let ranges: Vec<CXSourceRange> =
                (0..found.count as usize).map(|number| *found.ranges.add(number)).collect();
            clang_disposeSourceRangeList(list);
            ranges
        };
        let lines = ranges.into_iter().map(|range| {
            // SAFETY: the unit that the range points into is alive.
            let (start, end) = unsafe { (clang_getRangeStart(range), clang_getRangeEnd(range)) };
            let start = expansion(start);
            (start.file, start.line, expansion(end).line)
        });
        lines.filter(|(file, ..)| !file.is_empty()).collect()
    }

    /// Calls a function with each node and its depth, in the order of the text, from the declarations (0) downwards.
    pub(crate) fn walk<'u>(&'u self, mut see: impl FnMut(Cursor<'u>, usize)) {
        // SAFETY: the unit is alive.
        let root = unsafe { clang_getTranslationUnitCursor(self.raw) };
        let mut walk = Walk { root, path: Vec::new(), see: &mut see };
        visit(root, &mut walk);
    }
}

/// Calls a function with each node below one and its depth, from 0 on.
pub(crate) fn below<'u>(node: Cursor<'u>, mut see: impl FnMut(Cursor<'u>, usize)) {
    let mut walk = Walk { root: node.raw, path: Vec::new(), see: &mut see };
    visit(node.raw, &mut walk);
}

impl Drop for ParsedUnit {
    fn drop(&mut self) {
        // SAFETY: made by libclang, disposed of once; cursors and types borrow `self` and are gone.
        unsafe { clang_disposeTranslationUnit(self.raw) }
    }
}

/// One file that a unit reads.
extern "C" fn include(file: CXFile, _: *mut CXSourceLocation, _: c_uint, data: CXClientData) {
    let files: *mut Vec<String> = data.cast();
    // SAFETY: `files` handed in a list that outlives the call and that nothing else uses meanwhile; the file is the
    // unit's, which is alive.
    unsafe { (*files).push(owned(clang_getFileName(file))) };
}

/// The state of a walk.
struct Walk<'w, 'u> {
    root: CXCursor,
    /// Nodes whose children are being visited.
    path: Vec<CXCursor>,
    see: &'w mut dyn FnMut(Cursor<'u>, usize),
}

fn visit(root: CXCursor, walk: &mut Walk<'_, '_>) {
    let data: *mut Walk<'_, '_> = walk;
    // SAFETY: `step` casts the data back to what it is, and nothing else uses `walk` during the call.
    unsafe { clang_visitChildren(root, step, data.cast()) };
}

/// One node of a walk.
extern "C" fn step(cursor: CXCursor, parent: CXCursor, data: CXClientData) -> CXChildVisitResult {
    let data: *mut Walk<'_, '_> = data.cast();
    // SAFETY: `visit` handed in a `Walk` that outlives the call and that nothing else uses meanwhile; cursors live as
    // long as their unit, which outlives the walk.
    let (walk, cursor) = unsafe { (&mut *data, Cursor { raw: cursor, unit: PhantomData }) };
    let is_parent = |other: &CXCursor| {
        // SAFETY: comparing reads the two values.
        unsafe { clang_equalCursors(*other, parent) != 0 }
    };
    // libclang leaves out some nodes between captures or requirements and their parts.
    let has_parts = |held: &CXCursor| matches!(kind(held.kind), Kind::Lambda | Kind::Requires);
    let known = walk.path.iter().rposition(is_parent);
    let known = known.or_else(|| walk.path.iter().rposition(has_parts).filter(|_| !is_parent(&walk.root)));
    walk.path.truncate(known.map_or(0, |known| known + 1));
    (walk.see)(cursor, walk.path.len());
    walk.path.push(cursor.raw);
    if cursor.is_dead_end() { CXChildVisit_Continue } else { CXChildVisit_Recurse }
}
