//! Pins out of TOML, with the line of everything that can be wrong.

use super::wish::{Directive, Name, PinFile, StructPins, Wish, line_of, nearest};
use anyhow::{Result, anyhow};
use fieldline_debuginfo::types;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Reads the text of a file of pins; `path` names it in messages.
pub(super) fn parse(path: &str, text: &str) -> Result<PinFile> {
    let reader = Reader { path, text };
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| reader.line(span.start));
        anyhow!("{path}:{line}: {}", error.message())
    })?;
    let mut structs: Vec<StructPins> = Vec::new();
    for (key, value) in document.get_ref() {
        let found = reader.of_struct(key.get_ref(), reader.line(key.span().start), value)?;
        if structs.iter().any(|of| of.name.text == found.name.text) {
            return Err(reader.error(key, &format!("struct {} stands here twice", found.name.text)));
        }
        structs.push(found);
    }
    Ok(PinFile { path: path.to_owned(), structs })
}

struct Reader<'r> {
    path: &'r str,
    text: &'r str,
}

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        line_of(self.text, offset)
    }

    fn error<T>(&self, at: &Spanned<T>, message: &str) -> anyhow::Error {
        anyhow!("{}:{}: {message}", self.path, self.line(at.span().start))
    }

    fn of_struct(&self, key: &str, line: usize, value: &Spanned<DeValue<'_>>) -> Result<StructPins> {
        let name = types::bare(key).to_owned();
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.error(value, &format!("'{key}' is no struct: write [{key}] above its pins")));
        };
        let mut wishes = Vec::new();
        // The parser sorts keys; pins count in the order of the file.
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let directive = self.directive(key)?;
            match directive.line_kind() {
                None => wishes.push(Wish { directive, members: self.names(directive, value)? }),
                Some(_) => wishes.extend(self.lists(directive, value)?),
            }
        }
        Ok(StructPins { name: Name { text: name, line }, wishes })
    }

    fn directive<T: AsRef<str>>(&self, key: &Spanned<T>) -> Result<Directive> {
        let text = key.get_ref().as_ref();
        Directive::ALL.into_iter().find(|directive| directive.key() == text).ok_or_else(|| {
            let near = nearest(text, Directive::ALL.map(Directive::key));
            self.error(key, &format!("there is no pin '{text}'{near}"))
        })
    }

    fn array<'v>(&self, value: &'v Spanned<DeValue<'_>>, wanted: &str) -> Result<&'v DeArray<'v>> {
        match value.get_ref() {
            DeValue::Array(array) => Ok(array),
            _ => Err(self.error(value, wanted)),
        }
    }

    fn names(&self, directive: Directive, value: &Spanned<DeValue<'_>>) -> Result<Vec<Name>> {
        let key = directive.key();
        let wanted = format!("'{key}' takes a list of members, such as {key} = [\"a\", \"b\"]");
        let array = self.array(value, &wanted)?;
        let name = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
            DeValue::String(text) => Ok(Name { text: text.to_string(), line: self.line(value.span().start) }),
            _ => Err(self.error(value, &wanted)),
        };
        let names = array.iter().map(name).collect::<Result<Vec<Name>>>()?;
        if names.is_empty() { Err(self.error(value, &wanted)) } else { Ok(names) }
    }

    fn lists(&self, directive: Directive, value: &Spanned<DeValue<'_>>) -> Result<Vec<Wish>> {
        let key = directive.key();
        let wanted = format!("'{key}' takes lists of two or more members, such as {key} = [[\"a\", \"b\"]]");
        let mut wishes = Vec::new();
        for list in self.array(value, &wanted)?.iter() {
            self.array(list, &wanted)?;
            let members = self.names(directive, list)?;
            if members.len() < 2 {
                return Err(self.error(list, &wanted));
            }
            wishes.push(Wish { directive, members });
        }
        Ok(wishes)
    }
}
