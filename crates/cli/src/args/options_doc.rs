//! Compares the options of all commands with docs/OPTIONS.md.

use super::Arguments;
use clap::{Arg, Command, CommandFactory};
use std::collections::BTreeMap;

/// The document, read when tests run: packages of this crate don't have it.
fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/OPTIONS.md");
    std::fs::read_to_string(path).expect("docs/OPTIONS.md")
}

/// An option's names and value.
type Shape = (Vec<String>, String);

/// Commands of each option, from the code.
fn defined() -> BTreeMap<Shape, Vec<String>> {
    let mut found: BTreeMap<Shape, Vec<String>> = BTreeMap::new();
    let command = Arguments::command();
    for argument in command.get_arguments().filter(|argument| is_documented(argument)) {
        found.insert(shape(argument), vec!["all".to_owned()]);
    }
    for (name, command) in leaf_commands() {
        for argument in command.get_arguments().filter(|argument| is_documented(argument)) {
            found.entry(shape(argument)).or_default().push(name.clone());
        }
    }
    found.values_mut().for_each(|commands| commands.sort());
    found
}

/// All commands by name; those that only hold others by the names of these.
fn leaf_commands() -> Vec<(String, Command)> {
    let mut found = Vec::new();
    for command in Arguments::command().get_subcommands() {
        let name = command.get_name();
        if command.has_subcommands() {
            let inner = command.get_subcommands();
            found.extend(inner.map(|inner| (format!("{name} {}", inner.get_name()), inner.clone())));
        } else {
            found.push((name.to_owned(), command.clone()));
        }
    }
    found
}

fn is_documented(argument: &Arg) -> bool {
    argument.get_long().is_some_and(|name| !["help", "version"].contains(&name)) && !argument.is_hide_set()
}

fn shape(argument: &Arg) -> Shape {
    let mut names: Vec<String> = argument.get_short().map(|short| format!("-{short}")).into_iter().collect();
    names.extend(argument.get_long().map(|long| format!("--{long}")));
    let has_value = argument.get_action().takes_values();
    let value = argument.get_value_names().filter(|_| has_value).unwrap_or_default();
    (names, value.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" "))
}

/// The same from the document. An option may have several rows.
fn documented() -> BTreeMap<Shape, Vec<String>> {
    let document = document();
    let rows = document.lines().filter(|line| line.starts_with("| `-"));
    let row = |line: &str| {
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> =
            line.trim_matches('|').split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
        let names = cells[0].split(", ").map(|name| name.trim_matches('`').to_owned()).collect();
        let commands = cells.get(3).map_or("all", String::as_str);
        let commands: Vec<String> = match commands.strip_prefix("all but ") {
            Some(others) => {
                let others: Vec<&str> = others.split(", ").collect();
                let all = leaf_commands().into_iter().map(|(name, _)| name);
                // `guest` stands for all commands that it holds.
                let is_other = |name: &String| {
                    others.contains(&name.as_str())
                        || name.split(' ').next().is_some_and(|first| others.contains(&first))
                };
                all.filter(|name| !is_other(name)).collect()
            }
            None => commands.split(", ").map(str::to_owned).collect(),
        };
        ((names, cells[1].trim_matches('`').to_owned()), commands)
    };
    let mut found: BTreeMap<Shape, Vec<String>> = BTreeMap::new();
    rows.map(row).for_each(|(shape, commands)| found.entry(shape).or_default().extend(commands));
    found.values_mut().for_each(|commands| commands.sort());
    found
}

#[test]
fn the_document_lists_each_option_with_its_commands() {
    let (defined, documented) = (defined(), documented());
    for (shape, commands) in &defined {
        assert_eq!(documented.get(shape), Some(commands), "docs/OPTIONS.md on {shape:?}");
    }
    for shape in documented.keys() {
        assert!(defined.contains_key(shape), "docs/OPTIONS.md has {shape:?}, which no command takes");
    }
}

#[test]
fn the_file_with_debug_info_has_two_names_everywhere() {
    for (name, command) in leaf_commands() {
        for argument in command.get_arguments() {
            let names = argument.get_long_and_visible_aliases().unwrap_or_default();
            assert_eq!(names.contains(&"vmlinux"), names.contains(&"program"), "{name}");
        }
    }
}

#[test]
fn commands_that_take_a_file_with_debug_info_take_it_by_its_name() {
    for (name, command) in leaf_commands() {
        let has_file = command.get_arguments().any(|argument| argument.get_long() == Some("vmlinux"));
        let has_none = ["merge", "demo", "completions", "man", "bench cgroup-tree"].contains(&name.as_str());
        assert_eq!(has_file, !has_none, "{name}");
    }
}

#[test]
fn clap_accepts_the_definitions() {
    Arguments::command().debug_assert();
}
