//! How much of a type is wanted.

/// How much of a type is read, or counts where two are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Extent {
    /// Its name, if it has one: it stands behind a pointer.
    Name,
    /// All that it holds by value.
    Whole,
}
