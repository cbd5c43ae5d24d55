//! perf.data to accesses of struct members.
