//! A suite that was started in the background: what it says until it answers.

use std::io::Read as _;
use std::process::{ChildStderr, ExitStatus};
use std::thread::{self, JoinHandle};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_terminal::failure::{CONFIG, HELD};
use openclaw_terminal::{Failure, output};

use crate::record;

/// Bytes that are kept of what a suite in the background says before it answers.
const SAID_LIMIT: usize = 64 * 1024;
/// Lines of it that are shown where it ended without saying why.
const LAST_LINES: usize = 10;

/// Why a suite that was just started is no more: as it said itself, with its exit
/// code, else what it said last. Its log is shown as people read it, without stack traces.
pub fn ended_at_once(ended: ExitStatus, said: &str) -> Failure {
    let lines: Vec<&str> = said.lines().collect();
    let error = lines.iter().rposition(|line| line.starts_with("error: "));
    let from = error.unwrap_or_else(|| lines.len().saturating_sub(LAST_LINES));
    let (now, zone) = (Timestamp::now(), TimeZone::system());
    for line in &lines[from..] {
        let pretty = record::pretty_raw(line, now, &zone);
        output::stderr_line(pretty.as_deref().unwrap_or(line));
    }
    let code = ended.code().and_then(|code| u8::try_from(code).ok());
    match code.filter(|code| *code != 0 && error.is_some()) {
        Some(code) => Failure::silent(code),
        None if code == Some(CONFIG) => Failure::not_startable("openclaw cannot start, see above"),
        None if code == Some(HELD) => Failure::taken("another suite has the state, see above"),
        None => Failure::new(format!("openclawctl run ended at once ({ended})"))
            .hint("openclawctl run in this terminal says more"),
    }
}

/// What a program says on its standard error, while it is listened to.
#[derive(Debug)]
pub struct StandardError(JoinHandle<Vec<u8>>);

impl StandardError {
    /// Listens to it.
    pub fn listen(mut stderr: ChildStderr) -> Self {
        Self(thread::spawn(move || {
            let mut all = Vec::new();
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = stderr.read(&mut piece) {
                all.extend_from_slice(&piece[..length]);
                let surplus = all.len().saturating_sub(SAID_LIMIT);
                all.drain(..surplus);
            }
            all
        }))
    }

    /// All of it, or its end: when nobody has the other side any more.
    pub fn end(self) -> String {
        String::from_utf8_lossy(&self.0.join().unwrap_or_default()).into_owned()
    }
}
