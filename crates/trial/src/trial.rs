//! A trial in a folder: what is there is kept, so that an interrupted one goes on.
//!
//! `setup.txt` says what it was made of; `tree`, `build`, `kernels/VARIANT` are the kernels; [`RunFiles`] are the results.

use crate::error::{Error, Result};
use crate::kernel::{BuiltKernel, KernelBuild, KernelConfig, LinkedTree, PatchFiles, same_sections};
use crate::runs::RunFiles;
use crate::score::{self, ScoredMachine, TraceInput};
use crate::setup;
use fieldline_debuginfo::{Elf, FileBytes, hex};
use fieldline_guest::{GuestOptions, record};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A kernel or program of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name, also of its folders.
    pub name: String,
    /// The files that its patches change.
    pub files: PatchFiles,
}

impl Variant {
    /// A line that says what it is made of.
    pub(crate) fn setup(&self) -> String {
        let Self { name, files } = self;
        let parts: Vec<&[u8]> = files.iter().flat_map(|(name, text)| [name.as_bytes(), text]).collect();
        format!("variant {name} {}\n", setup::digest(&parts))
    }
}

/// How to build the kernels.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// The source tree.
    pub tree: PathBuf,
    /// The configuration.
    pub config: KernelConfig,
    /// More arguments of make.
    pub arguments: Vec<String>,
    /// Jobs that run at once.
    pub jobs: usize,
}

/// A trial.
#[derive(Clone, Debug)]
pub struct Trial {
    folder: PathBuf,
    tree: LinkedTree,
    options: BuildOptions,
    architecture: fieldline_guest::GuestArchitecture,
    /// The kernels, the unpatched one first.
    pub variants: Vec<Variant>,
}

/// The result of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOutcome {
    /// The kernel.
    pub kernel: BuiltKernel,
    /// Objects that were compiled; nothing if the kernel was there already.
    pub compiled: Option<usize>,
}

/// Options of all boots and of their scores.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Options of the recording; kernel, vmlinux and seed are each run's.
    pub guest: GuestOptions,
    /// Structs that are counted one by one.
    pub structs: Vec<String>,
    /// The machines that are modelled.
    pub machine: ScoredMachine,
    /// Whether traces and objects are kept.
    pub keeps_traces: bool,
}

impl Trial {
    /// Finds what a trial can't do without, before anything is built or written: the tree, QEMU, a compiler for guests.
    ///
    /// # Errors
    ///
    /// The tree is none of a kernel, or something isn't there.
    pub fn check(tree: &Path, guest: &GuestOptions) -> Result<()> {
        LinkedTree::check(tree)?;
        Ok(fieldline_guest::check_machine(guest)?)
    }

    /// Opens a folder, or begins a trial in it.
    ///
    /// # Errors
    ///
    /// The folder has a trial of something else, or can't be written.
    pub fn open(
        folder: &Path,
        options: BuildOptions,
        architecture: fieldline_guest::GuestArchitecture,
        variants: Vec<Variant>,
    ) -> Result<Self> {
        LinkedTree::check(&options.tree)?;
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let folder = folder.canonicalize().map_err(Error::file(folder))?;
        let setup = kernels_setup(&options, architecture, &variants)?;
        setup::write_or_check(&folder.join("setup.txt"), &setup)?;
        let tree = LinkedTree::make(&options.tree, &folder.join("tree"))?;
        Ok(Self { folder, tree, options, architecture, variants })
    }

    /// The kernel of a variant, built unless it is there.
    ///
    /// # Errors
    ///
    /// It can't be built.
    pub fn build(&self, variant: &Variant) -> Result<BuildOutcome> {
        let to = self.folder.join("kernels").join(&variant.name);
        if to.exists() {
            return Ok(BuildOutcome { kernel: BuiltKernel::in_folder(&to), compiled: None });
        }
        let (build_folder, log) = (self.folder.join("build"), self.folder.join("build.log"));
        let build = self.kernel_build(&build_folder, &log);
        self.tree.apply(&variant.files, &self.changed_files())?;
        if !build_folder.join("include/config/auto.conf").exists() {
            build.configure(&self.options.config)?;
        }
        let started = SystemTime::now();
        let kernel = build.build(&to)?;
        Ok(BuildOutcome { kernel, compiled: Some(build.compiled_since(started)) })
    }

    /// Builds a variant from nothing, and compares code and data with those of its kernel: the first section that
    /// differs, if one does.
    ///
    /// # Errors
    ///
    /// It can't be built.
    pub fn prove_build(&self, variant: &Variant) -> Result<Option<String>> {
        let (build_folder, log) = (self.folder.join("build"), self.folder.join("build.log"));
        if build_folder.exists() {
            fs::remove_dir_all(&build_folder).map_err(Error::file(&build_folder))?;
        }
        let whole = self.folder.join("whole-build");
        if whole.exists() {
            fs::remove_dir_all(&whole).map_err(Error::file(&whole))?;
        }
        self.tree.apply(&variant.files, &self.changed_files())?;
        let build = self.kernel_build(&build_folder, &log);
        build.configure(&self.options.config)?;
        let built = build.build(&whole)?;
        let kernel = BuiltKernel::in_folder(&self.folder.join("kernels").join(&variant.name));
        let difference = same_sections(&kernel.vmlinux, &built.vmlinux)?;
        fs::remove_dir_all(&whole).map_err(Error::file(&whole))?;
        Ok(difference)
    }

    fn kernel_build<'b>(&'b self, folder: &'b Path, log: &'b Path) -> KernelBuild<'b> {
        KernelBuild {
            tree: self.tree.folder(),
            folder,
            architecture: self.architecture,
            arguments: &self.options.arguments,
            jobs: self.options.jobs,
            log,
        }
    }

    fn changed_files(&self) -> BTreeSet<String> {
        self.variants.iter().flat_map(|variant| variant.files.keys().cloned()).collect()
    }

    /// The runs that are not there yet, in turns: the first of each variant, then the second, and so on.
    ///
    /// # Errors
    ///
    /// A run that is there was made with other options.
    pub fn pending(&self, runs: u32, options: &RunOptions) -> Result<Vec<(u32, usize)>> {
        self.run_files().pending(runs, |number, index| self.run_setup(index, number, options))
    }

    /// The figures of its runs.
    #[must_use]
    pub fn run_files(&self) -> RunFiles {
        let names = self.variants.iter().map(|variant| variant.name.clone()).collect();
        RunFiles::new(&self.folder, names)
    }

    /// Boots a variant's kernel, and writes the figures of the run.
    ///
    /// # Errors
    ///
    /// The guest can't be recorded or scored, or a file not be written.
    pub fn run(&self, number: u32, index: usize, options: &RunOptions) -> Result<()> {
        let Some(variant) = self.variants.get(index) else { return Ok(()) };
        let kernel = BuiltKernel::in_folder(&self.folder.join("kernels").join(&variant.name));
        let folder = self.folder.join("traces").join(&variant.name);
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        let (trace, objects) =
            (folder.join(format!("run-{number:03}.trace")), folder.join(format!("run-{number:03}.tsv")));
        let guest = GuestOptions {
            kernel: kernel.image,
            vmlinux: kernel.vmlinux.clone(),
            seed: seed(index, number),
            object_types: options.structs.clone(),
            ..options.guest.clone()
        };
        let file = File::create(&trace).map_err(Error::file(&trace))?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let recording = record(&guest, Some(&mut out))?;
        std::io::Write::flush(&mut out).map_err(Error::file(&trace))?;
        drop(out);
        fs::write(&objects, &recording.object_table).map_err(Error::file(&objects))?;
        let input = TraceInput { trace: &trace, objects: &objects, vmlinux: Some(&kernel.vmlinux) };
        let figures = score::score(input, &options.structs, &options.machine)?;
        self.run_files().write((number, index), &figures, &self.run_setup(index, number, options)?)?;
        if !options.keeps_traces {
            for path in [&trace, &objects] {
                fs::remove_file(path).map_err(Error::file(path))?;
            }
            // Goes only when it is empty.
            let _ = fs::remove_dir(&folder).and_then(|()| fs::remove_dir(self.folder.join("traces")));
        }
        Ok(())
    }

    /// Facts that a run depends on. Names of files are left out: they don't change it.
    fn run_setup(&self, index: usize, number: u32, options: &RunOptions) -> Result<String> {
        let Some(variant) = self.variants.get(index) else { return Ok(String::new()) };
        let kernel = BuiltKernel::in_folder(&self.folder.join("kernels").join(&variant.name));
        let file = FileBytes::open(&kernel.vmlinux).map_err(Error::debug_info)?;
        let build_id = Elf::parse(&file).map_err(Error::debug_info)?.build_id().map(hex).unwrap_or_default();
        let RunOptions { guest, structs, machine, .. } = options;
        let ScoredMachine { lines, caches, visit_gap } = machine;
        let mut text =
            format!("fieldline trial: {}, run {number}, seed {}\n", variant.name, seed(index, number));
        // Writing to a string can't fail.
        let _ =
            writeln!(text, "kernel {build_id}; {} CPUs, {} MiB; {:?}", guest.cpus, guest.memory, guest.load);
        let _ =
            writeln!(text, "code {:?}; window {}; append '{}'", guest.selection, guest.window, guest.append);
        let _ = write!(
            text,
            "structs {}; lines {lines:?}; caches {caches:?}; gap {visit_gap}",
            structs.join(",")
        );
        Ok(text)
    }
}

/// The seed of a run. Neighbouring numbers, and numbers of the same length, are runs that resemble each other: kernels
/// without any difference differed significantly by them.
fn seed(index: usize, number: u32) -> u32 {
    xxhash_rust::xxh3::xxh3_64(format!("{index} {number}").as_bytes()) as u32
}

/// Facts that the kernels depend on.
fn kernels_setup(
    options: &BuildOptions,
    architecture: fieldline_guest::GuestArchitecture,
    variants: &[Variant],
) -> Result<String> {
    let makefile = options.tree.join("Makefile");
    let tree = fieldline_files::read(&makefile).map_err(Error::file(&makefile))?;
    let (target, lines) = options.config.parts()?;
    let mut text = format!("machine {}\nMakefile {}\n", architecture.name(), setup::digest(&[&tree]));
    // Writing to a string can't fail.
    let _ = writeln!(
        text,
        "configuration {}",
        setup::digest(&[target.unwrap_or_default().as_bytes(), lines.as_bytes()])
    );
    let _ = writeln!(text, "make {}", options.arguments.join(" "));
    variants.iter().for_each(|variant| text += &variant.setup());
    Ok(text)
}
