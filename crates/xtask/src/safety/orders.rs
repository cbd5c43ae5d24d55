//! Orders that fieldline draws within its constraints: it plans, patches, and the patched program runs beside the other.

use super::build::{self, Difference, Outcome, Scratch};
use super::corpus::{Kind, Program};
use super::known::KnownBreaks;
use crate::tools::shell::{self, print_line};
use anyhow::{Context, Result, ensure};
use fieldline_frontend::Frontend;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// As many orders show that a program which is listed as broken no longer is.
const MANY_ORDERS: u64 = 20;

/// How the proof that a struct may change is had.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// The tree is read as text.
    Text,
    /// With the commands that compile it.
    Build,
}

impl Proof {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Build => "build",
        }
    }

    /// Most of the safe programs that may be held, in percent.
    fn max_held(self) -> usize {
        match self {
            Self::Text => 30,
            Self::Build => 10,
        }
    }
}

/// The results of a program under all orders drawn with one proof.
#[derive(Default)]
struct Tally {
    /// Orders that were drawn.
    drawn: u64,
    /// Orders in which something moves.
    moved: usize,
    /// Those of them that don't compile: an error, but a silent one it isn't.
    errors: usize,
    /// The first seed that broke it, with its order and how.
    broken: Option<String>,
    /// The error that ended the work.
    failed: Option<String>,
}

/// The effect of an order on a program.
enum Verdict {
    Same,
    /// Its patch is refused.
    Refused,
    /// It doesn't compile.
    Error,
    /// It runs, but not as before.
    Broken(String),
}

/// The tool that is judged.
struct Tool {
    fieldline: PathBuf,
    /// The libclang it loads; it searches for one itself if there is none.
    libclang: Option<PathBuf>,
    /// Folder of what it keeps between runs; empty at first, so that no earlier run helps this one.
    cache: PathBuf,
}

impl Tool {
    fn find(cache: PathBuf) -> Result<Self> {
        let libclang = Frontend::load().ok().map(|frontend| frontend.library().to_owned());
        Ok(Self { fieldline: shell::fieldline()?, libclang, cache })
    }

    /// A command that is spared the search for libclang, which takes as long as all else it does.
    fn command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.fieldline);
        command.arg(verb).env("XDG_CACHE_HOME", &self.cache);
        command.envs(self.libclang.iter().map(|path| ("LIBCLANG_PATH", path)));
        command
    }
}

/// A program compiled as it is, and the folders for its orders.
struct Case<'p> {
    program: &'p Program,
    tool: &'p Tool,
    scratch: &'p Path,
    expected: Outcome,
}

/// Draws orders for each program under each proof and prints what is broken and held; `true` if nothing is broken, or
/// exactly what is known to be.
pub(super) fn run(
    programs: &[Program],
    proofs: &[Proof],
    orders: u64,
    known: Option<&KnownBreaks>,
) -> Result<bool> {
    let scratch = Scratch::new()?;
    let tool = Tool::find(scratch.cache())?;
    let start = Instant::now();
    let work = |program| {
        let folder = scratch.folder(program);
        let result = try_program(program, &tool, &folder, proofs, orders);
        // Folders in memory are small: of those that are done nothing is kept.
        let _ = fs::remove_dir_all(folder);
        (program, result)
    };
    let rows = fieldline_parallel::map(programs, work);
    let mut holds = true;
    for (program, result) in &rows {
        if let Err(error) = result {
            print_line!("safety: {}/{}: {error:#}", program.kind.name(), program.name);
            holds = false;
        }
    }
    for (index, proof) in proofs.iter().enumerate() {
        let tallies =
            rows.iter().filter_map(|(program, result)| Some((*program, result.as_ref().ok()?.get(index)?)));
        holds &= report(*proof, &tallies.collect::<Vec<_>>(), known);
    }
    print_line!("{} programs, {orders} orders each, {} s", programs.len(), start.elapsed().as_secs());
    Ok(holds)
}

/// Prints the results under a proof; `true` if nothing is broken and no more is held than may be.
fn report(proof: Proof, tallies: &[(&Program, &Tally)], known: Option<&KnownBreaks>) -> bool {
    print_line!("safety: proof by {}", proof.name());
    let mut failures = report_mended(proof, tallies, known);
    for (program, tally) in tallies {
        let place = format!("{}/{}", program.kind.name(), program.name);
        if let Some(text) = &tally.failed {
            failures += 1;
            print_line!("  error: {place}: {text}");
        }
        if let Some(text) = &tally.broken {
            // What is listed of a harmless program is that it is held: that an order breaks it is no less a failure.
            let known = known.filter(|_| program.kind == Kind::Breaks);
            let reason = known.and_then(|known| known.reason(proof.name(), &program.name));
            failures += usize::from(reason.is_none());
            let listed = reason.map(|reason| format!("; known: {reason}")).unwrap_or_default();
            print_line!("  broken: {place}: {text}{listed}");
        }
        if tally.errors > 0 {
            print_line!("  {} of {} orders do not compile: {place}", tally.errors, tally.moved);
        }
    }
    report_kind(Kind::Breaks, tallies);
    let (held, count) = report_kind(Kind::Safe, tallies);
    let known_held = known_held(proof, tallies, known);
    if known_held > 0 {
        print_line!("         {known_held} of them are listed");
    }
    let is_free = held.saturating_sub(known_held) * 100 <= count * proof.max_held();
    if !is_free {
        print_line!("  more of the safe ones are held than {} %", proof.max_held());
    }
    failures == 0 && is_free
}

/// Prints the programs that are listed as broken or held and aren't; their number.
fn report_mended(proof: Proof, tallies: &[(&Program, &Tally)], known: Option<&KnownBreaks>) -> usize {
    let open: Vec<&str> = tallies
        .iter()
        .filter(|(program, tally)| tally.broken.is_some() || is_held_safe(program, tally))
        .map(|(program, _)| program.name.as_str())
        .collect();
    let mended = known.map(|known| known.mended(proof.name(), &open)).unwrap_or_default();
    // Few orders need not be among those that break a program.
    let is_mended = |(program, tally): &(&Program, &Tally)| {
        program.kind == Kind::Safe || tally.moved == 0 || tally.drawn >= MANY_ORDERS
    };
    let judged: Vec<&str> =
        tallies.iter().filter(|own| is_mended(own)).map(|(program, _)| program.name.as_str()).collect();
    let mended: Vec<&str> = mended.into_iter().filter(|name| judged.contains(name)).collect();
    for name in &mended {
        print_line!("  no longer broken or held, take it off the list: {name}");
    }
    mended.len()
}

/// Whether a program that no order breaks is held all the same.
fn is_held_safe(program: &Program, tally: &Tally) -> bool {
    program.kind == Kind::Safe && tally.moved == 0 && tally.failed.is_none()
}

/// How many of the safe programs that are held are listed.
fn known_held(proof: Proof, tallies: &[(&Program, &Tally)], known: Option<&KnownBreaks>) -> usize {
    let held = tallies.iter().filter(|(program, tally)| is_held_safe(program, tally));
    held.filter(|(program, _)| known.is_some_and(|known| known.reason(proof.name(), &program.name).is_some()))
        .count()
}

/// Prints how many programs of a kind are broken and held; those held, and all.
fn report_kind(kind: Kind, tallies: &[(&Program, &Tally)]) -> (usize, usize) {
    let of_kind: Vec<_> = tallies.iter().filter(|(program, _)| program.kind == kind).collect();
    let held: Vec<&str> = of_kind
        .iter()
        .filter(|(_, tally)| tally.moved == 0 && tally.failed.is_none())
        .map(|(program, _)| program.name.as_str())
        .collect();
    let broken = of_kind.iter().filter(|(_, tally)| tally.broken.is_some()).count();
    let moved: usize = of_kind.iter().map(|(_, tally)| tally.moved).sum();
    let (count, share) = (of_kind.len(), held.len() * 100 / of_kind.len().max(1));
    print_line!(
        "  {:<6} {count} programs: {broken} broken, {} held ({share} %), {moved} orders built",
        kind.name(),
        held.len()
    );
    if kind == Kind::Safe && !held.is_empty() {
        print_line!("         held: {}", held.join(" "));
    }
    (held.len(), count)
}

/// Plans, patches, compiles and runs a program in as many orders, under each proof.
fn try_program(
    program: &Program,
    tool: &Tool,
    folder: &Path,
    proofs: &[Proof],
    orders: u64,
) -> Result<Vec<Tally>> {
    let output = folder.join("program");
    let tree = folder.join("tree");
    build::write_files(program, &tree)?;
    ensure!(build::compile(program, &tree, &["-O0", "-g"], &output)?, "it does not compile as it is");
    write_commands(program, folder)?;
    let case = Case { program, tool, scratch: folder, expected: build::run(&output, folder)? };
    // The proofs seldom differ in what they allow: an order is built once.
    let mut verdicts = BTreeMap::new();
    let tallies = proofs.iter().map(|proof| {
        let mut tally = Tally { drawn: orders, ..Tally::default() };
        if let Err(error) = case.try_orders(*proof, orders, &mut verdicts, &mut tally) {
            tally.failed = Some(format!("{error:#}"));
        }
        tally
    });
    Ok(tallies.collect())
}

/// The `compile_commands.json` of a program in the folder `build` of its scratch folder.
fn write_commands(program: &Program, folder: &Path) -> Result<()> {
    let units = program.units().map(|unit| {
        let mut words = build::compiler(program, &["-O0"]);
        words.extend(["-c", unit].map(str::to_owned));
        serde_json::json!({ "directory": folder.join("tree"), "file": unit, "arguments": words })
    });
    let commands = serde_json::Value::Array(units.collect());
    fs::create_dir_all(folder.join("build"))?;
    fs::write(folder.join("build/compile_commands.json"), commands.to_string())?;
    Ok(())
}

impl Case<'_> {
    /// Draws orders under a proof, up to the first that breaks the program.
    fn try_orders(
        &self,
        proof: Proof,
        orders: u64,
        verdicts: &mut BTreeMap<Vec<u64>, Verdict>,
        tally: &mut Tally,
    ) -> Result<()> {
        let mut seen = BTreeSet::new();
        for seed in 0..orders {
            let Some(order) = self.plan(seed, proof)? else { break };
            let moves = order.windows(2).any(|pair| pair[0] > pair[1]);
            if !moves || !seen.insert(order.clone()) {
                continue;
            }
            let verdict = match verdicts.get(&order) {
                Some(verdict) => verdict,
                None => verdicts.entry(order.clone()).or_insert(self.try_order()?),
            };
            tally.moved += usize::from(!matches!(verdict, Verdict::Refused));
            tally.errors += usize::from(matches!(verdict, Verdict::Error));
            if let Verdict::Broken(how) = verdict {
                tally.broken = Some(format!("{how} by seed {seed}, order {order:?}"));
                break;
            }
        }
        Ok(())
    }

    /// The order that a plan chose, by the members' declared places; nothing if it is refused.
    fn plan(&self, seed: u64, proof: Proof) -> Result<Option<Vec<u64>>> {
        let mut plan = self.tool.command("plan");
        plan.args([&self.program.subject, "--static", "--threads", "1", "--format", "json"]);
        plan.args(["--shuffle", &seed.to_string()]);
        plan.arg("--vmlinux").arg(self.scratch.join("program")).arg("--tree").arg(self.scratch.join("tree"));
        if proof == Proof::Build {
            plan.arg("--build").arg(self.scratch.join("build"));
        }
        let Some(printed) = output_unless_refused(&mut plan)? else { return Ok(None) };
        // Not by `-o`, which waits for the disk.
        fs::write(self.plan_file(), &printed)?;
        let plan: serde_json::Value = serde_json::from_slice(&printed)?;
        let members =
            plan["structs"][0]["chosen"]["members"].as_array().context("the plan has no members")?;
        Ok(Some(members.iter().filter_map(|member| member["index"].as_u64()).collect()))
    }

    /// Patches a copy of the program as the last plan says, compiles it and runs it.
    fn try_order(&self) -> Result<Verdict> {
        let (patches, patched) = (self.scratch.join("patches"), self.scratch.join("patched"));
        let mut patch = self.tool.command("patch");
        patch.arg("--plan").arg(self.plan_file()).arg("--tree").arg(self.scratch.join("tree"));
        if output_unless_refused(patch.arg("-o").arg(&patches))?.is_none() {
            return Ok(Verdict::Refused);
        }
        build::write_files(self.program, &patched)?;
        for file in patch_files(&patches)? {
            apply(&file, &patched)?;
            fs::remove_file(file)?;
        }
        let output = self.scratch.join("reordered");
        if !build::compile(self.program, &patched, &["-O0"], &output)? {
            return Ok(Verdict::Error);
        }
        Ok(match build::run(&output, self.scratch)?.difference(&self.expected) {
            Difference::None => Verdict::Same,
            difference => Verdict::Broken(difference.to_string()),
        })
    }

    fn plan_file(&self) -> PathBuf {
        self.scratch.join("plan.json")
    }
}

/// Runs a command of fieldline; its standard output, or nothing if it refuses.
fn output_unless_refused(command: &mut Command) -> Result<Option<Vec<u8>>> {
    let output = command.stdin(Stdio::null()).output().context("cannot run fieldline")?;
    let code = output.status.code();
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(matches!(code, Some(0 | 1)), "fieldline ends with {code:?}: {}", message.trim());
    Ok((code == Some(0)).then_some(output.stdout))
}

fn patch_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "patch"));
    paths.sort();
    Ok(paths)
}

fn apply(patch: &Path, tree: &Path) -> Result<()> {
    let mut command = Command::new("patch");
    command.args(["-p1", "-s", "-f", "-i"]).arg(patch).current_dir(tree).stdout(Stdio::null());
    let status = command.status().context("cannot run patch")?;
    ensure!(status.success(), "{}: does not apply", patch.display());
    Ok(())
}
