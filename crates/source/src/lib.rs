//! C struct bodies as byte ranges, edits and unified diffs.
