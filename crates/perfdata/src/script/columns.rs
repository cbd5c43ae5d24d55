//! The meaning of numbers in lines.
//!
//! The order is perf's: address, data source, weights, instruction. Which of them were asked for is the same
//! for all lines of an event, so it is learnt from all of them: a symbol may look like a number, but not on
//! every line.

use super::sample_line::{HexNumbers, MAX_NUMBERS, SampleLine};
use crate::sample::SampleFields;

/// Statistics over the lines of one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ColumnStatistics {
    /// Fewest numbers in front of the instruction, behind the data source's words if there are such.
    before_ip: Option<usize>,
    /// Fewest numbers in front of the words, on lines that have words.
    before_source_text: Option<usize>,
    /// Whether some value of a column can't be decimal, or is too large for a weight.
    is_address: [bool; MAX_NUMBERS],
    /// Whether some value is too large for a latency, so may be a data source.
    may_be_data_source: [bool; MAX_NUMBERS],
    /// The same as `is_address` of numbers in front of the words.
    is_address_before: [bool; MAX_NUMBERS],
    has_event: bool,
    has_ip: bool,
}

/// Position of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnPosition {
    /// Among the numbers in front of the data source's words.
    BeforeSourceText(usize),
    /// Among the others.
    Number(usize),
}

/// The meaning of the numbers of an event's lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ColumnRoles {
    period: Option<ColumnPosition>,
    addr: Option<ColumnPosition>,
    data_source: Option<ColumnPosition>,
    /// The first column of the weights, and the instruction's.
    weights: (usize, usize),
    pub(crate) has_ip: bool,
}

/// The numbers of a line by their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineValues<'l> {
    pub(crate) period: Option<&'l str>,
    pub(crate) addr: Option<&'l str>,
    pub(crate) data_source: Option<&'l str>,
    /// The first weight.
    pub(crate) latency: Option<&'l str>,
    /// Index of the instruction among [`SampleLine::numbers`], unless it stands in a call chain or nowhere.
    pub(crate) ip: Option<usize>,
}

/// Decimal digits that no weight has.
const WEIGHT_DIGITS: usize = 10;

fn is_address(word: &str) -> bool {
    word.len() > WEIGHT_DIGITS || word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Digits that no latency in cycles has, but every data source.
const DATA_SOURCE_DIGITS: usize = 7;

fn may_be_data_source(word: &str) -> bool {
    word.len() >= DATA_SOURCE_DIGITS || is_address(word)
}

fn update_minimum(known: &mut Option<usize>, count: usize) {
    *known = Some(known.map_or(count, |known| known.min(count)));
}

impl ColumnStatistics {
    /// Takes note of a line; `has_frames` if a call chain follows it, which then holds the instruction.
    pub(crate) fn add_line(&mut self, line: &SampleLine<'_>, has_frames: bool) {
        let count = line.numbers.count();
        self.has_ip |= has_frames || count > 0;
        self.has_event |= line.event.is_some();
        update_minimum(&mut self.before_ip, if has_frames { count } else { count.saturating_sub(1) });
        if line.has_source_text() {
            update_minimum(&mut self.before_source_text, line.before_source_text.count());
        }
        let set_flags =
            |flags: &mut [bool; MAX_NUMBERS], numbers: &HexNumbers<'_>, predicate: fn(&str) -> bool| {
                for (index, flag) in flags.iter_mut().enumerate() {
                    *flag |= numbers.get(index).is_some_and(predicate);
                }
            };
        set_flags(&mut self.is_address, &line.numbers, is_address);
        set_flags(&mut self.may_be_data_source, &line.numbers, may_be_data_source);
        set_flags(&mut self.is_address_before, &line.before_source_text, is_address);
    }

    /// The meaning of the numbers, once all lines were added.
    pub(crate) fn assign_roles(&self) -> ColumnRoles {
        let before_ip = self.before_ip.unwrap_or(0);
        let roles = ColumnRoles { weights: (0, before_ip), has_ip: self.has_ip, ..ColumnRoles::default() };
        match self.before_source_text {
            Some(count) => self.roles_with_source_text(count, roles),
            None => self.roles_without_source_text(before_ip, roles),
        }
    }

    /// With words: the data source stands right in front of them, the address in front of it.
    fn roles_with_source_text(&self, count: usize, mut roles: ColumnRoles) -> ColumnRoles {
        roles.data_source = count.checked_sub(1).map(ColumnPosition::BeforeSourceText);
        let has_period = count > 1 && self.is_lone_period(&self.is_address_before);
        roles.period = has_period.then_some(ColumnPosition::BeforeSourceText(0));
        let first = usize::from(has_period);
        roles.addr = (first + 1 < count).then_some(ColumnPosition::BeforeSourceText(first));
        roles
    }

    /// Without words: weights are small and decimal, addresses are not, nor is a data source in figures.
    fn roles_without_source_text(&self, before_ip: usize, mut roles: ColumnRoles) -> ColumnRoles {
        let is_flagged =
            |flags: &[bool; MAX_NUMBERS], index: usize| index < before_ip && flags.get(index) == Some(&true);
        let mut next = 0;
        if before_ip > 0 && self.is_lone_period(&self.is_address) {
            roles.period = Some(ColumnPosition::Number(0));
            next = 1;
        }
        if is_flagged(&self.is_address, next) {
            roles.addr = Some(ColumnPosition::Number(next));
            next += 1;
            if is_flagged(&self.may_be_data_source, next) {
                roles.data_source = Some(ColumnPosition::Number(next));
                next += 1;
            }
        }
        roles.weights.0 = next;
        roles
    }

    /// Without the event's name the period differs from the other numbers only by being small and decimal.
    fn is_lone_period(&self, is_address: &[bool; MAX_NUMBERS]) -> bool {
        !self.has_event && !is_address.first().is_some_and(|is_address| *is_address)
    }
}

impl ColumnRoles {
    /// The fields that samples have by their numbers.
    pub(crate) fn fields(&self) -> SampleFields {
        SampleFields::from_flags([
            (self.has_ip, SampleFields::IP),
            (self.addr.is_some(), SampleFields::ADDR),
            (self.data_source.is_some(), SampleFields::DATA_SRC),
            (self.weights.0 < self.weights.1, SampleFields::WEIGHT),
            (self.period.is_some(), SampleFields::PERIOD),
        ])
    }

    /// The numbers of a line by their meaning; `None` if it has other numbers than its event's lines have.
    pub(crate) fn values<'l>(&self, line: &SampleLine<'l>, has_frames: bool) -> Option<LineValues<'l>> {
        let value_at = |position: Option<ColumnPosition>| match position {
            None => Some(None),
            Some(ColumnPosition::BeforeSourceText(index)) => line.before_source_text.get(index).map(Some),
            Some(ColumnPosition::Number(index)) => line.numbers.get(index).map(Some),
        };
        let (first, ip) = self.weights;
        Some(LineValues {
            period: value_at(self.period)?,
            addr: value_at(self.addr)?,
            data_source: value_at(self.data_source)?,
            latency: line.numbers.get(first).filter(|_| first < ip),
            ip: (!has_frames && line.numbers.count() > ip).then_some(ip),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::sample_line::ScriptLine;

    /// The address, data source, first weight and instruction of the last line.
    fn read(lines: &[&str]) -> [Option<String>; 4] {
        let parsed: Vec<SampleLine<'_>> = lines
            .iter()
            .map(|line| match ScriptLine::parse(line) {
                ScriptLine::Sample(sample) => sample,
                other => panic!("{other:?}"),
            })
            .collect();
        let mut columns = ColumnStatistics::default();
        parsed.iter().for_each(|line| columns.add_line(line, false));
        let last = parsed.last().unwrap();
        let values = columns.assign_roles().values(last, false).unwrap();
        let ip = values.ip.and_then(|index| last.numbers.get(index));
        [values.addr, values.data_source, values.latency, ip].map(|word| word.map(str::to_owned))
    }

    fn some(words: [&str; 4]) -> [Option<String>; 4] {
        words.map(|word| (!word.is_empty()).then(|| word.to_owned()))
    }

    #[test]
    fn each_choice_of_columns() {
        let read_one = |numbers: &str| read(&[&format!("1.000001: x: {numbers} walk+0x4 (vmlinux)")]);
        assert_eq!(read_one("ffffffff81000010"), some(["", "", "", "ffffffff81000010"]));
        assert_eq!(read_one("ffff888000000010 4010"), some(["ffff888000000010", "", "", "4010"]));
        assert_eq!(read_one("37 4010"), some(["", "", "37", "4010"]));
        assert_eq!(read_one("ffff888000000010 37 4010"), some(["ffff888000000010", "", "37", "4010"]));
        let raw = some(["ffff888000000010", "1e05080021", "37", "4010"]);
        assert_eq!(read_one("ffff888000000010 1e05080021 37 4010"), raw);
        let decimal = some(["ffff888000000010", "68100142", "37", "4010"]);
        assert_eq!(read_one("ffff888000000010 68100142 37 4010"), decimal);
        let words = "|OP LOAD|LVL L1 hit|LCK No|BLK  N/A";
        assert_eq!(read_one(&format!("10 21 {words} 5 4010")), some(["10", "21", "5", "4010"]));
        assert_eq!(read_one(&format!("21 {words} 4010")), some(["", "21", "", "4010"]));
    }

    #[test]
    fn symbols_like_numbers_are_recognized_by_the_other_lines() {
        let add = "1.000001: x: ffff888000000010 ffffffff81000010 add (vmlinux)";
        let walk = "1.000001: x: ffff888000000018 ffffffff81000020 walk (vmlinux)";
        assert_eq!(read(&[walk, add]), some(["ffff888000000010", "", "", "ffffffff81000010"]));
    }

    #[test]
    fn without_an_event_a_small_number_in_front_is_the_period() {
        let line = "a 7/8 [003] 1.000001: 200 ffff888000000010 ffffffff81000010 walk";
        assert_eq!(read(&[line]), some(["ffff888000000010", "", "", "ffffffff81000010"]));
    }
}
