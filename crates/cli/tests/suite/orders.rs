//! Orders: pins, plans, patches, verification, simulation.

mod aligned;
mod confidence;
mod front_end;
mod groups;
mod matrix;
mod pins;
mod place;
mod program_trial;
mod proof;
mod series;
mod simulate;
mod split;
mod trial;
mod verify;
