//! Tables in many files: which files there are, and their sums. Files are read on all threads, and their rows
//! added in order of paths.

use crate::discover::find_files;
use crate::error::{Error, FileProblem};
use crate::file::{Selection, read_table};
use crate::filter::Filter;
use crate::row_sums::Tables;
use crate::schema::{Projection, Table};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files that one thread reads in turn.
const PER_THREAD: usize = 8;
/// Files whose rows are in memory beside the sums, at most.
const AT_ONCE: usize = 8 * PER_THREAD;

/// How files are read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Which rows count.
    pub filter: Filter,
    /// Whether broken files are left out, and counted, instead of an error.
    pub skip_broken: bool,
}

/// Files of tables, with the recordings they are of.
#[derive(Debug)]
pub struct Dataset {
    files: Vec<PathBuf>,
    options: ReadOptions,
    recordings: Tables,
    /// Errors of the files left out.
    pub broken: Vec<Error>,
}

impl Dataset {
    /// Finds files of folders, patterns and paths, and reads which recordings they are of.
    ///
    /// # Errors
    /// If there is no such file, or one is broken, or a recording is there twice.
    pub fn open(paths: &[PathBuf], options: &ReadOptions) -> Result<Self, Error> {
        let files = find_files(paths)?;
        let mut dataset =
            Self { files, options: options.clone(), recordings: Tables::default(), broken: Vec::new() };
        let place = paths.first().map_or(Path::new(""), PathBuf::as_path);
        dataset.read_recordings(place)?;
        dataset.options.filter.note_kernels(&dataset.recordings);
        Ok(dataset)
    }

    fn read_recordings(&mut self, place: &Path) -> Result<(), Error> {
        let projection = Projection::all().of_tables(&[Table::Recordings]);
        let options = self.options.clone();
        let selection = Selection { projection: &projection, filter: &options.filter };
        let looked = fieldline_parallel::map(&self.files, |path| {
            let mut tables = Tables::default();
            read_table(path, &mut tables, selection).map(|table| (table, tables))
        });
        let (mut others, mut has_recordings) = (Vec::new(), false);
        for (path, looked) in std::mem::take(&mut self.files).into_iter().zip(looked) {
            match looked {
                Ok((Table::Recordings, tables)) => {
                    has_recordings = true;
                    self.add_recordings(&path, &tables)?;
                }
                Ok(_) => others.push(path),
                Err(error) if options.skip_broken => self.broken.push(error),
                Err(error) => return Err(error),
            }
        }
        self.files = others;
        if !has_recordings {
            let count = self.files.len() + self.broken.len();
            return Err(Error::new(place, FileProblem::NoRecordings(count)));
        }
        if self.recordings.rows_of(Table::Recordings).is_empty() && !options.filter.is_empty() {
            let known = "see which there are by `fieldline merge` without it".to_owned();
            return Err(Error::new(place, FileProblem::NothingLeft(known)));
        }
        Ok(())
    }

    /// Adds recordings; the same one again, with the same counts, is an error.
    fn add_recordings(&mut self, path: &Path, tables: &Tables) -> Result<(), Error> {
        let there = self.recordings.values.translate(&tables.values);
        for (key, counts) in tables.rows_of(Table::Recordings).rows() {
            let columns = Table::Recordings.keys().iter().zip(key);
            let ours: Vec<u32> = columns.map(|(column, id)| there.map(column.column_type, *id)).collect();
            let is_twice = self.recordings.rows_of(Table::Recordings).find(&ours) == Some(counts)
                && counts.first() != Some(&0);
            if is_twice {
                let name = |column| {
                    let id = Table::Recordings.key_index(column).and_then(|index| key.get(index));
                    tables.values.get_text(id.copied().unwrap_or_default()).unwrap_or("?")
                };
                let named = format!("{} of host {}", name("file"), name("host"));
                return Err(Error::new(path, FileProblem::Twice(named)));
            }
        }
        self.recordings.absorb(tables).map_err(|error| Error::new(path, error))
    }

    /// Hosts of the recordings.
    pub fn hosts(&self) -> BTreeSet<&str> {
        let column = Table::Recordings.key_index("host").unwrap_or_default();
        let rows = self.recordings.rows_of(Table::Recordings).rows();
        let host = |(key, _): (&[u32], _)| {
            self.recordings.values.get_text(key.get(column).copied().unwrap_or_default())
        };
        rows.filter_map(host).collect()
    }

    /// Number of files of tables, but for recordings and broken ones.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// The sums of all rows that count, with the keys that are kept.
    ///
    /// # Errors
    /// If a file is broken, or a sum too large.
    pub fn sum(&mut self, projection: &Projection) -> Result<Tables, Error> {
        let mut sums = self.recordings.clone();
        let (options, files) = (self.options.clone(), self.files.clone());
        let selection = Selection { projection, filter: &options.filter };
        for some in files.chunks(AT_ONCE) {
            let parts: Vec<&[PathBuf]> = some.chunks(PER_THREAD).collect();
            let read = fieldline_parallel::map(&parts, |part| read_all(part, selection, options.skip_broken));
            for ((tables, broken), part) in
                read.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().zip(parts)
            {
                self.broken.extend(broken);
                let place = part.first().map_or(Path::new(""), PathBuf::as_path);
                sums.absorb(&tables).map_err(|error| Error::new(place, error))?;
            }
        }
        Ok(sums)
    }
}

/// The rows of some files. If one is broken and to be left out, the others are read again without it: some of
/// its rows may be among the sums.
fn read_all(
    files: &[PathBuf],
    selection: Selection<'_>,
    skip_broken: bool,
) -> Result<(Tables, Vec<Error>), Error> {
    let mut left: Vec<&PathBuf> = files.iter().collect();
    let mut broken = Vec::new();
    loop {
        let mut tables = Tables::default();
        let failed = left.iter().enumerate().find_map(|(index, path)| {
            read_table(path, &mut tables, selection).err().map(|error| (index, error))
        });
        match failed {
            None => return Ok((tables, broken)),
            Some((index, error)) if skip_broken => {
                left.remove(index);
                broken.push(error);
            }
            Some((_, error)) => return Err(error),
        }
    }
}
