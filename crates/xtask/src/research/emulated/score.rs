//! What attribution says against what was there.

use crate::tools::shell::print_line;
use anyhow::{Context, Result, ensure};
use fieldline_profile::attribute::Attributed;
use fieldline_typeflow::operands::program_operands::ProgramOperands;
use fieldline_typeflow::operands::target::Target;
use std::collections::{BTreeMap, BTreeSet};

/// An object the program said it has.
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
    /// What was said of the others, and how often.
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
        match found.target {
            Target::Exact { ty, offset } => match self.is_right(object, address, name(ty), offset) {
                true => self.right += 1,
                false => {
                    self.wrong += 1;
                    self.count_missed(format!("{} taken for {} +{offset}", object.ty, name(ty)));
                }
            },
            Target::Within { ty } | Target::Element { ty, .. } => {
                self.count_missed(format!("{}: somewhere in {}", object.ty, name(ty)));
            }
            Target::Unknown(reason) => self.count_missed(format!("{}: {}", object.ty, reason.id())),
        }
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

    fn count_missed(&mut self, what: String) {
        *self.missed.entry(what).or_default() += 1;
    }

    /// Of the samples in objects, how many were attributed to them, in percent.
    pub(super) fn recall(&self) -> f64 {
        100.0 * self.right as f64 / self.inside.max(1) as f64
    }

    /// Of the samples that were attributed, how many rightly, in percent.
    pub(super) fn precision(&self) -> f64 {
        100.0 * self.right as f64 / (self.right + self.wrong).max(1) as f64
    }

    pub(super) fn print(&self, name: &str, with_addresses: bool) {
        let how = if with_addresses { "with addresses" } else { "by code alone" };
        print_line!(
            "  {name} {how}: {} samples in {} objects, recall {:.2} %, precision {:.2} %",
            self.inside,
            self.objects.len(),
            self.recall(),
            self.precision()
        );
        for (what, count) in &self.missed {
            print_line!("    {count} × {what}");
        }
    }
}
