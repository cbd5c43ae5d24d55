//! Files with all that they declare.

use super::flows::related::Relations;
use super::includes::{IncludeGraph, is_path_of};
use super::judge::cpp::templates::template_names;
use super::judge::symbols::{mangled, words_in};
use super::judge::ways::library::is_of_c_library;
use super::macros::{KnownMacro, Macros};
use super::stream::{self, Kind, Piece, Stream};
use super::syntax::items::{self, Items};
use super::types::{TargetStruct, Type, World};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A file to read.
#[derive(Clone, Copy, Debug)]
pub struct ReadFile<'t> {
    /// Its path from the top of the tree.
    pub path: &'t str,
    /// Its text.
    pub text: &'t [u8],
    /// Whether it is searched for uses, or only for declarations.
    pub is_searched: bool,
}

/// All files with their declarations.
#[derive(Debug)]
pub(super) struct Program<'t> {
    pub(super) world: World<'t>,
    /// Which records hold which.
    pub(super) relations: Relations<'t>,
    pub(super) streams: Vec<Stream<'t>>,
    /// Each file's pieces with all macros replaced.
    pub(super) expanded: Vec<Vec<Piece<'t>>>,
}

impl<'t> Program<'t> {
    pub(super) fn new(files: &[ReadFile<'t>], subjects: &'t [TargetStruct], is_complete: bool) -> Self {
        let mut streams: Vec<Stream<'t>> = fieldline_parallel::map(files, |file| stream::read(file.text));
        include_rows(files, &mut streams);
        packed_includes(files, &mut streams, is_complete);
        let texts = files.iter().map(|file| file.text).collect();
        let named = files.iter().zip(&streams).map(|(file, stream)| (file.path, paths_in(stream)));
        let includes = Arc::new(IncludeGraph::new(&named.collect::<Vec<_>>()));
        let mut macros = Macros { is_complete, texts, includes, ..Macros::default() };
        let assembler = add_macros(&mut macros, &streams, files);
        let named = subjects.iter().enumerate().map(|(number, subject)| (subject.name.as_bytes(), number));
        let subjects = Arc::new(named.collect::<FxHashMap<&[u8], usize>>());
        let (macros, assembler) = (Arc::new(macros), Arc::new(assembler));
        let numbers: Vec<usize> = (0..files.len()).collect();
        let expanded: Vec<Vec<Piece<'t>>> =
            fieldline_parallel::map(&numbers, |file| match (files.get(*file), streams.get(*file)) {
                (Some(read), Some(stream)) if !is_assembler(read.path) => {
                    macros.expand(&stream.pieces, *file, 0)
                }
                _ => Vec::new(),
            });
        let has_cpp = files.iter().any(|file| is_unit(file.path) && !file.path.ends_with(".c"));
        let mut templates = FxHashSet::default();
        streams.iter().filter(|_| has_cpp).for_each(|stream| template_names(&stream.pieces, &mut templates));
        let templates = Arc::new(templates);
        let has_only_c_library = is_complete && includes_only_c_library(files, &streams);
        let replaces_storage = has_cpp && streams.iter().any(|stream| replaces_storage(&stream.pieces));
        let enums = streams.iter().filter(|_| has_cpp).flat_map(|stream| enum_names(&stream.pieces));
        let enums = Arc::new(enums.collect());
        let after_bodies = Arc::new(words_after_bodies(&streams));
        let fresh = World {
            templates,
            enums,
            after_bodies,
            macros,
            assembler,
            subjects,
            is_complete,
            has_cpp,
            replaces_storage,
            has_only_c_library,
            ..World::default()
        };
        let (mut world, mut relations) = (fresh.clone(), Relations::default());
        // Declarations, of which those read later know those read first: twice, for names in any order.
        for _ in 0..2 {
            let all: Vec<Items<'t>> = fieldline_parallel::map(&numbers, |file| {
                let packs = streams.get(*file).map(|stream| stream.packs.as_slice()).unwrap_or_default();
                items::read(&world, expanded.get(*file).map_or(&[][..], Vec::as_slice), *file, packs)
            });
            let mut next = fresh.clone();
            let mut declared = FxHashSet::default();
            for is_unit_turn in [false, true] {
                for (items, read) in
                    all.iter().zip(files).filter(|(_, read)| is_unit(read.path) == is_unit_turn)
                {
                    let is_private = is_unit(read.path) && !is_complete;
                    declare(&mut next, items, false, is_private, !is_unit(read.path));
                    declared.extend(items.met.declared.iter().copied());
                }
            }
            next.declared = Arc::new(declared);
            next.typedefs.share();
            next.records.share();
            next.functions.share();
            next.globals.share();
            relations = Relations::new(&next, &all);
            world = next;
        }
        find_holders(&mut world);
        Self { world, relations, streams, expanded }
    }
}

/// Adds the macros that files define, and returns the words that assembler code says.
fn add_macros<'t>(
    macros: &mut Macros<'t>,
    streams: &[Stream<'t>],
    files: &[ReadFile<'t>],
) -> FxHashSet<&'t [u8]> {
    let mut assembler = FxHashSet::default();
    for (file, (stream, read)) in streams.iter().zip(files).enumerate() {
        for definition in &stream.macros {
            let is_shared = !is_unit(read.path);
            macros.add(KnownMacro { definition: definition.clone(), file, is_shared });
        }
        if macros.is_complete {
            assembler.extend(words_of_assembler(&stream.pieces));
            let bodies = stream.macros.iter().map(|definition| definition.body.as_slice());
            assembler.extend(bodies.flat_map(words_of_assembler));
        }
        if is_assembler(read.path) {
            let bodies = stream.macros.iter().flat_map(|definition| &definition.body);
            let words = stream.pieces.iter().chain(bodies).map(|piece| piece.text);
            // A variable of C++ is said by another name.
            assembler.extend(words.flat_map(|word| [Some(word), mangled(word)]).flatten());
        }
    }
    assembler
}

/// The paths that a file's `#include` lines name.
fn paths_in<'t>(stream: &Stream<'t>) -> Vec<&'t [u8]> {
    stream.includes.iter().map(|include| include.path).collect()
}

/// Whether all headers that files include are their own or those of C's library.
fn includes_only_c_library(files: &[ReadFile<'_>], streams: &[Stream<'_>]) -> bool {
    let mut paths: Vec<&[u8]> = streams.iter().flat_map(paths_in).collect();
    paths.sort_unstable();
    paths.dedup();
    let is_own = |path: &[u8]| files.iter().any(|file| is_path_of(file.path, path));
    paths.into_iter().all(|path| is_of_c_library(path) || is_own(path))
}

/// Words that assembler code in a file's functions, or between them, says.
fn words_of_assembler<'t>(pieces: &[Piece<'t>]) -> Vec<&'t [u8]> {
    let mut found = Vec::new();
    for (at, _) in pieces.iter().enumerate().filter(|(_, piece)| matches!(piece.text, b"asm" | b"__asm__")) {
        let behind = pieces.iter().skip(at + 1);
        let texts = behind.skip_while(|piece| piece.kind == Kind::Word).skip(1);
        for piece in texts.take_while(|piece| piece.kind == Kind::Quoted) {
            for word in words_in(piece.text) {
                found.push(word);
                found.extend(word.get(1..));
            }
        }
    }
    found
}

/// Words that stand behind the bodies of several structs: no variable has several types, so that they are attributes, or
/// variables of several programs.
fn words_after_bodies<'t>(streams: &[Stream<'t>]) -> FxHashSet<&'t [u8]> {
    let mut tags: FxHashMap<&[u8], &[u8]> = FxHashMap::default();
    let mut found = FxHashSet::default();
    for pieces in streams.iter().map(|stream| stream.pieces.as_slice()) {
        let mut open = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            match piece.text {
                b"{" => open.push(at),
                b"}" => {
                    let Some(start) = open.pop() else { continue };
                    let Some([word, Piece { text: b";", .. }]) = pieces.get(at + 1..at + 3) else { continue };
                    let before = pieces.get(start.saturating_sub(3)..start).unwrap_or_default();
                    let is_record = before.iter().any(|piece| matches!(piece.text, b"struct" | b"union"));
                    let tag = before.last().filter(|tag| is_record && tag.kind == Kind::Word);
                    if let Some(tag) = tag.filter(|_| word.kind == Kind::Word)
                        && *tags.entry(word.text).or_insert(tag.text) != tag.text
                    {
                        found.insert(word.text);
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// Whether a file defines `operator new` or `operator delete` outside of classes.
fn replaces_storage(pieces: &[Piece<'_>]) -> bool {
    // Of each brace that is open, whether it is a class's.
    let mut open: Vec<bool> = Vec::new();
    let mut from = 0;
    for (at, piece) in pieces.iter().enumerate() {
        let is_storage = |next: &Piece<'_>| matches!(next.text, b"new" | b"delete");
        match piece.text {
            b"{" => {
                let front = pieces.get(from..at).unwrap_or_default();
                let has = |wanted: &[u8]| front.iter().any(|piece| piece.text == wanted);
                open.push((has(b"struct") || has(b"class") || has(b"union")) && !has(b"("));
            }
            b"}" => _ = open.pop(),
            b"operator" if pieces.get(at + 1).is_some_and(is_storage) && !open.contains(&true) => {
                let rest = pieces.get(at..).unwrap_or_default();
                let ends = rest.iter().find(|piece| matches!(piece.text, b"{" | b";"));
                if ends.is_some_and(|piece| piece.text == b"{") {
                    return true;
                }
            }
            _ => {}
        }
        if matches!(piece.text, b"{" | b"}" | b";") {
            from = at + 1;
        }
    }
    false
}

/// Names of a file's enums.
fn enum_names<'t>(pieces: &[Piece<'t>]) -> Vec<&'t [u8]> {
    let name = |at: usize| {
        let mut behind = pieces.iter().skip(at + 1);
        behind.find(|piece| !matches!(piece.text, b"class" | b"struct")).map(|piece| piece.text)
    };
    let all = pieces.iter().enumerate().filter(|(_, piece)| piece.text == b"enum");
    all.filter_map(|(at, _)| name(at)).collect()
}

/// Puts files that are included in the middle of a list or function where they are.
fn include_rows<'t>(files: &[ReadFile<'t>], streams: &mut [Stream<'t>]) {
    let numbers: Vec<usize> = (0..streams.len()).filter(|file| has_inner_includes(&streams[*file])).collect();
    for file in numbers {
        let Some(own) = streams.get(file).cloned() else { continue };
        let mut pieces = Vec::with_capacity(own.pieces.len());
        let mut from = 0;
        for include in own.includes.iter().filter(|include| include.is_inside) {
            let paths = paths_of(include.path, streams);
            let named = |read: &ReadFile<'_>| paths.iter().any(|path| is_path_of(read.path, path));
            let found = match include.path {
                b"__FILE__" => Some(file),
                _ => files.iter().position(named).filter(|found| *found != file),
            };
            let Some(rows) = found.and_then(|found| streams.get(found)) else { continue };
            pieces.extend_from_slice(own.pieces.get(from..include.at).unwrap_or_default());
            pieces.extend(rows.pieces.iter().map(|piece| Piece { line: include.line, ..*piece }));
            from = include.at;
        }
        pieces.extend_from_slice(own.pieces.get(from..).unwrap_or_default());
        if let Some(stream) = streams.get_mut(file) {
            stream.pieces = pieces;
        }
    }
}

/// Files that another includes while it packs structs: there they are packed, elsewhere they aren't.
/// `is_complete`: so are those that these include.
fn packed_includes(files: &[ReadFile<'_>], streams: &mut [Stream<'_>], is_complete: bool) {
    let mut packed: FxHashSet<usize> = FxHashSet::default();
    let mut left: Vec<&[u8]> = streams.iter().flat_map(Stream::packed_paths).collect();
    while let Some(path) = left.pop() {
        let named = |file: &usize| files.get(*file).is_some_and(|read| is_path_of(read.path, path));
        for file in (0..files.len()).filter(named).collect::<Vec<_>>() {
            let is_new = packed.insert(file);
            left.extend(streams.get(file).filter(|_| is_new && is_complete).into_iter().flat_map(paths_in));
        }
    }
    for file in packed {
        if let Some(stream) = streams.get_mut(file) {
            stream.packs.insert(0, (0, true));
        }
    }
}

/// The paths that an `#include` may name: a macro's texts, if it stands there.
fn paths_of<'t>(path: &'t [u8], streams: &[Stream<'t>]) -> Vec<&'t [u8]> {
    let macros = streams.iter().flat_map(|stream| &stream.macros).filter(|known| known.name == path);
    let texts = macros.filter_map(|known| {
        let text = known.body.first()?.text;
        text.strip_prefix(b"\"")?.strip_suffix(b"\"")
    });
    let mut found: Vec<&[u8]> = texts.collect();
    found.push(path);
    found
}

fn has_inner_includes(stream: &Stream<'_>) -> bool {
    stream.includes.iter().any(|include| include.is_inside)
}

/// Whether a file is compiled on its own: what it declares as its own nobody else knows.
pub(super) fn is_unit(path: &str) -> bool {
    [".c", ".cc", ".cpp", ".cxx", ".c++", ".C"].iter().any(|end| path.ends_with(end))
}

pub(super) fn is_assembler(path: &str) -> bool {
    path.ends_with(".S") || path.ends_with(".s") || path.ends_with(".asm")
}

/// Adds a file's declarations to those known. `is_own`: as the file itself knows them. `is_private`: others don't
/// know its types. `is_header`: its static functions are everybody's.
pub(super) fn declare<'t>(
    world: &mut World<'t>,
    items: &Items<'t>,
    is_own: bool,
    is_private: bool,
    is_header: bool,
) {
    for (name, ty) in items.met.typedefs.iter().filter(|_| !is_private) {
        let is_self = *ty == Type::Named(name);
        if !is_self && !name.is_empty() {
            world.typedefs.own.entry(name).or_insert_with(|| ty.clone());
        }
    }
    for (name, record) in items.met.records.iter().filter(|(name, _)| !name.is_empty() && !is_private) {
        let known = world.records.own.entry(name).or_default();
        if known.members.is_empty() {
            *known = record.clone();
        }
    }
    for (name, function) in
        items.functions.iter().filter(|(_, function)| is_own || is_header || function.home.is_none())
    {
        let known = world.functions.own.entry(name).or_default();
        if function.is_defined && !known.is_defined || known.parameters.is_empty() {
            *known = function.clone();
        }
    }
    for variable in items.variables.iter().filter(|variable| is_own || !variable.is_static) {
        let ty = variable.declared.ty.clone();
        let known = world.globals.own.entry(variable.declared.name).or_default();
        if *known == Type::Unknown
            || matches!((&*known, &ty), (Type::Array(_, None), Type::Array(_, Some(_))))
        {
            *known = ty;
        }
    }
}

/// Members by whose names a subject is reached, whatever they are members of.
fn find_holders(world: &mut World<'_>) {
    let mut found = FxHashMap::default();
    let mut others = FxHashSet::default();
    let mut names: Vec<_> = world.records.shared.keys().copied().collect();
    names.sort_unstable();
    for name in names {
        let Some(record) = world.records.get(name) else { continue };
        for member in &record.members {
            let mut ty = world.resolve(&member.ty);
            while let Some(inner) = ty.element() {
                ty = world.resolve(inner);
            }
            if matches!(ty, Type::Record(own) if world.subjects.contains_key(own)) {
                found.entry(member.name).or_insert_with(|| member.ty.clone());
            } else {
                others.insert(member.name);
            }
        }
    }
    // Where types aren't all known, a name that others have too says nothing.
    found.retain(|name, _| world.is_complete || !others.contains(name));
    world.holders = Arc::new(found);
}
