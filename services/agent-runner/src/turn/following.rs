//! A turn that runs, followed through its spool until its terminal event.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use nix::sys::signal::Signal;
use openclaw_daemon::failure;
use openclaw_handoff::own_limits;
use openclaw_handoff::spool::{self, Reader, Spool};
use openclaw_proto::event::{Code, Failed, GO_ON, Kind, Resources};
use tokio::time::{Instant, sleep_until, timeout};

use super::TurnContext;
use crate::table::Entry;
use crate::turn_handle::{END_DEADLINE, TurnHandle};
use crate::units::Verdict;

/// The longest time that a stopped turn gets to finish before it is killed with everything in it.
const STOP_GRACE: Duration = Duration::from_millis(400);

/// The source of a turn's events.
pub(crate) struct Following<'a> {
    turn_context: &'a TurnContext,
    entry: &'a Entry,
    held: TurnHandle,
    path: PathBuf,
    reader: Reader,
    news: Arc<tokio::sync::Notify>,
    name: String,
}

impl<'a> Following<'a> {
    pub(crate) fn new(
        turn_context: &'a TurnContext,
        entry: &'a Entry,
        held: TurnHandle,
    ) -> io::Result<Self> {
        entry.pid.store(held.pid, Ordering::Relaxed);
        let path = spool::path(&turn_context.turns, &held.run_id);
        let name = path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        Ok(Self {
            news: turn_context.watcher.of(&name),
            reader: Reader::open(&path)?,
            turn_context,
            entry,
            held,
            path,
            name,
        })
    }

    /// Reads what the turn says until its terminal event is in the log; false
    /// when its process ended before it had its turn, and nothing was begun.
    pub(crate) async fn follow(&mut self) -> bool {
        let mut kill_at: Option<Instant> = None;
        let mut is_hurried = false;
        let log = &self.entry.log;
        loop {
            self.read();
            if log.ended() {
                return true;
            }
            tokio::select! {
                () = self.news.notified() => {}
                () = self.held.ended() => {
                    self.read();
                    if !self.reader.has_begun() && !self.entry.cancel.is_cancelled() {
                        return false;
                    }
                    if !log.ended() {
                        self.close().await;
                    }
                    return true;
                }
                () = self.entry.cancel.cancelled(), if kill_at.is_none() => {
                    self.write_reason();
                    self.held.signal(Signal::SIGTERM);
                    kill_at = Some(Instant::now() + END_DEADLINE);
                }
                () = self.entry.kill.cancelled(), if !is_hurried => {
                    is_hurried = true;
                    kill_at = Some(Instant::now() + STOP_GRACE);
                    self.write_reason();
                    self.held.signal(Signal::SIGTERM);
                }
                () = sleep_until(kill_at.unwrap_or_else(Instant::now)), if kill_at.is_some() => {
                    failure::report_text("end a turn's process", "it did not end in time and is killed");
                    self.held.kill().await;
                    kill_at = Some(Instant::now() + END_DEADLINE);
                }
            }
        }
    }

    /// Waits for the end of the process, whose last word was said.
    pub(crate) async fn wait(mut self) {
        if timeout(END_DEADLINE, self.held.ended()).await.is_err() {
            failure::report_text(
                "end a turn's process",
                "it did not end after its turn and is killed",
            );
            self.held.kill().await;
            self.held.ended().await;
        }
    }

    fn read(&mut self) {
        match self.reader.news() {
            Ok(events) => events
                .into_iter()
                .for_each(|event| self.entry.log.take(event)),
            Err(error) => {
                failure::report_at("read a spool", &self.path, &error);
            }
        }
        let reports = self.reader.reports();
        self.turn_context.cooling.take(&reports);
        self.turn_context.renewals.take(&reports);
    }

    fn write_reason(&self) {
        let reason = self
            .entry
            .reason
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let path = spool::reason(&self.turn_context.turns, &self.held.run_id);
        if let Err(error) = std::fs::write(&path, reason.as_bytes()) {
            failure::report_at("keep the reason of an end", &path, &error);
        }
    }

    fn died(&self, verdict: Option<Verdict>) -> Kind {
        match self.reader.header() {
            Some(header) => died(verdict, header.memory_max, &header.own_limits),
            None => died(verdict, 0, &[]),
        }
    }

    /// Closes the spool of a process that is gone without a last word.
    async fn close(&mut self) {
        let terminal = if self.entry.cancel.is_cancelled() {
            self.entry.aborted()
        } else {
            self.died(self.held.verdict().await)
        };
        close_spool(
            &mut self.reader,
            &self.path,
            &self.held.run_id,
            terminal,
            self.entry,
        );
    }
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        self.turn_context.watcher.forget(&self.name);
    }
}

/// Adds the terminal event to a spool that nobody writes any more, and to the log.
pub(crate) fn close_spool(
    reader: &mut Reader,
    path: &Path,
    run_id: &str,
    terminal: Kind,
    entry: &Entry,
) {
    let closed = reader.repair(path).and_then(|()| {
        let spool = Spool::take_over(path, run_id, entry.log.last())?;
        let spool = spool.ok_or(io::ErrorKind::WouldBlock)?;
        spool
            .end(Resources::default, terminal.clone())
            .map_err(io::Error::other)
    });
    if let Err(error) = closed {
        failure::report_at("close a spool", path, &error);
    }
    entry.log.add(Kind::Resources(Resources::default()));
    entry.log.add(terminal);
}

/// The cause of death of a process that ended without a last event.
fn died(verdict: Option<Verdict>, memory_max: u64, own_limits: &[String]) -> Kind {
    const KEPT: &str = "what was said so far is kept";
    let (code, message) = match verdict {
        Some(Verdict::OutOfMemory) => (
            Code::ResourceLimit,
            format!(
                "the turn was stopped: it used more than {} of memory; raise \
                 agents.defaults.limits.memoryMax; {KEPT}",
                openclaw_words::bytes(memory_max)
            ),
        ),
        Some(Verdict::Timeout) => (
            Code::Timeout,
            format!(
                "the turn was stopped: it took longer than it may; raise \
                 agents.defaults.timeoutSeconds; {KEPT}"
            ),
        ),
        Some(other) => (
            Code::Crashed,
            format!("the turn's process died ({}); {KEPT}", other.to_words()),
        ),
        None => (
            Code::Crashed,
            format!("the turn's process was killed or died; {KEPT}"),
        ),
    };
    failed(code, own_limits::advise(message, own_limits))
}

/// A turn of which every process was killed before it had the turn.
pub(crate) fn unbegun() -> Kind {
    failed(
        Code::Crashed,
        "the turn's process was killed again and again before it began; nothing was done; send \
         the message again"
            .to_owned(),
    )
}

/// A turn whose process is gone since before this daemon started.
pub(crate) fn lost() -> Kind {
    failed(
        Code::Interrupted,
        format!(
            "the machine or the turn's process stopped while this was being answered; what was \
             said so far is kept; look at what was done, then {GO_ON}"
        ),
    )
}

fn failed(code: Code, message: String) -> Kind {
    Kind::Failed(Failed {
        code,
        message,
        retry_after_ms: None,
        backend_session: None,
        backend: String::new(),
    })
}
