//! A user's pins: a TOML file that says of structs which members keep their place, come first or last, share
//! a cacheline, lie apart or stand together (`docs/formats.md`).

mod conflict;
mod parse;
mod request;

pub use request::{PinFile, line_of, nearest};

use crate::uses::{self, names};
use anyhow::{Context, Result, bail};
use conflict::PinChecker;
use fieldline_layout::Layout;
use fieldline_layout::constraint::PlacementRequests;
use request::{PinRequest, ResolvedPin};
use std::path::Path;

/// Reads a file of pins.
pub fn read_pins(path: &Path) -> Result<PinFile> {
    let name = path.display().to_string();
    let text = fieldline_files::read_to_string(path).with_context(|| name.clone())?;
    parse::parse(&name, &text)
}

impl PinFile {
    /// Refuses pins for a struct that is neither planned nor exists: a mistyped name would be a pin lost.
    pub fn check_structs(&self, planned: &[&str], exists: impl Fn(&str) -> Result<bool>) -> Result<()> {
        for pins in &self.structs {
            let name = pins.name.text.as_str();
            if !planned.contains(&name) && !exists(name)? {
                let near = nearest(name, planned.iter().copied());
                bail!("{}:{}: there is no struct '{name}'{near}", self.path, pins.name.line);
            }
        }
        Ok(())
    }

    /// Adds the pins of a struct to its requests. `line` is the cacheline size in bytes it is compiled for.
    pub fn add_to(&self, requests: &mut PlacementRequests, layout: &Layout, line: u64) -> Result<()> {
        let pins = self.structs.iter().find(|pins| pins.name.text == layout.name);
        let Some(pins) = pins else { return Ok(()) };
        let found = pins.requests.iter().map(|request| self.resolve(request, layout));
        let found = found.collect::<Result<Vec<ResolvedPin>>>()?;
        PinChecker { path: &self.path, resolved: &found, layout, line }.check(requests)?;
        found.into_iter().for_each(|pin| pin.add_to(requests));
        Ok(())
    }

    fn resolve(&self, request: &PinRequest, layout: &Layout) -> Result<ResolvedPin> {
        let mut members = Vec::new();
        for name in &request.members {
            let place = || format!("{}:{}", self.path, name.line);
            let Some(index) = member_named(layout, &name.text) else {
                let near = nearest(&name.text, names(&layout.members));
                bail!("{}: struct {} has no member '{}'{near}", place(), layout.name, name.text);
            };
            if members.contains(&index) {
                bail!("{}: '{}' of struct {} stands here twice", place(), name.text, layout.name);
            }
            members.push(index);
        }
        let line = request.members.first().map_or(0, |name| name.line);
        let named: Vec<&str> = request.members.iter().map(|name| name.text.as_str()).collect();
        let reason = format!("{} {} ({}:{line})", request.directive.key(), named.join(", "), self.path);
        Ok(ResolvedPin { directive: request.directive, members, line, reason })
    }
}

/// Index of the top-level member of a name, or of the unnamed struct or union that holds it.
fn member_named(layout: &Layout, name: &str) -> Option<usize> {
    let own = layout.members.iter().position(|member| member.name.as_deref() == Some(name));
    own.or_else(|| uses::member_named(&layout.members, name))
}

#[cfg(test)]
mod tests;
