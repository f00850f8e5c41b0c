//! The gateway's status line for the service manager.

use openclaw_conversations::Lanes;
use openclaw_conversations::storage::Storage;
use openclaw_daemon::Notifier;
use tokio_util::task::TaskTracker;

/// The status line, and what is counted in it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct StatusLine {
    storage: Storage,
    lanes: Lanes,
    notifier: Notifier,
    /// Closed when the gateway stops; then it has another line.
    tasks: TaskTracker,
}

impl StatusLine {
    pub(crate) fn new(
        storage: Storage,
        lanes: Lanes,
        notifier: Notifier,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            storage,
            lanes,
            notifier,
            tasks,
        }
    }

    /// Brings the line up to date.
    pub(crate) fn announce(&self) {
        if !self.tasks.is_closed() {
            let (running, waiting) = self.lanes.counts();
            let line = line(self.storage.session_count(), running, waiting);
            self.notifier.status(&line);
        }
    }
}

fn line(sessions: u64, running: usize, waiting: usize) -> String {
    let plural = |n: u64| if n == 1 { "" } else { "s" };
    let mut line = format!(
        "{sessions} session{}, {running} turn{} running",
        plural(sessions),
        plural(running as u64),
    );
    if waiting > 0 {
        line.push_str(&format!(", {waiting} waiting"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn status_line_has_live_figures() {
        assert_eq!(line(3, 1, 0), "3 sessions, 1 turn running");
        assert_eq!(line(1, 0, 2), "1 session, 0 turns running, 2 waiting");
    }
}
