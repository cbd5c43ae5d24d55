//! Why a plan read back can't be used.

use crate::result::{FORMAT, VERSION};

/// Why a plan can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Something else than a plan.
    #[error("format is {0:?}, not {FORMAT:?}")]
    Format(String),
    /// A plan of another time.
    #[error("plan version is {0}; this program reads version {VERSION}")]
    Version(u32),
    /// The struct has changed since, or is another one.
    #[error(
        "plan for another layout of struct {name}: it has fingerprint {planned:#018x}, the layout {actual:#018x}"
    )]
    OtherLayout {
        /// Tag.
        name: String,
        /// The plan's fingerprint.
        planned: u64,
        /// The layout's.
        actual: u64,
    },
    /// Members are missing or doubled.
    #[error("struct {0}: the chosen members are no order of the declared ones")]
    NotAnOrder(String),
    /// An offset isn't what the C ABI gives the order.
    #[error(
        "struct {name}: member {index} is planned at bit {planned}, but its order puts it at bit {placed}"
    )]
    OtherPlace {
        /// Tag.
        name: String,
        /// Declared index of the member.
        index: usize,
        /// Planned offset in bits.
        planned: u64,
        /// Offset in bits by the order.
        placed: u64,
    },
    /// The size isn't what the C ABI gives the order.
    #[error("struct {name}: {planned} bytes are planned, but its order takes {placed}")]
    OtherSize {
        /// Tag.
        name: String,
        /// Planned size in bytes.
        planned: u64,
        /// Size in bytes by the order.
        placed: u64,
    },
}
