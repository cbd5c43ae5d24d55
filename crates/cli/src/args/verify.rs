//! What the user types to verify a plan.

use super::series::IdiomArgs;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// What was built with the patch: vmlinux or .o files with debug info. For another configuration or machine than the
    /// plan was made with, FILE=BEFORE, where BEFORE is the same build without the patch: it tells what to expect.
    #[arg(
        long = "object",
        value_name = "FILE[=BEFORE]",
        required_unless_present = "builds",
        num_args = 1..,
        value_parser = object
    )]
    pub(crate) objects: Vec<Object>,
    /// Build folders of the tree without the patch: the smallest unit that has the structs is compiled there as the build
    /// compiled it, without the patch and with it. Commands come from kbuild's .cmd files or compile_commands.json.
    /// Neither the folder nor the tree is written to.
    #[arg(long = "build", value_name = "[O=]FOLDER", requires = "tree", num_args = 1.., value_parser = build)]
    pub(crate) builds: Vec<PathBuf>,
    /// The source tree that was built, without the patch.
    #[arg(long, value_name = "FOLDER", requires = "builds")]
    pub(crate) tree: Option<PathBuf>,
    /// A source file to compile, from the top of the tree; if not given, the smallest that has the struct is looked for.
    #[arg(long = "unit", value_name = "FILE", requires = "builds")]
    pub(crate) units: Vec<String>,
    #[command(flatten)]
    pub(crate) telling: IdiomArgs,
}

/// A build to compare with the plan.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) after: PathBuf,
    /// The same build without the patch.
    pub(crate) before: Option<PathBuf>,
}

fn object(text: &str) -> Result<Object, String> {
    let (after, before) = text.split_once('=').map_or((text, None), |(after, before)| (after, Some(before)));
    if after.is_empty() || before.is_some_and(str::is_empty) {
        return Err("a file, or two with = between".to_owned());
    }
    Ok(Object { after: after.into(), before: before.map(PathBuf::from) })
}

/// `O=` is how make is told.
fn build(text: &str) -> Result<PathBuf, String> {
    let folder = text.strip_prefix("O=").unwrap_or(text);
    if folder.is_empty() { Err("a folder".to_owned()) } else { Ok(folder.into()) }
}
