//! Terminal colours.

/// Colours parts of a text, if that is switched on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    on: bool,
}

impl Palette {
    /// All sequences that it writes, each behind an escape.
    pub(crate) const SEQUENCES: [&str; 6] = ["[0m", "[1m", "[2m", "[31m", "[33m", "[36m"];

    pub(crate) fn new(on: bool) -> Self {
        Self { on }
    }

    fn wrap(self, code: u8, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A heading.
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap(1, text)
    }

    /// A cacheline boundary.
    pub(crate) fn boundary(self, text: &str) -> String {
        self.wrap(36, text)
    }

    /// Unused bytes.
    pub(crate) fn unused(self, text: &str) -> String {
        self.wrap(33, text)
    }

    /// A warning.
    pub(crate) fn warning(self, text: &str) -> String {
        self.wrap(31, text)
    }

    /// Something less important.
    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap(2, text)
    }
}
