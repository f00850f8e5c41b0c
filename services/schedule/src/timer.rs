//! Makes sure that the gateway runs when a job is due, whoever started it last: the
//! service manager's timer, which goes with the machine, and the mark by which the
//! next start of the suite knows that there is something to wait for.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use openclaw_config::write;
use openclaw_conversations::database::Fault;
use openclaw_daemon::failure;
use openclaw_proto::runner::Alarm;
use openclaw_sessions::now_ms;
use tokio::time::sleep;

use crate::Schedule;

/// A timer is replaced at most this often: a job of every second would keep the
/// service manager busy, and the gateway that runs it is there.
const PAUSE: Duration = Duration::from_secs(5);

/// A timer that could not be set is set after this long.
const RETRY: Duration = Duration::from_secs(30);

/// What the mark says to whoever looks into it.
const MARK: &str = "A job is due at some time. openclaw-gateway keeps this file, and \
                    openclaw-schedule.service starts it because of it.\n";

impl Schedule {
    /// Keeps the timer at the time of the next job.
    pub(crate) async fn keep_armed(self: Arc<Self>) {
        // Nobody is told of nothing where nothing was before.
        let mut armed = (!self.mark_path().exists()).then_some(None);
        while !self.needs.tasks.is_closed() {
            let plan = self.jobs.plan();
            let wanted = match self.next_alarm().await {
                Ok(wanted) => wanted,
                Err(fault) => {
                    failure::report("look for the next job, trying again later", &fault);
                    sleep(RETRY).await;
                    continue;
                }
            };
            let is_new = armed != Some(wanted);
            if is_new && !self.arm(wanted).await {
                sleep(RETRY).await;
                continue;
            }
            armed = Some(wanted);
            self.wakeup.settle(plan);
            let pause = if is_new { PAUSE } else { Duration::ZERO };
            tokio::join!(sleep(pause), self.jobs.planned());
        }
    }

    /// Marks, on the disk, that something is due at some time.
    pub(crate) async fn mark(&self) {
        let _only = self.marking.lock().await;
        mark(self.mark_path()).await;
    }

    /// The time of the next job. There is a mark when there is one.
    async fn next_alarm(&self) -> Result<Option<Alarm>, Fault> {
        // What is added meanwhile is marked afterwards.
        let _only = self.marking.lock().await;
        let next = if self.is_on() {
            self.jobs.next().await?
        } else {
            None
        };
        match next {
            Some(_) => mark(self.mark_path()).await,
            None => unmark(self.mark_path()).await,
        }
        Ok(next.map(|(at_ms, wake_at_ms)| Alarm { at_ms, wake_at_ms }))
    }

    /// Sets the timer; whether that was done, or there is none to set.
    async fn arm(&self, alarm: Option<Alarm>) -> bool {
        let armed = match self.needs.runner.arm_timer(alarm).await {
            Ok(armed) => armed,
            // While this gateway is there, it keeps the time itself.
            Err(error) => {
                failure::report("arm the timer of the next job, trying again later", &error);
                return false;
            }
        };
        let timer = alarm.filter(|_| armed.is_armed);
        self.wakeup
            .note(alarm.map(|it| it.at_ms), timer.map(|it| it.at_ms));
        let is_to_wake = alarm.is_some_and(|alarm| alarm.wake_at_ms.is_some());
        if is_to_wake && armed.is_armed && !armed.wakes_system {
            tracing::warn!(
                "a job is to wake the machine, and the user's service manager may not \
                 (CAP_WAKE_ALARM): it runs when the machine is awake again"
            );
        }
        true
    }

    /// Whether a job that is due needs this very gateway: soon, or because nothing
    /// would start another one.
    pub fn needs_gateway(&self) -> bool {
        self.wakeup.needs_gateway(self.jobs.plan(), now_ms())
    }

    fn mark_path(&self) -> PathBuf {
        self.needs.configuration.settings().paths.scheduled()
    }
}

async fn mark(path: PathBuf) {
    let marked = tokio::task::spawn_blocking(move || {
        if path.exists() {
            return Ok(());
        }
        write::atomic(&path, MARK.as_bytes())
    });
    report("mark that there are jobs", marked.await);
}

async fn unmark(path: PathBuf) {
    let removed = tokio::task::spawn_blocking(move || remove(&path));
    report("take away the mark that there are jobs", removed.await);
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn report(operation: &str, done: Result<io::Result<()>, tokio::task::JoinError>) {
    if let Ok(Err(error)) = done {
        failure::report(operation, &error);
    }
}
