//! The proof that nothing depends on an order, and what does though the user insists.

use serde::{Deserialize, Serialize};

/// How the uses of a struct were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UseProof {
    /// A C front end read every unit of the build that may see the struct.
    FrontEnd {
        /// How many units.
        units: usize,
    },
    /// All code of the tree that may know the struct was read as text.
    Text,
}

impl UseProof {
    /// How they were read, as the end of a sentence.
    pub(super) fn describe(self) -> String {
        match self {
            Self::FrontEnd { units: 1 } => "1 unit read by a C front end".to_owned(),
            Self::FrontEnd { units } => format!("{units} units read by a C front end"),
            Self::Text => "read as text".to_owned(),
        }
    }
}

/// An order that is wanted though something depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insistence {
    /// The user's reason.
    pub reason: String,
    /// Uses that depend on the order, a sentence each.
    pub uses: Vec<String>,
}
