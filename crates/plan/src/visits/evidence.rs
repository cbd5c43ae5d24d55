//! Evidence for visits: windows, samples and functions behind each access pattern.

use crate::result::{PatternEvidence, VisitEvidence, rounded};
use crate::visits::{AccessPattern, FunctionTouch, NameRanks};
use fieldline_access::AccessProfile;

/// Functions named for a pattern.
const NAMED_FUNCTIONS: usize = 6;

impl VisitEvidence {
    /// Of all access patterns.
    pub fn new(
        profile: &AccessProfile,
        names: &NameRanks,
        touches: &[FunctionTouch],
        learnt_patterns: &[AccessPattern],
    ) -> Self {
        let sum = |number: fn(&AccessPattern) -> f64| learnt_patterns.iter().map(number).sum::<f64>();
        let visits = sum(|pattern| pattern.weight);
        let patterns = learnt_patterns.iter().filter(|pattern| pattern.weight > 0.0);
        let mut patterns: Vec<PatternEvidence> =
            patterns.map(|pattern| PatternEvidence::new(profile, names, touches, pattern, visits)).collect();
        patterns.sort_by(|this, other| {
            let [mine, others] = [this, other].map(|pattern| pattern.mostly.iter().map(|(name, _)| name));
            let shares = other.share.total_cmp(&this.share);
            shares.then_with(|| mine.cmp(others)).then_with(|| this.samples.total_cmp(&other.samples))
        });
        Self {
            windows: sum(|pattern| pattern.windows).round() as u64,
            joint_windows: sum(|pattern| pattern.joint).round() as u64,
            samples: touches.iter().map(|touch| touch.samples).sum(),
            functions: touches.len(),
            callchains: profile.recordings.iter().map(|recording| recording.callchains).sum(),
            branch_stacks: profile.recordings.iter().map(|recording| recording.branch_stacks).sum(),
            patterns,
        }
    }

    /// A human-readable sentence.
    pub fn describe(&self) -> String {
        let beside = match (self.callchains, self.branch_stacks) {
            (0, 0) => String::new(),
            (chains, 0) => format!(", with {chains} call chains"),
            (0, branches) => format!(", with {branches} branch stacks"),
            (chains, branches) => format!(", with {chains} call chains and {branches} branch stacks"),
        };
        let Self { samples, functions, joint_windows, windows, patterns, .. } = self;
        if *windows == 0 {
            return format!(
                "visits of one function each, from {samples} samples in {functions} functions{beside}"
            );
        }
        format!(
            "{} access patterns from {samples} samples in {functions} functions, {joint_windows} of {windows} windows \
             with several samples{beside}",
            patterns.len()
        )
    }
}

impl PatternEvidence {
    fn new(
        profile: &AccessProfile,
        names: &NameRanks,
        touches: &[FunctionTouch],
        pattern: &AccessPattern,
        visits: f64,
    ) -> Self {
        let mut parts: Vec<(f64, u32)> = pattern
            .functions
            .iter()
            .filter_map(|(index, share)| Some((*share, touches.get(*index)?.function)))
            .collect();
        parts.sort_by(|this, other| other.0.total_cmp(&this.0).then(this.1.cmp(&other.1)));
        let name = |function: u32| {
            let name = names.function_index(function).and_then(|index| profile.functions.get(index));
            name.cloned().unwrap_or_else(|| "?".to_owned())
        };
        Self {
            share: rounded(pattern.weight / visits, 10_000.0),
            windows: rounded(pattern.windows, 10.0),
            joint_windows: rounded(pattern.joint, 10.0),
            samples: rounded(pattern.samples, 10.0),
            functions: parts.len(),
            mostly: parts
                .into_iter()
                .take(NAMED_FUNCTIONS)
                .map(|(share, function)| (name(function), rounded(share, 1000.0)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_its_functions_and_counts_its_samples() {
        let mut profile = AccessProfile::empty();
        profile.functions = vec!["walk".to_owned(), "enqueue".to_owned()];
        profile.recordings =
            vec![fieldline_access::access::Recording { callchains: 9, ..Default::default() }];
        let names = NameRanks::new(&profile);
        let touch = |function| FunctionTouch { function, samples: 5, ..FunctionTouch::default() };
        // By rank of their names, enqueue is 0 and walk 1.
        let touches = [touch(0), touch(1)];
        let pattern = |weight, parts: &[(usize, f64)]| AccessPattern {
            weight,
            functions: parts.to_vec(),
            windows: 4.0,
            joint: 3.0,
            samples: 5.0,
        };
        let learnt_patterns = [pattern(10.0, &[(0, 0.5), (1, 1.0)]), pattern(30.0, &[(0, 1.0)])];
        let evidence = VisitEvidence::new(&profile, &names, &touches, &learnt_patterns);
        assert_eq!((evidence.windows, evidence.joint_windows, evidence.samples), (8, 6, 10));
        let shares: Vec<f64> = evidence.patterns.iter().map(|pattern| pattern.share).collect();
        assert_eq!(shares, [0.75, 0.25]);
        assert_eq!(evidence.patterns[1].mostly, [("walk".to_owned(), 1.0), ("enqueue".to_owned(), 0.5)]);
        assert!(evidence.describe().contains("6 of 8 windows with several samples, with 9 call chains"));
    }
}
