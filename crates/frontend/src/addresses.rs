//! Where addresses of objects go, over all units of a program.
//!
//! A member's name is right wherever the member stands. Order matters only where code holds an object's address as
//! something else than a pointer to its type. So each such address is followed forwards, from the conversion that made
//! it to its ends: through variables, parameters, members, results, callbacks and variable arguments, from unit to unit.
//! An end is harmless if the address becomes one of its own type again, is compared, freed or dropped; what is done
//! with all others is a demand, and an end that isn't understood holds the whole struct.
//!
//! * `facts`: what a unit says, kept between runs.
//! * `follow`: forwards through one unit; `nodes` is the unit; `seeds` are the conversions it begins with, and the
//!   places other units hand addresses to.
//! * `names`: the places that units share.
//! * `numbers`: numbers that expressions always are.
//! * `shapes`: records, as far as another unit has to know them; `wrappers` are those that are numbers by another name.
//! * `contracts`: what functions of libraries do with bytes.
//! * `given`: numbers that addresses are moved by, over all units.
//! * `compared`: what comes to comparisons of addresses.
//! * `counterparts`: members of records that are taken for one another; `noted` is kept for both.
//! * `join`: all units' facts as demands; `merged` are all units' records, `judge` tells what an end asks.

mod compared;
mod contracts;
mod counterparts;
mod facts;
mod follow;
mod given;
mod join;
mod judge;
mod merged;
mod names;
mod nodes;
mod noted;
mod numbers;
mod seeds;
mod shapes;

pub(crate) use contracts::{manages_memory, reads_open_bytes};
pub(crate) use facts::CodePlace;
pub use facts::UnitFlows;
pub(crate) use follow::{arguments, function, is_void, object_operands};
pub use join::{Demands, MappedUses, demands, mapped};
pub(crate) use seeds::{maps, read};
