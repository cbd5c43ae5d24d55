//! Names in column `measure` of table `accesses` (docs/formats.md).

/// Profiles that know `function`, without a type; in the file of a host in the order in which it numbers them.
pub const FUNCTION: &str = "function";
/// Loads sampled, by time block and group of hosts.
pub const LOADS: &str = "loads";
/// Stores sampled, likewise.
pub const STORES: &str = "stores";
/// Sum of the loads' periods.
pub const LOAD_PERIOD: &str = "load_period";
/// Sum of the stores' periods.
pub const STORE_PERIOD: &str = "store_period";
/// Sum of the loads' weights in cycles.
pub const LATENCY: &str = "latency";
/// Loads of CPUs that are not the object's home.
pub const AWAY_LOADS: &str = "away_loads";
/// Stores of such CPUs.
pub const AWAY_STORES: &str = "away_stores";
/// Those of them that found the line lost.
pub const AWAY_LOST: &str = "away_lost";
/// In front of the name of a level that served loads.
pub const LOAD_LEVEL: &str = "load:";
/// In front of the name of a level that served stores.
pub const STORE_LEVEL: &str = "store:";
/// Loads by `offset` and `cpu`.
pub const CPU_LOADS: &str = "cpu_loads";
/// Stores by `offset` and `cpu`.
pub const CPU_STORES: &str = "cpu_stores";
/// Objects that begin at `offset` modulo 256.
pub const PHASE: &str = "phase";
/// Samples of known objects.
pub const HOME_SAMPLES: &str = "home_samples";
/// Sum over these of the CPUs besides the home.
pub const HOME_OTHERS: &str = "home_others";
/// True turns on lines of `size` bytes.
pub const TRUE_TURNS: &str = "true_turns";
/// False turns on such lines.
pub const FALSE_TURNS: &str = "false_turns";
/// Profiles in which `cpu` CPUs touched one object, at most.
pub const TURN_CPUS: &str = "turn_cpus";
/// False turns by `offset` and `written`.
pub const TURNS: &str = "turns";
/// Objects they happened on.
pub const TURN_OBJECTS: &str = "turn_objects";

/// Whether a measure is kept by time block and by group of hosts: intervals are made of it.
pub fn is_of_blocks(name: &str) -> bool {
    name == LOADS || name == STORES
}
