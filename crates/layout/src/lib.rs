//! The vocabulary of struct layouts and accesses, and the C placement rules.
