//! What may not move.
