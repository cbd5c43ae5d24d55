//! What a recording cannot show, said before anybody trusts a profile made of it.
//!
//! Every entry follows from the recording's facts and from counts of its records, never from its name.
//!
//! * `spot`: what there is to say.
//! * `search`: which of it holds; `threshold`: of loads too fast to be sampled.

mod search;
mod spot;
mod threshold;

pub use search::{blind_spots, sentences};
pub use spot::BlindSpot;
pub use threshold::{L1_HIT_CYCLES, load_threshold};
