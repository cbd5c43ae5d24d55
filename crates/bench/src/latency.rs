//! Latencies as the load counts them: how many were within which range.

/// Counts of latencies of one kind, in ranges of nanoseconds that ascend.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LatencyCounts {
    pub(crate) name: String,
    /// Begin, end and count of each range.
    pub(crate) ranges: Vec<(u64, u64, u64)>,
}

impl LatencyCounts {
    pub(crate) fn total(&self) -> u64 {
        self.ranges.iter().fold(0, |sum, (_, _, count)| sum.saturating_add(*count))
    }

    /// The latency that so many percent do not exceed, in microseconds, evenly distributed within its range.
    pub(crate) fn percentile(&self, percent: f64) -> Option<f64> {
        let wanted = self.total() as f64 * percent / 100.0;
        let mut before = 0.0;
        for (begin, end, count) in &self.ranges {
            let count = *count as f64;
            if before + count >= wanted && count > 0.0 {
                let part = ((wanted - before) / count).clamp(0.0, 1.0);
                return Some((*begin as f64 + part * end.saturating_sub(*begin) as f64) / 1000.0);
            }
            before += count;
        }
        None
    }

    /// Adds a line `latency NAME FROM TO COUNT` to those of its name; false if it is none.
    pub(crate) fn add_line(all: &mut Vec<Self>, line: &str) -> bool {
        let words: Vec<&str> = line.split(' ').collect();
        let ["latency", name, begin, end, count] = words[..] else { return false };
        let (Ok(begin), Ok(end), Ok(count)) = (begin.parse(), end.parse(), count.parse()) else {
            return false;
        };
        match all.iter_mut().find(|known| known.name == name) {
            Some(known) => known.ranges.push((begin, end, count)),
            None => all.push(Self { name: name.to_owned(), ranges: vec![(begin, end, count)] }),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<LatencyCounts> {
        let mut all = Vec::new();
        assert!(lines.iter().all(|line| LatencyCounts::add_line(&mut all, line)));
        all
    }

    #[test]
    fn percentiles_lie_within_the_range_that_holds_them() {
        let all = read(&[
            "latency wakeup 1000 2000 90",
            "latency wakeup 8000 9000 9",
            "latency wakeup 50000 51000 1",
        ]);
        let percentile = |percent| all[0].percentile(percent).unwrap();
        assert_eq!(all[0].total(), 100);
        assert_eq!((percentile(45.0), percentile(90.0), percentile(99.0)), (1.5, 2.0, 9.0));
        assert!((50.0..=51.0).contains(&percentile(99.9)));
    }

    #[test]
    fn kinds_are_kept_apart_and_other_lines_are_none() {
        assert_eq!(read(&["latency a 0 1 5", "latency b 0 1 7"]).len(), 2);
        let mut all = Vec::new();
        for line in ["done 0", "latency a 0 1", "latency a 0 x 1", "latency a 0 1 -1", ""] {
            assert!(!LatencyCounts::add_line(&mut all, line), "{line}");
        }
        assert_eq!(LatencyCounts::default().percentile(50.0), None);
    }
}
