//! A user's pins: a TOML file that says of structs which members keep their place, come first or last, share a
//! cacheline, lie apart or stand together (`docs/formats.md`).

mod conflict;
mod parse;

use anyhow::{Context, Result, bail};
use fieldline_debuginfo::types::distance;
use fieldline_layout::constraint::{LineKind, LineWish, Pin, Wishes};
use fieldline_layout::{Layout, Member};
use std::path::Path;

/// A file of pins.
#[derive(Clone, Debug)]
pub(crate) struct PinFile {
    path: String,
    structs: Vec<StructPins>,
}

/// The pins of one struct.
#[derive(Clone, Debug)]
struct StructPins {
    name: Name,
    wishes: Vec<Wish>,
}

/// A line of a struct's pins, or one of its lists.
#[derive(Clone, Debug)]
struct Wish {
    directive: Directive,
    members: Vec<Name>,
}

/// A name and its 1-based line in the file.
#[derive(Clone, Debug)]
struct Name {
    text: String,
    line: usize,
}

/// What a pin asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Directive {
    Keep,
    First,
    Last,
    SameLine,
    Apart,
    Group,
}

impl Directive {
    const ALL: [Self; 6] = [Self::Keep, Self::First, Self::Last, Self::SameLine, Self::Apart, Self::Group];

    /// Its key in the file.
    fn key(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::First => "first",
            Self::Last => "last",
            Self::SameLine => "same-line",
            Self::Apart => "apart",
            Self::Group => "group",
        }
    }

    /// What it asks of cachelines, if it is about those; then its value is a list of lists.
    fn line_kind(self) -> Option<LineKind> {
        match self {
            Self::SameLine => Some(LineKind::Same),
            Self::Apart => Some(LineKind::Apart),
            Self::Group => Some(LineKind::Group),
            Self::Keep | Self::First | Self::Last => None,
        }
    }
}

/// A wish whose members are known.
#[derive(Clone, Debug)]
struct Resolved {
    directive: Directive,
    /// Declared indices, each once.
    members: Vec<usize>,
    /// 1-based line of the first name.
    line: usize,
    /// The wish and where it stands, for reports.
    reason: String,
}

/// Reads a file of pins.
pub(crate) fn read(path: &Path) -> Result<PinFile> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
    parse::parse(&name, &text)
}

impl PinFile {
    /// Refuses pins for a struct that is neither planned nor exists: a mistyped name would be a pin lost. Of structs
    /// that aren't planned now a file may speak.
    pub(crate) fn check_structs(
        &self,
        planned: &[&str],
        exists: impl Fn(&str) -> Result<bool>,
    ) -> Result<()> {
        for of in &self.structs {
            let name = of.name.text.as_str();
            if !planned.contains(&name) && !exists(name)? {
                let near = nearest(name, planned.iter().copied());
                bail!("{}:{}: there is no struct '{name}'{near}", self.path, of.name.line);
            }
        }
        Ok(())
    }

    /// Adds the pins of a struct to what is wished. `line` is the cacheline size in bytes it is compiled for.
    pub(crate) fn add_to(&self, wishes: &mut Wishes, layout: &Layout, line: u64) -> Result<()> {
        let Some(of) = self.structs.iter().find(|of| of.name.text == layout.name) else { return Ok(()) };
        let found = of.wishes.iter().map(|wish| self.resolve(wish, layout));
        let found = found.collect::<Result<Vec<Resolved>>>()?;
        conflict::check(&self.path, &found, layout, wishes, line)?;
        for wish in found {
            wish.add_to(wishes);
        }
        Ok(())
    }

    fn resolve(&self, wish: &Wish, layout: &Layout) -> Result<Resolved> {
        let mut members = Vec::new();
        for name in &wish.members {
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
        let line = wish.members.first().map_or(0, |name| name.line);
        let named: Vec<&str> = wish.members.iter().map(|name| name.text.as_str()).collect();
        let reason = format!("{} {} ({}:{line})", wish.directive.key(), named.join(", "), self.path);
        Ok(Resolved { directive: wish.directive, members, line, reason })
    }
}

impl Resolved {
    fn add_to(self, wishes: &mut Wishes) {
        if let Some(kind) = self.directive.line_kind() {
            wishes.lines.push(LineWish { kind, members: self.members, reason: self.reason });
            return;
        }
        let pins = match self.directive {
            Directive::First => &mut wishes.first,
            Directive::Last => &mut wishes.last,
            _ => &mut wishes.keep,
        };
        let pin = |member| Pin { member, reason: self.reason.clone() };
        pins.extend(self.members.into_iter().map(pin));
    }
}

/// Index of the top-level member of a name, or of the unnamed struct or union that holds it.
fn member_named(layout: &Layout, name: &str) -> Option<usize> {
    let own = layout.members.iter().position(|member| member.name.as_deref() == Some(name));
    own.or_else(|| layout.members.iter().position(|member| holds(member, name)))
}

fn holds(member: &Member, name: &str) -> bool {
    let inner = || member.members.iter();
    member.name.is_none() && inner().any(|inner| inner.name.as_deref() == Some(name) || holds(inner, name))
}

/// All names that code can use for members, those in unnamed structs and unions too.
fn names(members: &[Member]) -> Vec<&str> {
    let names = members.iter().flat_map(|member| match &member.name {
        Some(name) => vec![name.as_str()],
        None => names(&member.members),
    });
    names.collect()
}

/// `; did you mean 'x'?` for the nearest of some names, the first of equals.
pub(crate) fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let near = names.into_iter().min_by_key(|other| distance(name, other));
    near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}

#[cfg(test)]
mod tests;
