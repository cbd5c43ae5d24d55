//! The fieldline command.

fn main() {}
