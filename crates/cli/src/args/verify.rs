//! What the user types to verify a plan.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// What was built with the patch: vmlinux or .o files with debug info. For another configuration or machine than the
    /// plan was made with, FILE=BEFORE, where BEFORE is the same build without the patch: it tells what to expect.
    #[arg(long = "object", value_name = "FILE[=BEFORE]", required = true, num_args = 1.., value_parser = object)]
    pub(crate) objects: Vec<Object>,
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
