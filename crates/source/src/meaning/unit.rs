//! Files read one by one, each with the headers that all share.
//!
//! An address that a file hands to functions of other files isn't followed there. In return a tree of any size is read with the
//! memory of its headers and of one file for each thread.

use super::code::evaluator::Found;
use super::flows::related::Related;
use super::flows::{Asked, FileResult, Flows, Known, Wanted, follow, follow_rounds};
use super::includes::IncludeGraph;
use super::macros::{KnownMacro, Macros};
use super::program::{Program, ReadFile, declare, is_assembler, is_unit};
use super::read::{KnownName, MeantUse, TURNS, into_use, names_in, read_code, unfollowed};
use super::stream;
use super::syntax::items;
use super::types::{TargetStruct, World};
use std::sync::Arc;

/// Headers that files are read with.
#[derive(Debug)]
pub struct UnitReader<'t> {
    program: Program<'t>,
    headers: Vec<ReadFile<'t>>,
    subjects: &'t [TargetStruct],
    flows: Flows<'t>,
    related: Related<'t>,
}

impl<'t> UnitReader<'t> {
    /// Reads the headers.
    pub fn new(headers: Vec<ReadFile<'t>>, subjects: &'t [TargetStruct]) -> Self {
        let program = Program::new(&headers, subjects, false);
        let records: Vec<&[u8]> = program.world.subjects.keys().copied().collect();
        let related = program.relations.related_to(&records);
        let mut reader = Self { program, headers, subjects, flows: Flows::default(), related };
        reader.flows = reader.follow_headers();
        reader
    }

    /// The values that functions of headers hand on.
    fn follow_headers(&self) -> Flows<'t> {
        let numbers: Vec<usize> = (0..self.headers.len()).collect();
        let mut known = Flows::default();
        let wanted = Wanted { files: &numbers, asked: Asked::All(&self.related) };
        let _: Vec<(usize, Found)> =
            follow_rounds(&mut known, wanted, |file, known| self.read_header(file, known, false));
        known
    }

    fn read_header(&self, file: usize, known: &Known<'_, 't>, tells: bool) -> FileResult<'t, Found> {
        let Program { world, streams, expanded, .. } = &self.program;
        let (Some(read), Some(pieces), Some(stream)) =
            (self.headers.get(file), expanded.get(file), streams.get(file))
        else {
            return Default::default();
        };
        read_code(world, (read.path, pieces, &stream.packs), file, self.subjects, known, tells)
    }

    /// Uses in the headers; the numbers of the files are theirs.
    pub fn header_uses(&self) -> Vec<MeantUse> {
        let numbers: Vec<usize> = (0..self.headers.len()).collect();
        let found = fieldline_parallel::map(&numbers, |file| {
            let is_searched = self.headers.get(*file).is_some_and(|header| header.is_searched);
            if is_searched {
                self.read_header(*file, &Known::new(&self.flows, &self.related), true).0
            } else {
                Vec::new()
            }
        });
        let world = &self.program.world;
        let path_of = |file: usize| self.path(file).to_owned();
        let uses = found.into_iter().enumerate().flat_map(|(file, found)| {
            let own = found.into_iter().map(move |found| (file, found));
            own.collect::<Vec<_>>()
        });
        let mut uses: Vec<MeantUse> = uses
            .map(|(file, found)| MeantUse {
                subject: found.subject,
                file,
                used: into_use(world, &path_of, self.subjects, &found),
            })
            .collect();
        uses.sort();
        uses.dedup();
        uses
    }

    /// Names that the headers give the subjects, each with the number of its subject.
    pub fn names(&self) -> Vec<(KnownName, usize)> {
        names_in(&self.program.world)
    }

    fn path(&self, file: usize) -> &'t str {
        self.headers.get(file).map_or("", |header| header.path)
    }

    /// Uses in one more file.
    pub fn unit_uses(&self, unit: ReadFile<'_>) -> Vec<MeantUse> {
        if is_assembler(unit.path) {
            return Vec::new();
        }
        let file = self.headers.len();
        let stream = stream::read(unit.text);
        let world = self.world_of(&unit, &stream, file);
        let mut uses = Vec::new();
        let turns = world.macros.turns(&stream.pieces, file).clamp(1, TURNS);
        for turn in 0..turns {
            let pieces = world.macros.expand(&stream.pieces, file, turn);
            let own = world_with(&world, &pieces, file, &stream);
            let found = self.follow(&own, (unit.path, &pieces, &stream.packs), file);
            let path_of = |number: usize| match number == file {
                true => unit.path.to_owned(),
                false => self.path(number).to_owned(),
            };
            uses.extend(found.iter().map(|found| MeantUse {
                subject: found.subject,
                file,
                used: into_use(&own, &path_of, self.subjects, found),
            }));
        }
        uses.sort();
        uses.dedup();
        uses
    }

    /// The declarations that a file knows beside its own, with its macros.
    fn world_of<'u>(&'u self, unit: &ReadFile<'u>, stream: &stream::Stream<'u>, file: usize) -> World<'u> {
        let shared: &World<'u> = &self.program.world;
        let named: Vec<&[u8]> = stream.includes.iter().map(|include| include.path).collect();
        let includes: IncludeGraph = shared.macros.includes.with_file(unit.path, &named);
        let mut macros = Macros {
            shared: Some(shared.macros.clone()),
            texts: vec![unit.text],
            includes: Arc::new(includes),
            ..Macros::default()
        };
        for definition in &stream.macros {
            macros.add(KnownMacro { definition: definition.clone(), file, is_shared: false });
        }
        let has_cpp = is_unit(unit.path) && !unit.path.ends_with(".c");
        World { macros: Arc::new(macros), has_cpp, ..shared.clone() }
    }

    /// Follows values through a file's functions, and tells the uses.
    fn follow<'u>(
        &'u self,
        world: &World<'u>,
        source: (&str, &[stream::Piece<'u>], &[(u32, bool)]),
        file: usize,
    ) -> Vec<Found> {
        let wanted = Wanted { files: &[file], asked: Asked::All(&self.related) };
        let (found, open) = follow(self.flows.clone(), wanted, |file, known, tells| {
            read_code(world, source, file, self.subjects, known, tells)
        });
        let mut found: Vec<Found> = found.into_iter().map(|(_, found)| found).collect();
        found.extend(open.into_iter().filter_map(|record| world.subject(record)).map(unfollowed));
        found
    }
}

/// A world with a file's own declarations among those shared: later ones know earlier ones, and the other way.
fn world_with<'u>(
    world: &World<'u>,
    pieces: &[stream::Piece<'u>],
    file: usize,
    stream: &stream::Stream<'u>,
) -> World<'u> {
    let items = items::read(world, pieces, file, &stream.packs);
    let mut own = world.clone();
    declare(&mut own, &items, true, false, false);
    own
}

/// Paths in the `#include` lines of a text; an empty one where a macro stands.
pub fn include_paths(text: &[u8]) -> Vec<String> {
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| {
        let rest = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
        let rest = rest.strip_prefix(b"include")?.trim_ascii_start();
        let (first, path) = rest.split_first()?;
        let end = match first {
            b'"' => path.iter().position(|byte| *byte == b'"'),
            b'<' => path.iter().position(|byte| *byte == b'>'),
            _ => return Some(String::new()),
        };
        Some(String::from_utf8_lossy(path.get(..end?)?).into_owned())
    });
    lines.collect()
}
