//! Attributed samples against the objects they touched.

use crate::research::statistics::percent;
use crate::tools::shell::print_line;
use anyhow::{Context, Result, ensure};
use fieldline_profile::attribute::Attributed;
use fieldline_typeflow::operands::program_operands::ProgramOperands;
use fieldline_typeflow::operands::target::Target;
use std::collections::{BTreeMap, BTreeSet};

/// An object that the program listed.
pub(super) struct Object {
    pub(super) begin: u64,
    pub(super) size: u64,
    pub(super) ty: String,
}

/// The objects a program printed: `object TYPE ADDRESS SIZE`.
pub(super) fn objects(printed: &str) -> Result<Vec<Object>> {
    let mut objects = Vec::new();
    for row in printed.lines().filter_map(|line| line.strip_prefix("object ")) {
        let mut words = row.rsplitn(3, ' ');
        let (size, begin, ty) = (words.next(), words.next(), words.next());
        let begin = begin.and_then(|word| word.strip_prefix("0x")).context("an object without an address")?;
        objects.push(Object {
            begin: u64::from_str_radix(begin, 16)?,
            size: size.context("an object without a size")?.parse()?,
            ty: ty.context("an object without a type")?.to_owned(),
        });
    }
    ensure!(!objects.is_empty(), "the program has no objects");
    objects.sort_by_key(|object| object.begin);
    Ok(objects)
}

/// The object an address lies in, of objects in order of address.
pub(super) fn object_at(objects: &[Object], address: u64) -> Option<&Object> {
    let past = objects.partition_point(|object| object.begin <= address);
    let object = objects.get(past.checked_sub(1)?)?;
    (address - object.begin < object.size).then_some(object)
}

pub(super) struct Score<'o> {
    objects: &'o [Object],
    names: BTreeSet<&'o str>,
    /// Of the program's code.
    pub(super) samples: u64,
    /// In objects.
    inside: u64,
    right: u64,
    wrong: u64,
    /// Samples of objects that were not attributed to them, by what they were attributed to.
    missed: BTreeMap<String, u64>,
}

impl<'o> Score<'o> {
    pub(super) fn new(objects: &'o [Object]) -> Self {
        let names = objects.iter().map(|object| object.ty.as_str()).collect();
        Self { objects, names, samples: 0, inside: 0, right: 0, wrong: 0, missed: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, address: u64, found: &Attributed, answers: &ProgramOperands) {
        if found.ip.is_none() {
            return;
        }
        self.samples += 1;
        let Some(object) = object_at(self.objects, address) else { return };
        self.inside += 1;
        let name = |ty| answers.type_entry(ty).map_or("", |entry| entry.name.name.as_str());
        let missed = match found.target {
            Target::Exact { ty, offset } if self.is_right(object, address, name(ty), offset) => {
                self.right += 1;
                return;
            }
            Target::Exact { ty, offset } => {
                self.wrong += 1;
                format!("{} taken for {} +{offset}", object.ty, name(ty))
            }
            Target::Within { ty } | Target::Element { ty, .. } => {
                format!("{}: somewhere in {}", object.ty, name(ty))
            }
            Target::Unknown(reason) => format!("{}: {}", object.ty, reason.id()),
        };
        *self.missed.entry(missed).or_default() += 1;
    }

    /// The object itself, or something in it that the program did not list as an object of its own.
    fn is_right(&self, object: &Object, address: u64, name: &str, offset: u64) -> bool {
        let Some(begin) = address.checked_sub(offset) else { return false };
        if name == object.ty {
            return begin == object.begin;
        }
        let inside = begin >= object.begin && begin - object.begin < object.size;
        inside && !self.names.contains(name)
    }

    /// Share of samples in objects that were attributed to them, in percent.
    pub(super) fn recall(&self) -> f64 {
        percent(self.right, self.inside)
    }

    /// Share of attributed samples that are right, in percent.
    pub(super) fn precision(&self) -> f64 {
        percent(self.right, self.right + self.wrong)
    }

    pub(super) fn print(&self, name: &str, with_addresses: bool) {
        let mode = if with_addresses { "with addresses" } else { "by code alone" };
        let (samples, objects) = (self.inside, self.objects.len());
        let (recall, precision) = (self.recall(), self.precision());
        print_line!(
            "  {name} {mode}: {samples} samples in {objects} objects, recall {recall:.2} %, precision {precision:.2} %"
        );
        self.missed.iter().for_each(|(missed, count)| print_line!("    {count} × {missed}"));
    }
}
