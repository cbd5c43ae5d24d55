//! What visits were learnt from: how many windows, samples and functions stand behind each class of them.

use crate::result::{ClassEvidence, VisitEvidence, rounded};
use crate::visits::{Class, Names, Touch};
use fieldline_access::AccessProfile;

/// Functions named for a class.
const NAMED: usize = 6;

impl VisitEvidence {
    /// Of all classes of visits.
    pub fn new(profile: &AccessProfile, names: &Names, touches: &[Touch], learnt: &[Class]) -> Self {
        let sum = |number: fn(&Class) -> f64| learnt.iter().map(number).sum::<f64>();
        let visits = sum(|class| class.weight);
        let classes = learnt.iter().filter(|class| class.weight > 0.0);
        let mut classes: Vec<ClassEvidence> =
            classes.map(|class| ClassEvidence::new(profile, names, touches, class, visits)).collect();
        classes.sort_by(|one, other| {
            let [mine, others] = [one, other].map(|class| class.mostly.iter().map(|part| &part.0));
            let shares = other.share.total_cmp(&one.share);
            shares.then_with(|| mine.cmp(others)).then_with(|| one.samples.total_cmp(&other.samples))
        });
        Self {
            windows: sum(|class| class.windows).round() as u64,
            joint_windows: sum(|class| class.joint).round() as u64,
            samples: touches.iter().map(|touch| touch.samples).sum(),
            functions: touches.len(),
            callchains: profile.recordings.iter().map(|recording| recording.callchains).sum(),
            branch_stacks: profile.recordings.iter().map(|recording| recording.branch_stacks).sum(),
            classes,
        }
    }

    /// A sentence for people.
    pub fn sentence(&self) -> String {
        let beside = match (self.callchains, self.branch_stacks) {
            (0, 0) => String::new(),
            (chains, 0) => format!(", with {chains} call chains"),
            (0, branches) => format!(", with {branches} branch stacks"),
            (chains, branches) => format!(", with {chains} call chains and {branches} branch stacks"),
        };
        let Self { samples, functions, joint_windows, windows, classes, .. } = self;
        if *windows == 0 {
            return format!(
                "visits of one function each, from {samples} samples in {functions} functions{beside}"
            );
        }
        format!(
            "{} classes of visits from {samples} samples in {functions} functions, {joint_windows} of {windows} windows \
             with several samples{beside}",
            classes.len()
        )
    }
}

impl ClassEvidence {
    fn new(profile: &AccessProfile, names: &Names, touches: &[Touch], class: &Class, visits: f64) -> Self {
        let mut parts: Vec<(f64, u32)> = class
            .parts
            .iter()
            .filter_map(|(index, share)| Some((*share, touches.get(*index)?.function)))
            .collect();
        parts.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let name = |function: u32| {
            let name = names.function(function).and_then(|index| profile.functions.get(index));
            name.cloned().unwrap_or_else(|| "?".to_owned())
        };
        Self {
            share: rounded(class.weight / visits, 10_000.0),
            windows: rounded(class.windows, 10.0),
            joint_windows: rounded(class.joint, 10.0),
            samples: rounded(class.samples, 10.0),
            functions: parts.len(),
            mostly: parts
                .into_iter()
                .take(NAMED)
                .map(|(share, function)| (name(function), rounded(share, 1000.0)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_names_its_functions_and_counts_what_it_rests_on() {
        let mut profile = AccessProfile::empty();
        profile.functions = vec!["walk".to_owned(), "enqueue".to_owned()];
        profile.recordings =
            vec![fieldline_access::access::Recording { callchains: 9, ..Default::default() }];
        let names = Names::new(&profile);
        let touch = |function| Touch { function, samples: 5, ..Touch::default() };
        // By rank of their names, enqueue is 0 and walk 1.
        let touches = [touch(0), touch(1)];
        let class = |weight, parts: &[(usize, f64)]| Class {
            weight,
            parts: parts.to_vec(),
            windows: 4.0,
            joint: 3.0,
            samples: 5.0,
        };
        let learnt = [class(10.0, &[(0, 0.5), (1, 1.0)]), class(30.0, &[(0, 1.0)])];
        let evidence = VisitEvidence::new(&profile, &names, &touches, &learnt);
        assert_eq!((evidence.windows, evidence.joint_windows, evidence.samples), (8, 6, 10));
        let shares: Vec<f64> = evidence.classes.iter().map(|class| class.share).collect();
        assert_eq!(shares, [0.75, 0.25]);
        assert_eq!(evidence.classes[1].mostly, [("walk".to_owned(), 1.0), ("enqueue".to_owned(), 0.5)]);
        assert!(evidence.sentence().contains("6 of 8 windows with several samples, with 9 call chains"));
    }
}
