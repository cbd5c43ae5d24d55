//! All files of a tree that can matter, read together.

use super::code::evaluator::{Context, Evaluator, Found};
use super::flows::{Asked, Flows, Known, Wanted, follow, merge};
use super::program::{Program, ReadFile, declare, is_assembler};
use super::stream::Piece;
use super::syntax::cursor::{Cursor, Met};
use super::syntax::items;
use super::types::{TargetStruct, Type, World};
use super::value::Value;
use crate::uses::{StructUse, UseDemand};
use rustc_hash::{FxHashMap, FxHashSet};

/// Most definitions of one macro that are tried.
pub(super) const TURNS: usize = 3;

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

/// The uses of the subjects in files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeantUses {
    /// By file and line.
    pub uses: Vec<MeantUse>,
    /// The subjects whose addresses go through more places than are followed. One of their uses says so.
    pub unfollowed: Vec<usize>,
}

/// Uses of the subjects in files. `is_complete`: these are all files of a program.
pub fn find_meant_uses(files: &[ReadFile<'_>], subjects: &[TargetStruct], is_complete: bool) -> MeantUses {
    let program = Program::new(files, subjects, is_complete);
    let Program { world, streams, expanded, .. } = &program;
    let mut records: Vec<&[u8]> = world.subjects.keys().copied().collect();
    records.sort_unstable();
    let is_read =
        |file: &usize| files.get(*file).is_some_and(|file| file.is_searched && !is_assembler(file.path));
    let numbers: Vec<usize> = (0..files.len()).filter(is_read).collect();
    let wanted = Wanted { files: &numbers, asked: Asked::Until(&records, &program.relations) };
    let (mut found, open) = follow(Flows::default(), wanted, |file, known, tells| {
        let (mut found, mut flows) = (Vec::new(), Flows::default());
        let turns = world.macros.turns(&streams[file].pieces, file).clamp(1, TURNS);
        for turn in 0..turns {
            let again;
            let own = match turn {
                0 => &expanded[file],
                _ => {
                    again = world.macros.expand(&streams[file].pieces, file, turn);
                    &again
                }
            };
            let source = (files[file].path, own.as_slice(), streams[file].packs.as_slice());
            let (uses, more) = read_code(world, source, file, subjects, known, tells);
            found.extend(uses);
            merge(&mut flows, more, known.related);
        }
        (found, flows)
    });
    let far: Vec<usize> = open.into_iter().filter_map(|record| world.subject(record)).collect();
    found.extend(far.iter().filter_map(|subject| {
        let subject = *subject;
        let path = subjects.get(subject)?.file.as_str();
        let file = files.iter().position(|file| file.path == path).unwrap_or_default();
        Some((file, unfollowed(subject)))
    }));
    let path_of = |file: usize| files.get(file).map_or_else(String::new, |file| file.path.to_owned());
    let mut uses: Vec<MeantUse> = found
        .into_iter()
        .map(|(file, found)| MeantUse {
            subject: found.subject,
            file,
            used: into_use(world, &path_of, subjects, &found),
        })
        .collect();
    uses.sort();
    uses.dedup();
    MeantUses { uses, unfollowed: far }
}

/// A struct whose addresses go on farther than they are followed.
pub(super) fn unfollowed(subject: usize) -> Found {
    let what = "its addresses go through more places than are followed".to_owned();
    Found { subject, line: 1, source: 0, demand: UseDemand::Whole, members: Vec::new(), what }
}

pub(super) fn into_use(
    world: &World<'_>,
    path_of: &dyn Fn(usize) -> String,
    subjects: &[TargetStruct],
    found: &Found,
) -> StructUse {
    let subject = subjects.get(found.subject);
    let name = |number: &usize| subject.and_then(|subject| subject.label(*number)).cloned();
    let members: Vec<String> = found.members.iter().filter_map(name).collect();
    let mut description = found.what.clone();
    let source = found.source.checked_sub(1).and_then(|number| world.macros.get(number));
    if let Some(source) = source {
        let path = path_of(source.file);
        let name = String::from_utf8_lossy(source.definition.name);
        description = format!("{description}, by {name}, {path}:{}", source.definition.line);
    }
    StructUse { line: found.line, demand: found.demand, members, description }
}

pub(super) fn read_code<'t>(
    world: &World<'t>,
    (path, pieces, packs): (&str, &[Piece<'t>], &[(u32, bool)]),
    file: usize,
    subjects: &[TargetStruct],
    known: &Known<'_, 't>,
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
        tested: FxHashSet::default(),
        is_quiet: !tells,
        steps: 0,
        switched: Vec::new(),
        bounds: FxHashMap::default(),
        is_head: false,
        effects: 0,
        is_cpp: !path.ends_with(".c") && world.has_cpp,
        has_templates: pieces.iter().any(|piece| piece.text == b"template"),
    };
    if tells {
        evaluator.definitions(&items, path);
    }
    if !tells {
        evaluator.symbols();
        evaluator.sorted_kinds();
        evaluator.owned_by_library();
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
    /// Whether it is a tag: said behind `struct` or `union`.
    pub is_tag: bool,
}

impl KnownName {
    /// A name of its own.
    pub fn word(text: &str) -> Self {
        Self { text: text.to_owned(), is_member: false, is_tag: false }
    }

    /// A tag.
    pub fn tag(text: &str) -> Self {
        Self { is_tag: true, ..Self::word(text) }
    }

    /// Whether a text says it at a place where its letters stand.
    pub fn is_said(&self, text: &[u8], place: std::ops::Range<usize>) -> bool {
        let before = place.start.checked_sub(1).and_then(|at| text.get(at));
        let behind = text.get(place.end..).unwrap_or_default();
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| crate::scan::is_word(*byte));
        if is_word(before) || is_word(behind.first()) {
            return false;
        }
        if self.is_tag {
            let words = text.get(..place.start).unwrap_or_default().trim_ascii_end();
            let is_apart = words.len() < place.start;
            return is_apart && [&b"struct"[..], b"union"].iter().any(|word| words.ends_with(word));
        }
        let is_reached = matches!(before, Some(b'.' | b'>'));
        let goes_on = matches!(behind, [b'.', ..] | [b'-', b'>', ..]);
        !self.is_member || is_reached && !goes_on
    }
}

/// The subject that a type is, points to or consists of.
fn subject_of<'t>(world: &World<'t>, ty: &Type<'t>) -> Option<usize> {
    let mut ty = world.resolve(ty);
    while let Some(inner) = ty.element() {
        ty = world.resolve(inner);
    }
    match ty {
        Type::Record(own) => world.subject(own),
        _ => None,
    }
}

/// Names of the subjects in files: of types, variables, functions, macros and members.
pub fn find_names(files: &[ReadFile<'_>], subjects: &[TargetStruct]) -> Vec<KnownName> {
    let program = Program::new(files, subjects, false);
    let mut names: Vec<KnownName> = names_in(&program.world).into_iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    names
}

/// Names of the subjects that declarations give them, each with the number of its subject.
pub(super) fn names_in(world: &World<'_>) -> Vec<(KnownName, usize)> {
    let lossy = super::types::lossy;
    let typed = world.typedefs.shared.iter().map(|(name, ty)| (*name, ty));
    let returned = world.functions.shared.iter().map(|(name, function)| (*name, &function.returns));
    let globals = world.globals.shared.iter().map(|(name, ty)| (*name, ty));
    let all = typed.chain(returned).chain(globals);
    let mut words: Vec<(&[u8], usize)> =
        all.filter_map(|(name, ty)| Some((name, subject_of(world, ty)?))).collect();
    let known: FxHashMap<&[u8], usize> = words.iter().copied().collect();
    for found in &world.macros.all {
        let body = &found.definition.body;
        let said = |at: usize, piece: &Piece<'_>| {
            let is_tag = at > 0 && matches!(body.get(at - 1)?.text, b"struct" | b"union");
            let tag = world.subject(piece.text).filter(|_| is_tag);
            tag.or_else(|| known.get(piece.text).copied())
        };
        let said = body.iter().enumerate().filter_map(|(at, piece)| said(at, piece));
        let mut said: Vec<usize> = said.collect();
        said.sort_unstable();
        said.dedup();
        words.extend(said.into_iter().map(|number| (found.definition.name, number)));
    }
    let words = words.into_iter().filter(|(word, _)| word.len() > 2);
    let words = words.map(|(word, number)| (KnownName::word(&lossy(word)), number));
    let is_whole = |ty: &Type<'_>| matches!(world.resolve(ty), Type::Record(_) | Type::Array(..));
    let held = world.holders.iter().filter(|(_, ty)| is_whole(ty));
    let held = held.filter_map(|(name, ty)| {
        Some((KnownName { is_member: true, ..KnownName::word(&lossy(name)) }, subject_of(world, ty)?))
    });
    words.chain(held).collect()
}
