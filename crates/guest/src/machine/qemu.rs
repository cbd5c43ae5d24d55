//! QEMU's arguments, and its process.

use super::architecture::GuestArchitecture;
use crate::error::{Error, Result};
use fieldline_files::printable::printable;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Nanoseconds of an instruction, as a power of two. Faster CPUs wait longer (in instructions) where the kernel waits
/// for a time; of slower ones the timer's interrupts take most.
pub(crate) const SHIFT: u32 = 2;
/// Bytes of QEMU's buffer for translated code.
const TRANSLATED_MB: u32 = 512;
/// Lines of QEMU and of the console that an error has.
const SHOWN_LINES: usize = 25;

/// Options that QEMU is started with.
#[derive(Clone, Debug)]
pub(crate) struct QemuOptions<'a> {
    pub(crate) qemu: Option<&'a Path>,
    pub(crate) architecture: GuestArchitecture,
    pub(crate) cpus: usize,
    /// In MiB.
    pub(crate) memory: u64,
    pub(crate) kernel: &'a Path,
    pub(crate) initrd: &'a Path,
    pub(crate) arguments: String,
    pub(crate) plugin: &'a Path,
    pub(crate) plan: &'a Path,
    pub(crate) seed: u32,
    pub(crate) is_parallel: bool,
    /// Where QEMU's and the console's output go.
    pub(crate) folder: &'a Path,
    pub(crate) timeout: Duration,
}

/// QEMU, running. Dropping it ends it.
pub(crate) struct Qemu {
    child: Arc<Mutex<Child>>,
    folder: PathBuf,
    /// Dropping it ends the thread that watches the time.
    stop: Option<Sender<()>>,
    watch: Option<JoinHandle<bool>>,
}

impl Qemu {
    /// Starts the guest; its records come from the pipe.
    pub(crate) fn start(options: &QemuOptions<'_>) -> Result<(Self, ChildStdout)> {
        let log = options.folder.join("qemu.log");
        let errors = File::create(&log).map_err(Error::file(&log))?;
        let mut command = Command::new(program(options));
        command.args(arguments(options)).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
        let mut child = command.spawn().map_err(|_| Error::MissingProgram {
            program: program(options).to_string_lossy().into_owned(),
            packages: options.architecture.qemu_package(),
            hint: ", or name it (--qemu PATH)",
        })?;
        let records = child.stdout.take();
        let child = Arc::new(Mutex::new(child));
        let (stop, stopped) = channel();
        let (watched, timeout) = (Arc::clone(&child), options.timeout);
        let watch = std::thread::spawn(move || {
            let is_late = stopped.recv_timeout(timeout) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
            if is_late {
                kill(&watched);
            }
            is_late
        });
        let folder = options.folder.to_owned();
        let qemu = Self { child, folder, stop: Some(stop), watch: Some(watch) };
        let records = records.ok_or_else(|| qemu.failed("before it began"))?;
        Ok((qemu, records))
    }

    /// Ends QEMU, if it hasn't ended; whether its time was up.
    pub(crate) fn finish(&mut self) -> bool {
        self.stop = None;
        let is_late = self.watch.take().and_then(|watch| watch.join().ok()).unwrap_or(false);
        kill(&self.child);
        is_late
    }

    /// An error with what QEMU and the guest printed last.
    pub(crate) fn failed(&self, when: &'static str) -> Error {
        let tail = |name: &str| {
            let text = fs::read(self.folder.join(name)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let lines: Vec<String> = text.lines().map(|line| printable(line).into_owned()).collect();
            lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
        };
        let details = [tail("qemu.log"), tail("console.log")].join("\n");
        Error::Guest { when, details: details.trim().to_owned() }
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        self.finish();
    }
}

fn kill(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // It may have ended.
    let _ = child.kill();
    let _ = child.wait();
}

fn program(options: &QemuOptions<'_>) -> OsString {
    options.qemu.map_or_else(|| options.architecture.qemu().into(), |path| path.as_os_str().to_owned())
}

/// The oldest QEMU whose plugins can read the guest's memory (version 4 of the plugin interface).
const OLDEST: u32 = 10;

/// QEMU's version, as it prints it; an error if it is too old.
pub(crate) fn version(qemu: Option<&Path>, architecture: GuestArchitecture) -> Result<String> {
    let program = qemu.map_or_else(|| architecture.qemu().into(), |path| path.as_os_str().to_owned());
    let output = Command::new(&program).arg("--version").output().map_err(|_| Error::MissingProgram {
        program: program.to_string_lossy().into_owned(),
        packages: architecture.qemu_package(),
        hint: ", or name it (--qemu PATH)",
    })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.lines().next().unwrap_or_default().split_whitespace();
    let version = words.skip_while(|word| *word != "version").nth(1).unwrap_or_default().to_owned();
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(major) if major >= OLDEST => Ok(version),
        _ => Err(Error::OldQemu {
            program: program.to_string_lossy().into_owned(),
            version: printable(&version).into_owned(),
            packages: architecture.qemu_package(),
        }),
    }
}

fn arguments(options: &QemuOptions<'_>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
    add(options.architecture.machine());
    let cpus = options.cpus;
    let (memory, topology) =
        (format!("{}M", options.memory), format!("{cpus},sockets=1,cores={cpus},threads=1"));
    add(&["-smp", &topology, "-m", &memory]);
    let mode = if options.is_parallel { "multi" } else { "single" };
    add(&["-accel", &format!("tcg,thread={mode},tb-size={TRANSLATED_MB}")]);
    if !options.is_parallel {
        // Time is counted in instructions and the seed is ours: nothing of this machine is seen in the guest.
        add(&["-icount", &format!("shift={SHIFT},sleep=off")]);
    }
    add(&["-seed", &options.seed.to_string(), "-rtc", "base=2026-01-01T00:00:00,clock=vm"]);
    add(&["-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none"]);
    add(&["-append", &options.arguments]);
    let mut add_path = |option: &str, before: &str, path: &Path, after: &str| {
        let mut value = OsString::from(before);
        // QEMU splits options at commas; a doubled one is a comma.
        match path.to_str() {
            Some(path) if !before.is_empty() => value.push(path.replace(',', ",,")),
            _ => value.push(path),
        }
        value.push(after);
        arguments.extend([option.into(), value]);
    };
    add_path("-serial", "file:", &options.folder.join("console.log"), "");
    add_path("-kernel", "", options.kernel, "");
    add_path("-initrd", "", options.initrd, "");
    let plan = options.plan.to_string_lossy().replace(',', ",,");
    let parallel = if options.is_parallel { ",parallel=on" } else { "" };
    add_path("-plugin", "file=", options.plugin, &format!(",plan={plan}{parallel}"));
    arguments
}
