//! The accesses of a struct as rows: a measure and its count each.

use super::{Common, ProfileRows};
use crate::error::FileProblem;
use crate::measure;
use crate::members;
use crate::schema::Table;
use crate::values::NONE;
use fieldline_access::access::{Access, TypeProfile};
use fieldline_access::line_turns::LineTurns;
use std::collections::BTreeMap;

/// Keys of a row that only some measures have.
#[derive(Clone, Copy, Default)]
struct Place {
    block: u32,
    member: u32,
    offset: u32,
    size: u32,
    ip: u32,
    function: u32,
    cpu: u32,
    written: u32,
}

/// A struct of a profile with what its rows share.
struct TypeRows<'t> {
    known: &'t TypeProfile,
    name: u32,
    fingerprint: u32,
    /// Paths of members by byte.
    paths: BTreeMap<u64, u32>,
}

impl ProfileRows<'_> {
    pub(super) fn add_accesses(&mut self, known: &TypeProfile) -> Result<(), FileProblem> {
        let (name, fingerprint) = (self.text(&known.name), self.text(&format!("{:016x}", known.fingerprint)));
        let mut rows = TypeRows { known, name, fingerprint, paths: BTreeMap::new() };
        for access in &known.accesses {
            self.add_access(&mut rows, access)?;
        }
        for access in &known.cpus {
            let cpu = self.tables.values.number(i64::from(access.cpu));
            let place = Place { cpu, ..self.place(&mut rows, access.offset) };
            self.add_count(&rows, measure::CPU_LOADS, place, access.loads)?;
            self.add_count(&rows, measure::CPU_STORES, place, access.stores)?;
        }
        for (phase, objects) in &known.phases {
            let offset = self.tables.values.number(*phase as i64);
            self.add_count(&rows, measure::PHASE, Place { offset, ..Place::default() }, *objects)?;
        }
        self.add_count(&rows, measure::HOME_SAMPLES, Place::default(), known.homes.samples)?;
        self.add_count(&rows, measure::HOME_OTHERS, Place::default(), known.homes.others)?;
        known.turns.iter().try_for_each(|turns| self.add_turns(&mut rows, turns))
    }

    /// Functions in their order, on which orders of equal cost depend.
    pub(super) fn add_functions(&mut self) -> Result<(), FileProblem> {
        let Common { host, day, labels, build_id, .. } = self.common;
        let measure = self.text(measure::FUNCTION);
        for name in &self.functions {
            let function = self.tables.values.text(name);
            let none = [NONE; 6];
            let [type_name, fingerprint, member, offset, size, ip] = none;
            let key = [
                host,
                day,
                labels,
                NONE,
                NONE,
                build_id,
                type_name,
                fingerprint,
                member,
                offset,
                size,
                ip,
                function,
                NONE,
                NONE,
                measure,
            ];
            self.tables.add(Table::Accesses, &key, &[1])?;
        }
        Ok(())
    }

    /// The place of a byte.
    fn place(&mut self, rows: &mut TypeRows<'_>, offset: u64) -> Place {
        let values = &mut self.tables.values;
        let layout = rows.known.layout.as_ref();
        let member = *rows.paths.entry(offset).or_insert_with(|| {
            let member = layout.and_then(|layout| members::find(layout, offset));
            values.maybe_text(member.as_ref().map(|member| member.path.as_str()))
        });
        Place { member, offset: values.number(offset as i64), ..Place::default() }
    }

    fn add_access(&mut self, rows: &mut TypeRows<'_>, access: &Access) -> Result<(), FileProblem> {
        let place = self.place(rows, access.offset);
        let function = self.functions.get(access.function as usize).map(String::as_str);
        let values = &mut self.tables.values;
        let (size, ip) = (values.number(access.size as i64), values.number(access.ip as i64));
        let place = Place { size, ip, function: values.maybe_text(function), ..place };
        let (mut loads, mut stores) = (access.loads.samples, access.stores.samples);
        for count in &access.blocks {
            let place = Place { block: self.tables.values.number(i64::from(count.block)), ..place };
            self.add_count(rows, measure::LOADS, place, count.loads)?;
            self.add_count(rows, measure::STORES, place, count.stores)?;
            (loads, stores) = (loads.saturating_sub(count.loads), stores.saturating_sub(count.stores));
        }
        let away = access.away;
        for (name, count) in [
            (measure::LOADS, loads),
            (measure::STORES, stores),
            (measure::LOAD_PERIOD, access.loads.period),
            (measure::STORE_PERIOD, access.stores.period),
            (measure::LATENCY, access.latency),
            (measure::AWAY_LOADS, away.loads),
            (measure::AWAY_STORES, away.stores),
            (measure::AWAY_LOST, away.lost),
        ] {
            self.add_count(rows, name, place, count)?;
        }
        for (prefix, levels) in
            [(measure::LOAD_LEVEL, &access.levels), (measure::STORE_LEVEL, &access.store_levels)]
        {
            for (level, count) in levels {
                self.add_count(rows, &format!("{prefix}{level}"), place, *count)?;
            }
        }
        Ok(())
    }

    fn add_turns(&mut self, rows: &mut TypeRows<'_>, turns: &LineTurns) -> Result<(), FileProblem> {
        let size = self.tables.values.number(turns.line as i64);
        let cpu = self.tables.values.number(turns.cpus as i64);
        let line = Place { size, ..Place::default() };
        self.add_count(rows, measure::TRUE_TURNS, line, turns.true_turns)?;
        self.add_count(rows, measure::FALSE_TURNS, line, turns.false_turns)?;
        self.add_count(rows, measure::TURN_CPUS, Place { cpu, ..line }, 1)?;
        for pair in &turns.pairs {
            let written = self.tables.values.number(pair.written as i64);
            let place = Place { size, written, ..self.place(rows, pair.offset) };
            self.add_count(rows, measure::TURNS, place, pair.turns)?;
            self.add_count(rows, measure::TURN_OBJECTS, place, pair.objects)?;
        }
        Ok(())
    }

    /// Adds a row, unless it counts nothing. Only what intervals are made of has the group of its host.
    fn add_count(
        &mut self,
        rows: &TypeRows<'_>,
        name: &str,
        place: Place,
        count: u64,
    ) -> Result<(), FileProblem> {
        if count == 0 {
            return Ok(());
        }
        let Common { host, day, labels, host_group, build_id } = self.common;
        let host_group = if measure::is_of_blocks(name) { host_group } else { NONE };
        let Place { block, member, offset, size, ip, function, cpu, written } = place;
        let (name, type_name, fingerprint) = (self.tables.values.text(name), rows.name, rows.fingerprint);
        let key = [
            host,
            day,
            labels,
            host_group,
            block,
            build_id,
            type_name,
            fingerprint,
            member,
            offset,
            size,
            ip,
            function,
            cpu,
            written,
            name,
        ];
        Ok(self.tables.add(Table::Accesses, &key, &[i64::try_from(count).unwrap_or(i64::MAX)])?)
    }
}
