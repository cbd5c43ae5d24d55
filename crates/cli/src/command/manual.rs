//! `fieldline man`: a manual page for each command, of its arguments and of [`sections`].

mod sections;

use crate::args::{Arguments, ManArgs};
use crate::output::{self, CommandOutcome};
use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

pub(crate) fn run(args: &ManArgs) -> Result<CommandOutcome> {
    let Some(folder) = &args.output else {
        let words = args.command.join(" ");
        let named = pages().into_iter().find(|page| page_words(page) == words.replace('-', " "));
        let page = named.with_context(|| format!("{words}: not a command; fieldline --help lists them"))?;
        return output::print(&String::from_utf8_lossy(&render(page)?));
    };
    let mut files = Vec::new();
    for page in pages() {
        files.push((folder.join(format!("{}.1", page_name(&page))), render(page)?));
    }
    output::make_folder(folder)?;
    output::write_files(&files)?;
    output::print_done(&format!("wrote {} pages to {}\n", files.len(), folder.display()))
}

/// The commands that have pages: fieldline itself, then all others, each followed by those below it.
fn pages() -> Vec<Command> {
    let mut top = Arguments::command().disable_help_subcommand(true);
    top.build();
    let mut found = Vec::new();
    let mut rest = vec![top];
    while let Some(command) = rest.pop() {
        let inner: Vec<Command> =
            command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned().collect();
        rest.extend(inner.into_iter().rev());
        found.push(command);
    }
    found
}

/// The name of a command's page: `fieldline-guest-record`.
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The words that call a command: `guest record`; none for fieldline itself.
fn page_words(command: &Command) -> String {
    let name = page_name(command);
    name.strip_prefix("fieldline-").map(|rest| rest.replace('-', " ")).unwrap_or_default()
}

/// A command's page as roff (man(7)). It has no date: the same program writes the same bytes.
fn render(command: Command) -> Result<Vec<u8>> {
    let words = page_words(&command);
    let (options, notes) = (option_names(&command), command.get_after_help().map(ToString::to_string));
    let (has_commands, usage) = (command.has_subcommands(), usage(&command));
    let mut out = title(page_name(&command)).into_bytes();
    let page = Man::new(command);
    page.render_name_section(&mut out)?;
    let mut synopsis = Roff::new();
    synopsis.control("SH", ["SYNOPSIS"]).text([bold(usage.0), roman(usage.1)]);
    synopsis.to_writer(&mut out)?;
    page.render_description_section(&mut out)?;
    if has_commands {
        page.render_subcommands_section(&mut out)?;
    }
    page.render_options_section(&mut out)?;
    sections::write(&words, &options, notes.as_deref()).to_writer(&mut out)?;
    Ok(out)
}

/// A page's first lines: its title without a date, which clap_mangen can't leave out; words are neither cut nor spread.
fn title(name: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(".TH {name} 1 \"\" \"fieldline {version}\" \"fieldline manual\"\n.nh\n.ad l\n")
}

/// How a command is called: its name, and its arguments in short.
fn usage(command: &Command) -> (String, String) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let text = command.clone().render_usage().to_string();
    let arguments = text.split_once(&name).map(|(_, rest)| rest.trim_end().to_owned());
    (name, arguments.unwrap_or_default())
}

/// The long names of a command's options.
fn option_names(command: &Command) -> Vec<String> {
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    shown.filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_and_is_named_by_the_page_of_fieldline() {
        let pages = pages();
        let top = String::from_utf8(render(pages[0].clone()).unwrap()).unwrap();
        for page in &pages[1..] {
            let name = page_name(page).replace('-', "\\-");
            assert!(top.contains(&name) || page_words(page).contains(' '), "{name}");
        }
    }

    #[test]
    fn a_page_has_all_options_and_exit_codes() {
        for page in pages() {
            let options = option_names(&page);
            let name = page_name(&page).to_owned();
            let text = String::from_utf8(render(page).unwrap()).unwrap();
            for option in options {
                assert!(text.contains(&format!("\\-\\-{}", option.replace('-', "\\-"))), "{name} {option}");
            }
            for title in ["SYNOPSIS", "EXIT STATUS", "SEE ALSO"] {
                assert!(
                    text.contains(&format!(".SH {title}")) || text.contains(&format!(".SH \"{title}\"")),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn notes_are_of_commands_that_are_there() {
        let words: Vec<String> = pages().iter().map(page_words).collect();
        for named in sections::named_commands() {
            assert!(words.iter().any(|words| words == named), "{named}");
        }
    }

    #[test]
    fn examples_are_command_lines_the_tool_takes() {
        use clap::Parser;
        for line in sections::examples() {
            let words = shlex::split(line.split('#').next().unwrap()).unwrap();
            assert!(Arguments::try_parse_from(words).is_ok(), "{line}");
        }
    }
}
