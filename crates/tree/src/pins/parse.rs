//! Pins out of TOML, with the line of everything that can be wrong.

use super::request::{PinDirective, PinFile, PinRequest, PinnedName, StructPins, line_of, nearest};
use anyhow::{Result, anyhow};
use fieldline_debuginfo::types;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Reads the text of a file of pins; `path` names it in messages.
pub(super) fn parse(path: &str, text: &str) -> Result<PinFile> {
    let reader = PinReader { path, text };
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| reader.line(span.start));
        anyhow!("{path}:{line}: {}", error.message())
    })?;
    let mut structs: Vec<StructPins> = Vec::new();
    for (key, value) in document.get_ref() {
        let found = reader.read_struct(key.get_ref(), reader.line(key.span().start), value)?;
        if structs.iter().any(|pins| pins.name.text == found.name.text) {
            return Err(reader.error(key, &format!("struct {} stands here twice", found.name.text)));
        }
        structs.push(found);
    }
    Ok(PinFile { path: path.to_owned(), structs })
}

struct PinReader<'r> {
    path: &'r str,
    text: &'r str,
}

impl PinReader<'_> {
    fn line(&self, offset: usize) -> usize {
        line_of(self.text, offset)
    }

    fn error<T>(&self, at: &Spanned<T>, message: &str) -> anyhow::Error {
        anyhow!("{}:{}: {message}", self.path, self.line(at.span().start))
    }

    fn read_struct(&self, key: &str, line: usize, value: &Spanned<DeValue<'_>>) -> Result<StructPins> {
        let name = types::strip_keyword(key).to_owned();
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.error(value, &format!("'{key}' is no struct: write [{key}] above its pins")));
        };
        let mut requests = Vec::new();
        // The parser sorts keys; pins count in the order of the file.
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let directive = self.directive(key)?;
            match directive.line_kind() {
                None => requests.push(PinRequest { directive, members: self.read_names(directive, value)? }),
                Some(_) => requests.extend(self.read_lists(directive, value)?),
            }
        }
        Ok(StructPins { name: PinnedName { text: name, line }, requests })
    }

    fn directive<T: AsRef<str>>(&self, key: &Spanned<T>) -> Result<PinDirective> {
        let text = key.get_ref().as_ref();
        PinDirective::ALL.into_iter().find(|directive| directive.key() == text).ok_or_else(|| {
            let near = nearest(text, PinDirective::ALL.map(PinDirective::key));
            self.error(key, &format!("there is no pin '{text}'{near}"))
        })
    }

    fn array<'v>(&self, value: &'v Spanned<DeValue<'_>>, wanted: &str) -> Result<&'v DeArray<'v>> {
        match value.get_ref() {
            DeValue::Array(array) => Ok(array),
            _ => Err(self.error(value, wanted)),
        }
    }

    fn read_names(&self, directive: PinDirective, value: &Spanned<DeValue<'_>>) -> Result<Vec<PinnedName>> {
        let key = directive.key();
        let wanted = format!("'{key}' takes a list of members, such as {key} = [\"a\", \"b\"]");
        let array = self.array(value, &wanted)?;
        let name = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
            DeValue::String(text) => {
                Ok(PinnedName { text: text.to_string(), line: self.line(value.span().start) })
            }
            _ => Err(self.error(value, &wanted)),
        };
        let names = array.iter().map(name).collect::<Result<Vec<PinnedName>>>()?;
        if names.is_empty() { Err(self.error(value, &wanted)) } else { Ok(names) }
    }

    fn read_lists(&self, directive: PinDirective, value: &Spanned<DeValue<'_>>) -> Result<Vec<PinRequest>> {
        let key = directive.key();
        let wanted = format!("'{key}' takes lists of two or more members, such as {key} = [[\"a\", \"b\"]]");
        let mut requests = Vec::new();
        for list in self.array(value, &wanted)?.iter() {
            self.array(list, &wanted)?;
            let members = self.read_names(directive, list)?;
            if members.len() < 2 {
                return Err(self.error(list, &wanted));
            }
            requests.push(PinRequest { directive, members });
        }
        Ok(requests)
    }
}
