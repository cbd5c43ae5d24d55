//! Arguments of the commands that an installation calls.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "fieldline completions bash > ~/.local/share/bash-completion/completions/fieldline\n\
                        fieldline completions zsh > ~/.zfunc/_fieldline, with ~/.zfunc in fpath\n\
                        fieldline completions fish > ~/.config/fish/completions/fieldline.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command whose page to print, for man to show: fieldline man plan | man -l -; fieldline's own page if none is
    /// named.
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Folder to write all pages to.
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) output: Option<PathBuf>,
}
