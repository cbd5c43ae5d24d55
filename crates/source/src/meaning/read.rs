//! All files of a tree that can matter, read together.

use super::code::evaluator::{Context, Evaluator, Flows, Found};
use super::macros::{KnownMacro, Macros};
use super::stream::{self, Piece, Stream};
use super::syntax::cursor::{Cursor, Met};
use super::syntax::items::{self, Items};
use super::types::{TargetStruct, Type, World};
use super::value::{Value, join};
use crate::uses::StructUse;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Rounds in which values are followed from function to function; in the last, uses are told.
const ROUNDS: usize = 7;
/// Most definitions of one macro that are tried.
const TURNS: usize = 3;

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

/// A use with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MeantUse {
    /// Which of the subjects.
    pub subject: usize,
    /// The number of the file.
    pub file: usize,
    /// The use.
    pub used: StructUse,
}

/// Uses of the subjects in files, by file and line. `is_complete`: these are all files of a program.
pub fn find_meant_uses(
    files: &[ReadFile<'_>],
    subjects: &[TargetStruct],
    is_complete: bool,
) -> Vec<MeantUse> {
    let program = Program::new(files, subjects, is_complete);
    let Program { world, streams, expanded, .. } = &program;
    let numbers: Vec<usize> = (0..files.len()).collect();
    let is_code = |file: usize| !is_assembler(files.get(file).map_or("", |file| file.path));
    let mut known = Flows::default();
    let mut found: Vec<(usize, Found)> = Vec::new();
    let (mut before, mut is_last) = (0, false);
    for round in 0..ROUNDS {
        let tells = std::mem::replace(&mut is_last, false);
        let results: Vec<(Vec<Found>, Flows<'_>)> = fieldline_parallel::map(&numbers, |file| {
            let file = *file;
            if !files.get(file).is_some_and(|file| file.is_searched) || !is_code(file) {
                return (Vec::new(), Flows::default());
            }
            let mut all = (Vec::new(), Flows::default());
            let turns = world.macros.turns(&streams[file].pieces).clamp(1, TURNS);
            for turn in 0..turns {
                let again;
                let own = match turn {
                    0 => &expanded[file],
                    _ => {
                        again = world.macros.expand(&streams[file].pieces, file, turn);
                        &again
                    }
                };
                let (found, flows) = read_code(
                    world,
                    (files[file].path, own, &streams[file].packs),
                    file,
                    subjects,
                    &known,
                    tells,
                );
                all.0.extend(found);
                merge(&mut all.1, flows);
            }
            all
        });
        let is_done = tells;
        for (file, (uses, flows)) in results.into_iter().enumerate() {
            found.extend(uses.into_iter().map(|found| (file, found)));
            merge(&mut known, flows);
        }
        let size = known.values().map(Vec::len).sum();
        if is_done {
            break;
        }
        is_last = round + 2 >= ROUNDS || size == before;
        before = size;
    }
    let mut uses: Vec<MeantUse> = found
        .into_iter()
        .map(|(file, found)| MeantUse {
            subject: found.subject,
            file,
            used: into_use(world, files, subjects, &found),
        })
        .collect();
    uses.sort();
    uses.dedup();
    uses
}

/// All files with their declarations.
struct Program<'t> {
    world: World<'t>,
    streams: Vec<Stream<'t>>,
    /// Each file's pieces with all macros replaced.
    expanded: Vec<Vec<Piece<'t>>>,
}

impl<'t> Program<'t> {
    fn new(files: &[ReadFile<'t>], subjects: &'t [TargetStruct], is_complete: bool) -> Self {
        let mut streams: Vec<Stream<'t>> = fieldline_parallel::map(files, |file| stream::read(file.text));
        include_rows(files, &mut streams);
        let texts = files.iter().map(|file| file.text).collect();
        let mut macros = Macros { is_complete, texts, ..Macros::default() };
        let mut assembler = FxHashSet::default();
        for (file, (stream, read)) in streams.iter().zip(files).enumerate() {
            let is_shared = !is_unit(read.path);
            for definition in &stream.macros {
                macros.add(KnownMacro { definition: definition.clone(), file, is_shared });
            }
            if is_assembler(read.path) {
                assembler.extend(stream.pieces.iter().map(|piece| piece.text));
            }
        }
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
        let fresh = World { macros, assembler, subjects, is_complete, has_cpp, ..World::default() };
        let mut world = fresh.clone();
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
            world = next;
        }
        find_holders(&mut world);
        Self { world, streams, expanded }
    }
}

/// Puts files that are included in the middle of a list or function where they are.
fn include_rows<'t>(files: &[ReadFile<'t>], streams: &mut [Stream<'t>]) {
    let numbers: Vec<usize> = (0..streams.len()).filter(|file| has_inner_includes(&streams[*file])).collect();
    for file in numbers {
        let Some(own) = streams.get(file).cloned() else { continue };
        let mut pieces = Vec::with_capacity(own.pieces.len());
        let mut from = 0;
        for include in own.includes.iter().filter(|include| include.is_inside) {
            let found = files.iter().position(|file| is_path_of(file.path, include.path));
            let Some(rows) = found.filter(|found| *found != file).and_then(|found| streams.get(found)) else {
                continue;
            };
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

fn has_inner_includes(stream: &Stream<'_>) -> bool {
    stream.includes.iter().any(|include| include.is_inside)
}

/// Whether an `#include` of a path means a file.
fn is_path_of(file: &str, included: &[u8]) -> bool {
    let Ok(included) = std::str::from_utf8(included) else { return false };
    let included = included.trim_start_matches("../").trim_start_matches("./");
    file.strip_suffix(included).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

/// Whether a file is compiled on its own: what it declares as its own nobody else knows.
fn is_unit(path: &str) -> bool {
    [".c", ".cc", ".cpp", ".cxx", ".c++", ".C"].iter().any(|end| path.ends_with(end))
}

fn is_assembler(path: &str) -> bool {
    path.ends_with(".S") || path.ends_with(".s") || path.ends_with(".asm")
}

fn merge<'t>(into: &mut Flows<'t>, more: Flows<'t>) {
    let mut more: Vec<_> = more.into_iter().collect();
    more.sort();
    for (slot, mut sums) in more {
        sums.sort();
        join(into.entry(slot).or_default(), &sums);
    }
}

fn into_use(
    world: &World<'_>,
    files: &[ReadFile<'_>],
    subjects: &[TargetStruct],
    found: &Found,
) -> StructUse {
    let subject = subjects.get(found.subject);
    let name = |number: &usize| subject.and_then(|subject| subject.label(*number)).cloned();
    let members: Vec<String> = found.members.iter().filter_map(name).collect();
    let mut description = found.what.clone();
    let source = found.source.checked_sub(1).and_then(|number| world.macros.get(number));
    if let Some(source) = source {
        let path = files.get(source.file).map_or("", |file| file.path);
        let name = String::from_utf8_lossy(source.definition.name);
        description = format!("{description}, by {name}, {path}:{}", source.definition.line);
    }
    StructUse { line: found.line, demand: found.demand, members, description }
}

/// Adds a file's declarations to those known. `is_own`: as the file itself knows them. `is_private`: others don't
/// know its types. `is_header`: its static functions are everybody's.
fn declare<'t>(world: &mut World<'t>, items: &Items<'t>, is_own: bool, is_private: bool, is_header: bool) {
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
            }
        }
    }
    world.holders = Arc::new(found);
}

fn read_code<'t>(
    world: &World<'t>,
    (path, pieces, packs): (&str, &[Piece<'t>], &[(u32, bool)]),
    file: usize,
    subjects: &[TargetStruct],
    known: &Flows<'t>,
    tells: bool,
) -> (Vec<Found>, Flows<'t>) {
    let items = items::read(world, pieces, file, packs);
    // A prototype elsewhere doesn't hide that a function is defined there.
    let mut own = world.clone();
    declare(&mut own, &items, true, false, false);
    for (name, function) in &mut own.functions.own {
        if let Some(shared) =
            world.functions.shared.get(name).filter(|shared| shared.is_defined && !function.is_defined)
        {
            *function = shared.clone();
        }
    }
    let world = &own;
    let cursor = Cursor { world, pieces, at: 0, depth: 0, file, packs, met: Met::default() };
    let mut evaluator = Evaluator {
        cursor,
        subjects,
        scopes: Vec::new(),
        known,
        flows: Flows::default(),
        found: Vec::new(),
        returns: Type::Unknown,
        function: b"",
        home: None,
        class: None,
        context: Context::Plain,
        compared: Vec::new(),
        last: Value::default(),
        described: FxHashMap::default(),
        is_quiet: !tells,
        steps: 0,
        effects: 0,
        is_cpp: !path.ends_with(".c") && world.has_cpp,
    };
    if tells {
        evaluator.definitions(&items, path);
    }
    evaluator.file(&items);
    (evaluator.found, evaluator.flows)
}

/// A name that a struct, or something of its type, is known by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownName {
    /// The name.
    pub text: String,
    /// Whether it is a member's: said behind `.` or `->`, and not on the way to what is inside.
    pub is_member: bool,
}

impl KnownName {
    /// A name of its own.
    pub fn word(text: &str) -> Self {
        Self { text: text.to_owned(), is_member: false }
    }

    /// Whether a text says it at a place where its letters stand.
    pub fn is_said(&self, text: &[u8], place: std::ops::Range<usize>) -> bool {
        let before = place.start.checked_sub(1).and_then(|at| text.get(at));
        let behind = text.get(place.end..).unwrap_or_default();
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| crate::scan::is_word(*byte));
        if is_word(before) || is_word(behind.first()) {
            return false;
        }
        let is_reached = matches!(before, Some(b'.' | b'>'));
        let goes_on = matches!(behind, [b'.', ..] | [b'-', b'>', ..]);
        !self.is_member || is_reached && !goes_on
    }
}

/// Whether a type is a subject, points to one or consists of them.
fn is_of_subject<'t>(world: &World<'t>, ty: &Type<'t>) -> bool {
    let mut ty = world.resolve(ty);
    while let Some(inner) = ty.element() {
        ty = world.resolve(inner);
    }
    matches!(ty, Type::Record(own) if world.subjects.contains_key(own))
}

/// Names of the subjects in files: of types, variables, functions, macros and members.
pub fn find_names(files: &[ReadFile<'_>], subjects: &[TargetStruct]) -> Vec<KnownName> {
    let program = Program::new(files, subjects, false);
    let world = &program.world;
    let is_own = |ty| is_of_subject(world, ty);
    let lossy = super::types::lossy;
    let types = world.typedefs.shared.iter().filter(|(_, ty)| is_own(ty)).map(|(name, _)| *name);
    let mut words: Vec<&[u8]> = types.collect();
    words.extend(
        world
            .functions
            .shared
            .iter()
            .filter(|(_, function)| is_own(&function.returns))
            .map(|(name, _)| *name),
    );
    words.extend(world.globals.shared.iter().filter(|(_, ty)| is_own(ty)).map(|(name, _)| *name));
    let says = |piece: &Piece<'_>| world.subjects.contains_key(piece.text) || words.contains(&piece.text);
    let macros = world.macros.all.iter().filter(|known| known.definition.body.iter().any(says));
    let macros: Vec<&[u8]> = macros.map(|known| known.definition.name).collect();
    words.extend(macros);
    let words = words.into_iter().filter(|word| word.len() > 2).map(|word| KnownName::word(&lossy(word)));
    let held =
        world.holders.iter().filter(|(_, ty)| matches!(world.resolve(ty), Type::Record(_) | Type::Array(..)));
    let held = held.map(|(name, _)| KnownName { text: lossy(name), is_member: true });
    let mut names: Vec<KnownName> = words.chain(held).collect();
    names.sort();
    names.dedup();
    names
}
