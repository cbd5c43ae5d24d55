//! Whether profiles are of one program, so that their sum means something.

use crate::access::{AccessProfile, TypeProfile};

/// Why two profiles can't be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramMismatch {
    /// Their samples were attributed with programs of different build ids.
    #[error("attributed with build id {second}, but the other with {first}: they are of two programs")]
    BuildId {
        /// A build id of the first, in hex.
        first: String,
        /// A build id of the second.
        second: String,
    },
    /// Where a build id is missing: a struct that both name has another layout in each.
    #[error("struct {name} has {}: they are of two programs", describe_sizes(*first, *second))]
    Layout {
        /// Tag of the struct.
        name: String,
        /// Bytes in the first.
        first: u64,
        /// Bytes in the second.
        second: u64,
    },
}

fn describe_sizes(first: u64, second: u64) -> String {
    match first == second {
        true => format!("the same {first} bytes in both but other members"),
        false => format!("{second} bytes, but {first} in the other"),
    }
}

impl AccessProfile {
    /// Whether another profile may be of the same program: by build ids if both have them, by layouts else.
    ///
    /// # Errors
    /// If it is not.
    pub fn check_same_program(&self, other: &Self) -> Result<(), ProgramMismatch> {
        match (self.build_ids(), other.build_ids()) {
            (Some(ours), Some(theirs)) => {
                let unknown = theirs.into_iter().find(|id| !ours.contains(id));
                unknown.zip(ours.first()).map_or(Ok(()), |(second, first)| {
                    Err(ProgramMismatch::BuildId { first: (*first).to_owned(), second: second.to_owned() })
                })
            }
            _ => self.check_layouts(other),
        }
    }

    /// Whether a recording was attributed with a file of a build id; nothing if none says its own.
    pub fn knows_build(&self, id: &str) -> Option<bool> {
        let own = || self.recordings.iter().filter_map(|recording| recording.build_id.as_ref());
        let others = self.recordings.iter().flat_map(|recording| &recording.other_build_ids);
        own().next()?;
        Some(own().chain(others).any(|known| known == id))
    }

    /// The build ids of all recordings; none if one has none.
    fn build_ids(&self) -> Option<Vec<&str>> {
        let ids = self.recordings.iter().map(|recording| recording.build_id.as_deref());
        ids.collect::<Option<Vec<&str>>>().filter(|ids| !ids.is_empty())
    }

    /// A struct that both name has some layout in common. Several structs of one program may share a name.
    fn check_layouts(&self, other: &Self) -> Result<(), ProgramMismatch> {
        for theirs in &other.types {
            let mut named = self.types.iter().filter(|ours| ours.name == theirs.name).peekable();
            let Some(first) = named.peek().map(|ours| ours.size) else { continue };
            let is_known = |ours: &TypeProfile| other.types.iter().any(|theirs| ours.is_same_struct(theirs));
            if !named.any(is_known) {
                let (name, second) = (theirs.name.clone(), theirs.size);
                return Err(ProgramMismatch::Layout { name, first, second });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Recording;

    fn profile(build_id: Option<&str>, types: &[(&str, u64, u64)]) -> AccessProfile {
        let type_profile = |&(name, size, fingerprint): &(&str, u64, u64)| TypeProfile {
            name: name.to_owned(),
            size,
            fingerprint,
            ..TypeProfile::default()
        };
        AccessProfile {
            recordings: vec![Recording { build_id: build_id.map(str::to_owned), ..Recording::default() }],
            types: types.iter().map(type_profile).collect(),
            ..AccessProfile::empty()
        }
    }

    #[test]
    fn a_profile_knows_the_builds_of_all_its_programs() {
        let mut known = profile(Some("aa"), &[]);
        known.recordings[0].other_build_ids = vec!["bb".to_owned()];
        assert_eq!(["aa", "bb", "cc"].map(|id| known.knows_build(id)), [Some(true), Some(true), Some(false)]);
        assert_eq!(profile(None, &[]).knows_build("aa"), None);
    }

    #[test]
    fn build_ids_decide_where_both_have_them() {
        let a = profile(Some("aa"), &[("thing", 8, 1)]);
        assert_eq!(a.check_same_program(&profile(Some("aa"), &[("thing", 16, 2)])), Ok(()));
        let message = a.check_same_program(&profile(Some("bb"), &[])).unwrap_err().to_string();
        assert!(message.contains("build id bb, but the other with aa"), "{message}");
    }

    #[test]
    fn layouts_decide_where_one_has_none() {
        let a = profile(Some("aa"), &[("thing", 8, 1), ("thing", 16, 2)]);
        assert_eq!(a.check_same_program(&profile(None, &[("thing", 16, 2), ("other", 4, 3)])), Ok(()));
        assert_eq!(a.check_same_program(&profile(None, &[("thing", 8, 1), ("thing", 32, 9)])), Ok(()));
        let other = profile(None, &[("thing", 24, 5)]);
        let expected = ProgramMismatch::Layout { name: "thing".to_owned(), first: 8, second: 24 };
        assert_eq!(a.check_same_program(&other), Err(expected));
        let same_size = a.check_same_program(&profile(None, &[("thing", 8, 5)])).unwrap_err().to_string();
        assert!(same_size.contains("other members"), "{same_size}");
    }
}
