//! Names by which text shows that it has to do with a struct.
//!
//! Whoever touches an object names its type, or gets to it by a name that is declared with the type: a typedef, a
//! macro, a variable, a function, a member of another struct. A member's name counts only where its struct is
//! known too. Names that denote several things count for all of them: too many units are read rather than too few.

use fieldline_source::declared::{DeclaredKind, DeclaredName};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Structs with members of the type whose own names are looked at; where more hold it, all are taken for known.
const MOST_HOLDERS: usize = 200;

/// Declared names, by the words they are declared with.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    declared: Vec<DeclaredName>,
    by_word: FxHashMap<String, Vec<u32>>,
}

/// Names of a struct, of its pointers and objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StructNames {
    /// Names of the type.
    pub(super) types: FxHashSet<String>,
    /// Variables, functions and macros.
    pub(super) values: FxHashSet<String>,
    /// Members of other structs, with these structs.
    pub(super) members: BTreeMap<String, Vec<String>>,
    /// Structs that hold the struct by value, directly.
    pub(super) holders: Vec<String>,
}

impl NameIndex {
    pub(super) fn new(declared: Vec<DeclaredName>) -> Self {
        let mut by_word: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        for (number, name) in (0..).zip(&declared) {
            for word in &name.words {
                let known = by_word.entry(word.clone()).or_default();
                if known.last() != Some(&number) {
                    known.push(number);
                }
            }
        }
        Self { declared, by_word }
    }

    /// All names that lead to a type.
    pub(super) fn names_of(&self, tag: &str) -> StructNames {
        let mut names = StructNames::default();
        names.types.insert(tag.to_owned());
        let mut waiting = vec![tag.to_owned()];
        while let Some(word) = waiting.pop() {
            let is_type = names.types.contains(&word);
            for number in self.by_word.get(&word).into_iter().flatten() {
                let Some(found) = self.declared.get(*number as usize) else { continue };
                match &found.kind {
                    DeclaredKind::Type if is_type => {
                        waiting.extend(names.types.insert(found.name.clone()).then(|| found.name.clone()));
                    }
                    DeclaredKind::Value if is_type => {
                        waiting.extend(names.values.insert(found.name.clone()).then(|| found.name.clone()));
                    }
                    DeclaredKind::Macro => {
                        waiting.extend(names.values.insert(found.name.clone()).then(|| found.name.clone()));
                        names.types.extend(is_type.then(|| found.name.clone()));
                    }
                    DeclaredKind::Member(holder) if is_type => names.add_member(found, holder),
                    _ => {}
                }
            }
        }
        names.holders.sort_unstable();
        names.holders.dedup();
        self.add_macros_of_members(&mut names);
        names
    }

    /// Macros that name members count as these.
    fn add_macros_of_members(&self, names: &mut StructNames) {
        let mut waiting: Vec<String> = names.members.keys().cloned().collect();
        while let Some(member) = waiting.pop() {
            let holders = names.members.get(&member).cloned().unwrap_or_default();
            for number in self.by_word.get(&member).into_iter().flatten() {
                let found = self.declared.get(*number as usize);
                let Some(found) = found.filter(|found| found.kind == DeclaredKind::Macro) else { continue };
                if !names.values.contains(&found.name) && !names.members.contains_key(&found.name) {
                    names.members.insert(found.name.clone(), holders.clone());
                    waiting.push(found.name.clone());
                }
            }
        }
    }
}

impl StructNames {
    fn add_member(&mut self, member: &DeclaredName, holder: &str) {
        let holders = self.members.entry(member.name.clone()).or_default();
        if !holders.iter().any(|known| known == holder) {
            holders.push(holder.to_owned());
        }
        if !member.is_pointer {
            self.holders.push(holder.to_owned());
        }
    }

    /// Whether words name the type or something of it, its members apart.
    pub(super) fn is_named(&self, has: &dyn Fn(&str) -> bool) -> bool {
        self.types.iter().chain(&self.values).any(|name| has(name))
    }
}

/// How text shows that it can see a struct.
#[derive(Debug)]
pub(super) struct Sight {
    pub(super) names: StructNames,
    /// Names of the structs that have members of the type, those that are looked at.
    holders: BTreeMap<String, StructNames>,
    /// Names of the structs that hold it by value, directly or within others.
    pub(super) enclosing: Vec<StructNames>,
}

impl Sight {
    pub(super) fn new(index: &NameIndex, tag: &str) -> Self {
        let names = index.names_of(tag);
        let mut holders = BTreeMap::new();
        let all: FxHashSet<&String> = names.members.values().flatten().collect();
        if all.len() <= MOST_HOLDERS {
            holders.extend(all.into_iter().map(|holder| (holder.clone(), index.names_of(holder))));
        }
        let mut enclosing: Vec<StructNames> = Vec::new();
        let mut waiting = names.holders.clone();
        let mut seen: FxHashSet<String> = waiting.iter().cloned().collect();
        while let Some(holder) = waiting.pop().filter(|_| enclosing.len() < MOST_HOLDERS) {
            let found = holders.get(&holder).cloned().unwrap_or_else(|| index.names_of(&holder));
            waiting.extend(found.holders.iter().filter(|holder| seen.insert((*holder).clone())).cloned());
            enclosing.push(found);
        }
        Self { names, holders, enclosing }
    }

    /// Whether a text with these words can touch an object of the struct.
    pub(super) fn is_in(&self, has: &dyn Fn(&str) -> bool) -> bool {
        if self.names.is_named(has) {
            return true;
        }
        let is_known = |holder: &String| {
            let Some(names) = self.holders.get(holder) else { return true };
            names.is_named(has) || names.members.keys().any(|member| has(member))
        };
        self.names.members.iter().any(|(member, holders)| has(member) && holders.iter().any(is_known))
    }

    /// All names that decide.
    pub(super) fn words(&self) -> impl Iterator<Item = &String> {
        let own = [&self.names].into_iter().chain(self.holders.values()).chain(&self.enclosing);
        own.flat_map(|names| names.types.iter().chain(&names.values).chain(names.members.keys()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_source::SourceText;
    use fieldline_source::declared::declared_names;

    fn sight(text: &str, tag: &str) -> Sight {
        Sight::new(&NameIndex::new(declared_names(&SourceText::new(text.as_bytes()))), tag)
    }

    fn sees(sight: &Sight, words: &str) -> bool {
        sight.is_in(&|name| words.split(' ').any(|word| word == name))
    }

    #[test]
    fn typedefs_macros_variables_and_functions_lead_to_the_struct() {
        let text = "typedef struct item item_t, *item_p;\nextern item_t first;\nitem_p get(void);\n\
                    #define INIT(x) { (item_t *)x }\n#define START INIT(0)\nextern struct other others;\n";
        let sight = sight(text, "item");
        for name in ["item", "item_t", "item_p", "first", "get", "INIT", "START"] {
            assert!(sees(&sight, name), "{name}");
        }
        assert!(!sees(&sight, "others") && !sees(&sight, "other"));
    }

    #[test]
    fn a_member_counts_where_its_struct_is_known() {
        let sight = sight(
            "struct item { int a; };\nstruct list { struct item *next; };\nextern struct list *all;\n\
             struct owner { struct list items; };\n",
            "item",
        );
        assert!(!sees(&sight, "next"));
        assert!(sees(&sight, "next list") && sees(&sight, "next all") && sees(&sight, "next items"));
        assert!(!sees(&sight, "list"));
    }

    #[test]
    fn structs_around_it_are_known() {
        let text = "struct item { int a; };\nstruct box { struct item in; struct item *p; };\nstruct crate { struct box b[2]; };\n";
        let found = sight(text, "item");
        let mut enclosing: Vec<&str> =
            found.enclosing.iter().flat_map(|names| names.types.iter().map(String::as_str)).collect();
        enclosing.sort_unstable();
        assert_eq!(enclosing, ["box", "crate"]);
    }
}
