//! The data that the page's script reads. Sizes and offsets are in bytes unless the name says bits.

use serde::Serialize;

/// All of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct PageData {
    /// Line sizes to switch between.
    pub(super) lines: Vec<u64>,
    /// Names of functions; touches refer to them by index.
    pub(super) functions: Vec<String>,
    /// The name for CPUs: `CPUs` or `threads`.
    pub(super) who: &'static str,
    pub(super) structs: Vec<StructData>,
}

/// A struct.
#[derive(Debug, Default, Serialize)]
pub(super) struct StructData {
    pub(super) name: String,
    pub(super) kind: String,
    /// Samples of accesses to it.
    pub(super) samples: u64,
    /// By declared index; then those that only other builds have, or, of two files, those that are gone.
    pub(super) members: Vec<MemberData>,
    /// The declared order first.
    pub(super) orders: Vec<OrderData>,
    /// The build that was recorded first.
    pub(super) builds: Vec<BuildData>,
    pub(super) touches: Vec<Touch>,
    pub(super) cpus: Vec<CpuTouch>,
    /// Names of what lies inside of members, by the offsets that were touched.
    pub(super) inside: Vec<(u64, String)>,
    /// Members that lose their line to writes of other members, by size and number of the line.
    pub(super) lost: Vec<LostMember>,
    /// The order that accesses were recorded with.
    pub(super) recorded: usize,
    /// Which order is shown beside the first one at first.
    pub(super) shown: usize,
}

/// A member.
#[derive(Debug, Default, Serialize)]
pub(super) struct MemberData {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) type_name: String,
    /// `#if` conditions around it, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) conditions: Vec<String>,
    /// Why it is where the plan puts it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) why: Vec<String>,
    /// Of two files: what happened to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) change: Option<String>,
}

/// An order of members.
#[derive(Debug, Default, Serialize)]
pub(super) struct OrderData {
    /// Its name in addresses.
    pub(super) id: String,
    pub(super) label: String,
    /// Its places in each build that is drawn.
    pub(super) places: Vec<Places>,
    /// Members that move among the others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) moved: Vec<usize>,
    /// The layout as pahole shows it, in the recorded build.
    pub(super) text: String,
}

/// Where members lie.
#[derive(Debug, Default, Serialize)]
pub(super) struct Places {
    /// Index of the build.
    pub(super) build: usize,
    pub(super) size: u64,
    /// Member, offset in bits, size in bits.
    pub(super) members: Vec<(usize, u64, u64)>,
    /// Kind, offset in bits, size in bits.
    pub(super) gaps: Vec<(&'static str, u64, u64)>,
    /// Members that move among the others, if not those of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) moved: Option<Vec<usize>>,
    /// The layout as pahole shows it, if not that of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
}

/// A build: the recorded one, the same for another line size, or one of another file.
#[derive(Debug, Default, Serialize)]
pub(super) struct BuildData {
    pub(super) label: String,
    /// Members it lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) absent: Vec<usize>,
    /// Remarks on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// Members that have another size there, with the parts that correspond.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<(usize, Vec<PartOfMember>)>,
    /// Whether its places are known; else those of the recorded build are drawn.
    pub(super) drawn: bool,
}

/// A part of a member in the recorded build and in another one: offset and size in bits here, then there, from the start
/// of the member.
pub(super) type PartOfMember = (u64, u64, u64, u64);

/// Accesses of a function to some bytes: offset, size, function, loads, stores, sum of the
/// loads' latencies in cycles, samples that found the line lost.
pub(super) type Touch = (u64, u64, usize, u64, u64, u64, u64);

/// Accesses of a CPU at an offset: offset, CPU, loads, stores.
pub(super) type CpuTouch = (u64, u32, u64, u64);

/// A member that loses its line to writes of other members.
#[derive(Debug, Serialize)]
pub(super) struct LostMember {
    /// Bytes of a line.
    pub(super) size: u64,
    /// Number of the line.
    pub(super) line: u64,
    /// The member as declared, if its offset is one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) member: Option<usize>,
    pub(super) offset: u64,
    /// Its name, after those of the members it is in.
    pub(super) name: String,
    /// How often, in words.
    pub(super) says: String,
    pub(super) writers: Vec<WriterData>,
}

/// Another member of the line, that is written.
#[derive(Debug, Serialize)]
pub(super) struct WriterData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) member: Option<usize>,
    pub(super) name: String,
    /// How often and by whom, in words.
    pub(super) says: String,
}
