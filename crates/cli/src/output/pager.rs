//! A pager for texts that are longer than the terminal, as git has it.

use super::terminal;
use std::io::{self, ErrorKind, Write};
use std::process::{Command, Stdio};

/// The pager if no variable names one.
const DEFAULT: &str = "less";

/// Shows a text in a pager; `false` if there is none, or if the text fits on the terminal.
///
/// # Errors
/// If the text can't be written. A pager that ends early is no error.
pub(crate) fn show(text: &str) -> io::Result<bool> {
    if !terminal::rows().is_some_and(|rows| is_longer(text, rows, terminal::columns())) {
        return Ok(false);
    }
    let variable = |name| std::env::var(name).ok();
    let Some(pager) = choose(variable("FIELDLINE_PAGER"), variable("PAGER")) else { return Ok(false) };
    let mut command = Command::new("sh");
    command.args(["-c", &pager]).stdin(Stdio::piped());
    // Colours are shown, and what fits after all stays on the terminal.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let Ok(mut child) = command.spawn() else { return Ok(false) };
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()));
    let ended = child.wait()?;
    match written {
        // The shell has found no such program, and said so.
        _ if ended.code() == Some(127) => Ok(false),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(true),
        written => written.map(|()| true),
    }
}

/// The pager's command: the first variable that is set; none if that is empty or `cat`.
fn choose(own: Option<String>, common: Option<String>) -> Option<String> {
    let command = own.or(common).unwrap_or_else(|| DEFAULT.to_owned());
    Some(command).filter(|command| !["", "cat"].contains(&command.trim()))
}

/// Whether a text takes more rows than a terminal has; the prompt behind it takes one.
fn is_longer(text: &str, rows: usize, columns: usize) -> bool {
    let needed = text.lines().map(|line| line.chars().count().div_ceil(columns.max(1)).max(1));
    needed.sum::<usize>() + 1 > rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_choose_the_pager_as_for_git() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(choose(None, None), text("less"));
        assert_eq!(choose(None, text("most")), text("most"));
        assert_eq!(choose(text("less -S"), text("most")), text("less -S"));
        assert_eq!(choose(text(""), text("most")), None);
        assert_eq!(choose(None, text("cat")), None);
    }

    #[test]
    fn only_texts_that_do_not_fit_are_paged() {
        assert!(!is_longer("a\nb\n", 3, 80));
        assert!(is_longer("a\nb\nc\n", 3, 80));
        assert!(is_longer(&"x".repeat(161), 3, 80));
    }
}
