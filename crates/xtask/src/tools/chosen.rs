//! The structs that tests on real kernels and measurements use: data, so that no code knows them.

use super::shell;
use anyhow::{Context, Result};
use serde_json::Value;

/// Where they are listed, from the top of the repository.
const FILE: &str = "fixtures/kernel/structs.json";

/// A use of structs, by its key in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Planned,
    Watched,
    Timed,
}

/// The structs for a purpose, in the file's order.
pub(crate) fn structs(purpose: Purpose) -> Result<Vec<String>> {
    let key = match purpose {
        Purpose::Planned => "planned",
        Purpose::Watched => "watched",
        Purpose::Timed => "timed",
    };
    let file = read()?;
    let names = file[key].as_array().with_context(|| format!("{FILE}: no list `{key}`"))?;
    let names: Option<Vec<String>> = names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
    names.filter(|names| !names.is_empty()).with_context(|| format!("{FILE}: `{key}` lists no names"))
}

/// The structs whose attribution is scored, by name.
pub(crate) fn attributed() -> Result<Vec<String>> {
    let file = read()?;
    let names = file["recall_by_code"].as_object().with_context(|| format!("{FILE}: no `recall_by_code`"))?;
    Ok(names.keys().cloned().collect())
}

/// Least recall by code alone, in percent, of types whose instructions often touch others too: even the best single
/// answer for each instruction stays below 100.
pub(crate) fn recall_by_code(name: &str) -> Result<Option<f64>> {
    Ok(read()?["recall_by_code"][name].as_f64())
}

fn read() -> Result<Value> {
    let bytes = std::fs::read(shell::root().join(FILE)).with_context(|| FILE.to_owned())?;
    serde_json::from_slice(&bytes).with_context(|| FILE.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_purpose_has_structs() {
        for purpose in [Purpose::Planned, Purpose::Watched, Purpose::Timed] {
            assert!(!structs(purpose).unwrap().is_empty(), "{purpose:?}");
        }
        let planned = structs(Purpose::Planned).unwrap();
        assert!(planned.iter().all(|name| recall_by_code(name).unwrap().is_some()));
        assert_eq!(recall_by_code("no such struct").unwrap(), None);
    }
}
