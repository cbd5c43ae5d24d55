//! Member orders that touch fewer cachelines, found under constraints.
