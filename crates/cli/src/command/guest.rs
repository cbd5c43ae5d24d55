//! `fieldline guest`: kernels in QEMU.

pub(super) mod score;

use crate::args::{GuestArgs, GuestCommand, GuestRecordArgs, GuestRunArgs};
use crate::input::code::cache_folder;
use crate::output::{self, CommandOutcome, PendingFile};
use anyhow::{Context, Result};
use fieldline_guest::{CacheSizes, CodeSelection, GuestLoad, GuestOptions, GuestRecording};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The load if none is named.
const USUAL_LOAD: &str = "cgroup-tree";
/// One access in so many is sampled where nobody reads the samples.
const USUAL_PERIOD: u64 = 10_000;

pub(crate) fn run(args: &GuestArgs) -> Result<CommandOutcome> {
    match &args.command {
        GuestCommand::Record(args) => record(args),
        GuestCommand::Score(args) => score::run(args),
    }
}

fn record(args: &GuestRecordArgs) -> Result<CommandOutcome> {
    let options = options(args)?;
    for path in [Some(&args.output), args.objects.as_ref()].into_iter().flatten() {
        output::check_writable(path)?;
    }
    if args.parallel {
        output::print_note("the guest's CPUs run side by side: no two recordings are the same");
    }
    let mut trace = args.trace.as_deref().map(PendingFile::create).transpose()?;
    let recording = fieldline_guest::record(&options, trace.as_mut().map(|file| file as &mut dyn Write))?;
    let mut files: Vec<(&Path, &[u8])> = vec![(&args.output, &recording.perf_data)];
    files.extend(args.objects.as_deref().map(|path| (path, recording.object_table.as_bytes())));
    output::write_files(&files)?;
    if let Some(trace) = trace {
        trace.keep()?;
    }
    output::print_note(&summary(args, &recording));
    Ok(CommandOutcome::Done)
}

fn options(args: &GuestRecordArgs) -> Result<GuestOptions> {
    let inputs = [&args.kernel, &args.vmlinux].into_iter().chain(&args.modules).chain(&args.initrd);
    for path in inputs {
        fieldline_files::open(path).with_context(|| path.display().to_string())?;
    }
    let load = match &args.initrd {
        Some(initrd) => Some(GuestLoad::Initrd(initrd.clone())),
        None if !args.command.is_empty() => Some(GuestLoad::Program(args.command.clone())),
        None => None,
    };
    let guest = guest_options(&args.guest)?;
    let object_types = match &args.object_types[..] {
        [] => guest.selection.types.clone(),
        [all] if all == "all" => Vec::new(),
        named => named.to_vec(),
    };
    Ok(GuestOptions {
        kernel: args.kernel.clone(),
        vmlinux: args.vmlinux.clone(),
        load: load.unwrap_or_else(|| guest.load.clone()),
        modules: args.modules.clone(),
        object_types,
        seed: args.seed,
        period: args.period,
        caches: args.caches,
        is_parallel: args.parallel,
        has_random_layout: args.kaslr,
        ..guest
    })
}

/// Options of a guest with a load of ours, and a kernel that is still to be named.
pub(super) fn guest_options(args: &GuestRunArgs) -> Result<GuestOptions> {
    let cache = cache_folder("guest")
        .context("neither XDG_CACHE_HOME nor HOME says where to keep compiled programs")?;
    let words = args.load.as_ref().map(|words| words.0.clone());
    let (units, symbols, types) = (args.units.clone(), args.symbols.clone(), args.types.clone());
    Ok(GuestOptions {
        kernel: PathBuf::new(),
        vmlinux: PathBuf::new(),
        architecture: args.arch,
        qemu: args.qemu.clone(),
        cpus: usize::from(args.cpus),
        memory: args.memory,
        load: GuestLoad::BuiltIn(words.unwrap_or_else(|| vec![USUAL_LOAD.to_owned()])),
        modules: Vec::new(),
        selection: CodeSelection { units, symbols, types },
        object_types: Vec::new(),
        window: args.window,
        seed: 1,
        period: USUAL_PERIOD,
        caches: CacheSizes::default(),
        is_parallel: false,
        has_random_layout: false,
        append: args.append.clone(),
        timeout: Duration::from_secs(args.timeout),
        cache,
    })
}

fn summary(args: &GuestRecordArgs, recording: &GuestRecording) -> String {
    let [loads, stores] = recording.accesses;
    let mut text = format!(
        "{}: {} samples of {loads} loads and {stores} stores by {} functions; {} objects; levels are of modelled caches",
        args.output.display(),
        recording.samples,
        recording.functions,
        recording.objects.len()
    );
    if recording.is_short {
        text += "; the load ended first";
    }
    if !recording.left_out.is_empty() {
        text += &format!("; left out, as they wait for other CPUs: {}", recording.left_out.join(", "));
    }
    text
}
