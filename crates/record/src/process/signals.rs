//! Waiting for what traced threads do, for a time, and hearing of Ctrl-C meanwhile.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use std::os::fd::AsFd;
use std::time::Duration;

/// How many waits that end at once are between two looks for Ctrl-C.
const BETWEEN_LOOKS: u32 = 256;

/// Signals that arrive as data, of this thread and of those it starts.
pub(crate) struct Signals {
    fd: SignalFd,
    before: SigSet,
    is_interrupted: bool,
    waits: u32,
}

impl Signals {
    /// Blocks the signals until this is dropped.
    pub(crate) fn catch() -> Result<Self, Errno> {
        let mut set = SigSet::empty();
        [Signal::SIGCHLD, Signal::SIGINT, Signal::SIGTERM].into_iter().for_each(|signal| set.add(signal));
        let before = set.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let fd = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { fd, before, is_interrupted: false, waits: 0 })
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    fn drain(&mut self) {
        while let Ok(Some(info)) = self.fd.read_signal() {
            self.is_interrupted |= info.ssi_signo != Signal::SIGCHLD as u32;
        }
    }

    /// What a traced thread did, where one is bound to do something at once: waiting is quickest without a time.
    ///
    /// # Errors
    /// As `waitpid`; ECHILD where nobody is left.
    pub(crate) fn next_at_once(&mut self) -> Result<WaitStatus, Errno> {
        self.waits = self.waits.wrapping_add(1);
        if self.waits.is_multiple_of(BETWEEN_LOOKS) {
            self.drain();
        }
        waitpid(None, Some(WaitPidFlag::__WALL))
    }

    /// What a traced thread did, waiting so long at most.
    ///
    /// # Errors
    /// As `waitpid`; ECHILD where nobody is left.
    pub(crate) fn next(&mut self, longest: Duration) -> Result<WaitStatus, Errno> {
        // What happened before this is in the signals, so none is slept through.
        self.drain();
        let status = ask()?;
        if status != WaitStatus::StillAlive || self.is_interrupted {
            return Ok(status);
        }
        self.sleep(longest);
        ask()
    }

    /// Sleeps until a signal comes, so long at most.
    pub(crate) fn sleep(&mut self, longest: Duration) {
        let milliseconds = u16::try_from(longest.as_millis().max(1)).unwrap_or(u16::MAX);
        let mut fds = [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN)];
        // Whatever ends this early, the next question is the same.
        poll(&mut fds, PollTimeout::from(milliseconds)).ok();
        self.drain();
    }
}

fn ask() -> Result<WaitStatus, Errno> {
    waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG))
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.before.thread_set_mask().ok();
    }
}
