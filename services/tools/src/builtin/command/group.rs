//! The process group of one command.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::Child;

/// Kills the whole group when dropped before it is released, so that a
/// cancelled call leaves nothing running.
#[derive(Debug)]
pub(in crate::builtin) struct ProcessGroup {
    leader: Option<Pid>,
}

impl ProcessGroup {
    /// The group `child` leads.
    pub(in crate::builtin) fn of(child: &Child) -> Self {
        let leader = child.id().and_then(|id| i32::try_from(id).ok());
        Self {
            leader: leader.map(Pid::from_raw),
        }
    }

    pub(in crate::builtin) fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    pub(in crate::builtin) fn signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // ESRCH: everything in it has ended by itself.
            let _ = killpg(leader, signal);
        }
    }

    /// The number of the leader; 0 when it is not known.
    pub(in crate::builtin) fn pid(&self) -> i32 {
        self.leader.map_or(0, Pid::as_raw)
    }

    /// Leaves alone what still runs in the group.
    pub(super) fn release(mut self) {
        self.leader = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
