//! Structs that hold planned ones by value.

use serde::{Deserialize, Serialize};

/// A struct that holds a planned one by value, before and after, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embedding {
    /// Its tag.
    pub name: String,
    /// The members that hold it.
    pub member: String,
    /// Size as declared.
    pub before: u64,
    /// Size with the chosen order.
    pub after: u64,
    /// Size with the orders of all structs of the plan, if others change it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_all: Option<u64>,
    /// Bytes the kernel's allocator takes for it as declared.
    pub slab_before: u64,
    /// Bytes it takes with the chosen order.
    pub slab_after: u64,
}

impl Embedding {
    /// Words about its size with the orders of all structs, to stand behind that with one; empty where both are equal.
    pub fn describe_all(&self) -> String {
        self.after_all.map_or_else(String::new, |after| format!(", {after} with all orders of the plan"))
    }
}
