//! Starting a program so that it is traced from its first instruction on.
//!
//! A tracer must hold a program before it runs. A short-lived holder stops itself, is seized, and then
//! becomes the program.

use crate::Error;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{SigSet, Signal, kill, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Events reported to a tracer: threads, children and programs that are executed.
pub(crate) fn ptrace_options() -> Options {
    Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC
}

/// The holder: stops until a tracer lets it go on, then becomes the program. Returns only if that can't be.
pub fn stop_and_exec<A: AsRef<OsStr>>(program: &OsStr, args: &[A]) -> io::Error {
    if let Err(error) = raise(Signal::SIGSTOP) {
        return error.into();
    }
    // Signals that the recorder blocks are not the program's business.
    if let Err(error) = SigSet::all().thread_unblock() {
        return error.into();
    }
    Command::new(program).args(args).exec()
}

/// Starts a program; it is seized, and stopped in front of its first instruction. A holder that can't become
/// the program is to end with the number of the error.
pub(crate) fn start_traced(holder: &[OsString], program: &OsStr, args: &[OsString]) -> Result<Pid, Error> {
    let cannot_run = |source| Error::CannotRun { program: program.to_string_lossy().into_owned(), source };
    let (first, rest) = holder.split_first().ok_or_else(|| cannot_run(io::ErrorKind::NotFound.into()))?;
    let mut command = Command::new(first);
    let child = command.args(rest).arg(program).args(args).spawn().map_err(cannot_run)?;
    let pid = Pid::from_raw(child.id() as i32);
    let seized = seize_stopped(pid);
    if seized.is_err() {
        // A stopped holder would stay for ever.
        kill_and_wait(child.id());
    }
    seized?;
    run_until_exec(pid, cannot_run)
}

/// Ends a process that was started here, and waits for it.
pub(crate) fn kill_and_wait(pid: u32) {
    let pid = Pid::from_raw(pid as i32);
    kill(pid, Signal::SIGKILL).and_then(|()| waitpid(pid, None)).ok();
}

fn seize_stopped(pid: Pid) -> Result<(), Error> {
    let refused = |source: nix::Error| Error::Refused { pid: pid.as_raw() as u32, source: source.into() };
    waitpid(pid, Some(WaitPidFlag::WUNTRACED)).map_err(refused)?;
    ptrace::seize(pid, ptrace_options()).map_err(refused)?;
    kill(pid, Signal::SIGCONT).map_err(refused)
}

/// Lets the holder run until it is the program.
fn run_until_exec(pid: Pid, cannot_run: impl Fn(io::Error) -> Error) -> Result<Pid, Error> {
    let failed = |source: nix::Error| Error::Call { call: "waitpid", source: source.into() };
    loop {
        match waitpid(pid, Some(WaitPidFlag::__WALL)).map_err(failed)? {
            WaitStatus::PtraceEvent(_, _, event) if event == ptrace::Event::PTRACE_EVENT_EXEC as i32 => {
                return Ok(pid);
            }
            WaitStatus::Stopped(_, signal) => ptrace::cont(pid, signal).map_err(failed)?,
            WaitStatus::Exited(_, number) => return Err(cannot_run(io::Error::from_raw_os_error(number))),
            WaitStatus::Signaled(..) => return Err(failed(nix::Error::ECHILD)),
            _ => ptrace::cont(pid, None).map_err(failed)?,
        }
    }
}
