//! The verbs of CI and of daily work.

fn main() {}
