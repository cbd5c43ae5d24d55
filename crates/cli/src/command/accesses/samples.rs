//! The rows of `fieldline samples`, as text or as JSON with a sample a line.

use crate::output::{self, CommandOutcome, FilteredStdout, OutputFormat};
use anyhow::Result;
use serde_json::{Value, json};
use std::io::{BufWriter, Write};

/// Standard output for rows in file order.
pub(super) struct SampleWriter {
    out: BufWriter<FilteredStdout>,
    format: OutputFormat,
    is_first: bool,
}

impl SampleWriter {
    /// Writes what stands before the rows.
    pub(super) fn new(format: OutputFormat) -> Result<Self> {
        let mut out = output::buffered_stdout();
        match format {
            OutputFormat::Text => writeln!(out, "# ip addr type offset reason")?,
            OutputFormat::Json => {
                write!(out, "{{\"format\":\"fieldline-samples\",\"version\":1,\"samples\":[")?
            }
        }
        Ok(Self { out, format, is_first: true })
    }

    pub(super) fn attributed(&mut self, ip: u64, addr: u64, name: &str, offset: u64) -> Result<()> {
        match self.format {
            OutputFormat::Text => {
                writeln!(self.out, "{ip:x} {addr:x} {} {offset} -", name.replace(' ', "_"))?
            }
            OutputFormat::Json => self.row(&json!({
                "ip": format!("{ip:x}"), "addr": format!("{addr:x}"), "type": name, "offset": offset
            }))?,
        }
        Ok(())
    }

    pub(super) fn unattributed(&mut self, ip: u64, addr: u64, reason: &str) -> Result<()> {
        match self.format {
            OutputFormat::Text => writeln!(self.out, "{ip:x} {addr:x} - - {reason}")?,
            OutputFormat::Json => self.row(&json!({
                "ip": format!("{ip:x}"), "addr": format!("{addr:x}"), "reason": reason
            }))?,
        }
        Ok(())
    }

    fn row(&mut self, row: &Value) -> Result<()> {
        let before = if std::mem::take(&mut self.is_first) { "\n" } else { ",\n" };
        write!(self.out, "{before}{row}")?;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<CommandOutcome> {
        if self.format == OutputFormat::Json {
            self.out.write_all(b"\n]}\n")?;
        }
        self.out.flush()?;
        Ok(CommandOutcome::Done)
    }
}
