//! The daemons' logs and this program's own, on standard error.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_config::Paths;
use openclaw_settings::LogLevel;
use openclaw_terminal::output;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

use crate::log_file::{self, LogFile};
use crate::record;

/// The bytes of a line that are kept; a record with a stack trace is some 20 kB.
const LONGEST_LINE: u64 = 256 * 1024;
/// This program in its own records.
const SELF: &str = "openclawctl";

/// Lines for people on a terminal, JSON elsewhere.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    terminal: bool,
    zone: TimeZone,
    /// What this program's own news are to a program that reads them; a person
    /// is told all of them. All clones have the same.
    least: Arc<Mutex<LogLevel>>,
    /// Beside standard error.
    file: Option<Arc<LogFile>>,
}

impl Log {
    /// For standard error as it is now.
    pub(crate) fn open() -> Self {
        Self {
            terminal: output::stderr_is_terminal(),
            zone: TimeZone::system(),
            least: Arc::new(Mutex::new(LogLevel::Info)),
            file: None,
        }
    }

    /// Which is kept on the disk, too, where that can be.
    pub(crate) fn kept(mut self, paths: &Paths) -> Self {
        match LogFile::open(paths) {
            Ok(file) => self.file = Some(Arc::new(file)),
            Err(error) => {
                let path = log_file::path(paths);
                let text = format!(
                    "cannot keep the log in {}, it is here alone: {error}",
                    path.display()
                );
                self.own(LogLevel::Warn, &text);
            }
        }
        self
    }

    /// Without records that are less severe than `least`, as the daemons' are.
    pub(crate) fn with_level(self, least: LogLevel) -> Self {
        self.set_level(least);
        self
    }

    /// The same from now on, for all that write to it.
    pub(crate) fn set_level(&self, least: LogLevel) {
        *self.least.lock().unwrap_or_else(PoisonError::into_inner) = least;
    }

    /// Whether there was a terminal and it has gone: it was closed, or its
    /// connection broke.
    pub(crate) fn terminal_is_gone(&self) -> bool {
        self.terminal && !output::stderr_is_terminal()
    }

    fn wants(&self, level: LogLevel) -> bool {
        level >= *self.least.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says something of this program's own.
    pub(crate) fn own(&self, level: LogLevel, message: &str) {
        let is_wanted = self.wants(level);
        if !self.terminal && !is_wanted {
            return;
        }
        let level = level.name();
        let now = Timestamp::now();
        let line = record::json(level, SELF, message, now);
        if is_wanted {
            self.keep(&line);
        }
        if self.terminal {
            output::stderr_line(&record::plain(level, SELF, message, now, &self.zone))
        } else {
            output::stderr_json_line(&line)
        }
    }

    /// Passes a daemon's lines on until there are no more.
    pub(crate) async fn forward(
        self,
        daemon: impl AsRef<str>,
        source: impl AsyncRead + Unpin,
    ) -> io::Result<()> {
        let mut source = BufReader::new(source);
        let mut bytes = Vec::new();
        // Whether the beginning of this line was read already.
        let mut goes_on = false;
        loop {
            bytes.clear();
            let mut limited = (&mut source).take(LONGEST_LINE);
            if limited.read_until(b'\n', &mut bytes).await? == 0 {
                return Ok(());
            }
            // The rest of a line would pass for one of its own, in the daemon's name.
            let is_rest = std::mem::replace(&mut goes_on, bytes.last() != Some(&b'\n'));
            if !is_rest {
                let line = String::from_utf8_lossy(&bytes);
                self.pass(daemon.as_ref(), line.trim_end());
            }
        }
    }

    fn pass(&self, daemon: &str, line: &str) {
        if line.is_empty() {
            return;
        }
        let now = Timestamp::now();
        let raw = record::raw(line, daemon, now);
        self.keep(&raw);
        if self.terminal {
            output::stderr_line(&record::pretty(line, daemon, now, &self.zone))
        } else {
            output::stderr_json_line(&raw)
        }
    }

    fn keep(&self, line: &str) {
        if let Some(file) = &self.file {
            file.add(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn line_that_is_too_long_does_not_begin_another() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let paths = Paths::resolve(&[("OPENCLAW_STATE_DIR", state)].into_iter().collect());
        let paths = paths.unwrap();
        let log = Log::open().kept(&paths);
        let padding = "x".repeat(LONGEST_LINE as usize);
        let said = format!("{padding}{{\"level\":\"info\",\"message\":\"forged\"}}\nnext\n");
        log.forward("gateway", said.as_bytes()).await.unwrap();
        let kept = std::fs::read_to_string(log_file::path(&paths)).unwrap();
        assert_eq!(kept.lines().count(), 2);
        assert!(!kept.contains("forged") && kept.contains("next"));
    }

    #[test]
    fn level_that_is_changed_holds_for_all_that_write() {
        let log = Log::open().with_level(LogLevel::Info);
        let other = log.clone();
        assert!(other.wants(LogLevel::Info) && !other.wants(LogLevel::Debug));
        log.set_level(LogLevel::Silent);
        assert!(!other.wants(LogLevel::Info) && !other.wants(LogLevel::Error));
        log.set_level(LogLevel::Warn);
        assert!(!other.wants(LogLevel::Info) && other.wants(LogLevel::Warn));
    }
}
