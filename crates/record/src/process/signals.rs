//! Waiting for reports of traced threads, with a timeout and with Ctrl-C.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use std::os::fd::AsFd;
use std::time::Duration;

/// Waits without a timeout between two checks for Ctrl-C.
const WAITS_PER_DRAIN: u32 = 256;

/// Signals that arrive as data, of this thread and of those it starts.
pub(crate) struct SignalWaiter {
    fd: SignalFd,
    old_mask: SigSet,
    is_interrupted: bool,
    waits: u32,
}

impl SignalWaiter {
    /// Blocks the signals until this is dropped.
    pub(crate) fn block() -> Result<Self, Errno> {
        let mut set = SigSet::empty();
        [Signal::SIGCHLD, Signal::SIGINT, Signal::SIGTERM].into_iter().for_each(|signal| set.add(signal));
        let before = set.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        let fd = SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { fd, old_mask: before, is_interrupted: false, waits: 0 })
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    fn drain(&mut self) {
        while let Ok(Some(info)) = self.fd.read_signal() {
            self.is_interrupted |= info.ssi_signo != Signal::SIGCHLD as u32;
        }
    }

    /// The next report of a traced thread, where one is bound to come at once: waiting is quickest without a
    /// timeout.
    ///
    /// # Errors
    /// As `waitpid`; ECHILD where nobody is left.
    pub(crate) fn wait(&mut self) -> Result<WaitStatus, Errno> {
        self.waits = self.waits.wrapping_add(1);
        if self.waits.is_multiple_of(WAITS_PER_DRAIN) {
            self.drain();
        }
        waitpid(None, Some(WaitPidFlag::__WALL))
    }

    /// The next report of a traced thread, waiting so long at most.
    ///
    /// # Errors
    /// As `waitpid`; ECHILD where nobody is left.
    pub(crate) fn wait_timeout(&mut self, timeout: Duration) -> Result<WaitStatus, Errno> {
        // Earlier reports are in the signals, so none is slept through.
        self.drain();
        let status = poll_status()?;
        if status != WaitStatus::StillAlive || self.is_interrupted {
            return Ok(status);
        }
        self.sleep(timeout);
        poll_status()
    }

    /// Sleeps until a signal comes, so long at most.
    pub(crate) fn sleep(&mut self, timeout: Duration) {
        let milliseconds = u16::try_from(timeout.as_millis().max(1)).unwrap_or(u16::MAX);
        let mut fds = [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN)];
        // Whatever ends this early, the next question is the same.
        poll(&mut fds, PollTimeout::from(milliseconds)).ok();
        self.drain();
    }
}

fn poll_status() -> Result<WaitStatus, Errno> {
    waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG))
}

impl Drop for SignalWaiter {
    fn drop(&mut self) {
        self.old_mask.thread_set_mask().ok();
    }
}
