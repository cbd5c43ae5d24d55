//! Colour for terminals.

/// Marks parts of a text, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
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
    pub(crate) fn rule(self, text: &str) -> String {
        self.wrap(36, text)
    }

    /// Room nobody uses.
    pub(crate) fn gap(self, text: &str) -> String {
        self.wrap(33, text)
    }

    /// Something to look at.
    pub(crate) fn warn(self, text: &str) -> String {
        self.wrap(31, text)
    }

    /// Something less important.
    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap(2, text)
    }
}
