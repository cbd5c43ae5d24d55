//! Values that several commands take.

use crate::input::check_line_size;
use crate::output::{ColorChoice, OutputFormat};
use crate::report::parts::{PlanPart, ReportPart};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fieldline_debuginfo::types::DebugFormat;
use fieldline_plan::CandidateChoice;
use fieldline_tree::builds::OtherBuild;
use std::path::Path;

/// The form in which a profile is printed or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProfileFormat {
    /// It is printed so; a file of it is JSON.
    Printed(OutputFormat),
    /// A folder of Parquet is written, and text printed.
    Parquet,
}

impl ProfileFormat {
    /// How it is printed.
    pub(crate) fn printed(self) -> OutputFormat {
        match self {
            Self::Printed(format) => format,
            Self::Parquet => OutputFormat::Text,
        }
    }
}

pub(crate) fn line_size(text: &str) -> Result<u64, String> {
    check_line_size(text.parse().map_err(|_| "not a number of bytes".to_owned())?)
}

/// A format of debug info by its name.
pub(crate) fn debug_format() -> impl TypedValueParser<Value = DebugFormat> {
    PossibleValuesParser::new(["dwarf", "btf"])
        .map(|name| if name == "btf" { DebugFormat::Btf } else { DebugFormat::Dwarf })
}

/// How results are printed.
pub(crate) fn output_format() -> impl TypedValueParser<Value = OutputFormat> {
    PossibleValuesParser::new(["text", "json"])
        .map(|name| if name == "json" { OutputFormat::Json } else { OutputFormat::Text })
}

/// Forms of a profile by name.
pub(crate) fn profile_format() -> impl TypedValueParser<Value = ProfileFormat> {
    PossibleValuesParser::new(["text", "json", "parquet"]).map(|name| match name.as_str() {
        "json" => ProfileFormat::Printed(OutputFormat::Json),
        "parquet" => ProfileFormat::Parquet,
        _ => ProfileFormat::Printed(OutputFormat::Text),
    })
}

/// Parts of a plan's text.
pub(crate) fn plan_part() -> impl TypedValueParser<Value = PlanPart> {
    PossibleValuesParser::new(PlanPart::ALL.map(PlanPart::name))
        .map(|name| named(&PlanPart::ALL, PlanPart::name, &name))
}

/// Parts of a report.
pub(crate) fn report_part() -> impl TypedValueParser<Value = ReportPart> {
    PossibleValuesParser::new(ReportPart::ALL.map(ReportPart::name))
        .map(|name| named(&ReportPart::ALL, ReportPart::name, &name))
}

/// The part of a name that is one of theirs.
fn named<P: Copy>(all: &[P; 5], name_part: fn(P) -> &'static str, name: &str) -> P {
    all.iter().copied().find(|part| name_part(*part) == name).unwrap_or(all[0])
}

/// When text is coloured.
pub(crate) fn color_choice() -> impl TypedValueParser<Value = ColorChoice> {
    PossibleValuesParser::new(["auto", "always", "never"]).map(|name| match name.as_str() {
        "always" => ColorChoice::Always,
        "never" => ColorChoice::Never,
        _ => ColorChoice::Auto,
    })
}

/// Up to a gigabyte.
pub(crate) fn cache_size() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1 << 20)
}

pub(crate) fn candidate(text: &str) -> Result<CandidateChoice, String> {
    match text {
        "recommended" => Ok(CandidateChoice::Recommended),
        "best" => Ok(CandidateChoice::Best),
        "smallest" => Ok(CandidateChoice::Smallest),
        number => match number.parse() {
            Ok(number) if number > 0 => Ok(CandidateChoice::Number(number)),
            _ => Err("recommended, best, smallest or a number from 1 on".to_owned()),
        },
    }
}

/// `FILE` or `FILE@BYTES`.
pub(crate) fn also(text: &str) -> Result<OtherBuild, String> {
    let given = text.rsplit_once('@').filter(|(_, bytes)| bytes.parse::<u64>().is_ok());
    match given {
        Some((path, bytes)) if !Path::new(text).exists() => {
            Ok(OtherBuild { path: path.into(), line: Some(line_size(bytes)?) })
        }
        _ => Ok(OtherBuild { path: text.into(), line: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_size_may_follow_the_file() {
        assert_eq!(also("no/such/file@128"), Ok(OtherBuild { path: "no/such/file".into(), line: Some(128) }));
        assert_eq!(also("no/such@file"), Ok(OtherBuild { path: "no/such@file".into(), line: None }));
        assert!(also("no/such/file@100").is_err());
    }
}
