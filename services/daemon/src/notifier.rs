//! What the service manager is told (sd_notify(3)).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sd_notify::NotifyState;

/// The longest note in the status line, in characters; `systemctl status`
/// shows one line.
const NOTE_LENGTH: usize = 300;

/// The longest status line, in characters.
const LINE_LENGTH: usize = 1000;

/// Tells the service manager about this daemon; says nothing where there is
/// none. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Notifier {
    line: Arc<Mutex<Line>>,
}

#[derive(Debug, Default)]
struct Line {
    status: String,
    note: String,
    sent: String,
}

impl Line {
    /// What is told. A provider or a configuration may have said a part of it, and
    /// behind a line end the service manager reads the next of its own words, such as
    /// `MAINPID=` (sd_notify(3)): so it is one line, whatever it is made of.
    fn text(&self) -> String {
        let text = match (self.status.as_str(), self.note.as_str()) {
            (status, "") => status.to_owned(),
            ("", note) => note.to_owned(),
            (status, note) => format!("{status}; {note}"),
        };
        openclaw_escape::line_within(&text, LINE_LENGTH)
    }
}

impl Notifier {
    /// The daemon can serve.
    pub fn ready(&self) {
        send(&[NotifyState::Ready]);
    }

    /// The daemon reads its configuration again; [`Notifier::ready`] follows.
    pub(crate) fn reloading(&self) {
        // Type=notify-reload wants the time with it; Type=notify ignores it.
        match NotifyState::monotonic_usec_now() {
            Ok(now) => send(&[NotifyState::Reloading, now]),
            Err(_) => send(&[NotifyState::Reloading]),
        }
    }

    /// The daemon drains and then ends.
    pub fn stopping(&self) {
        send(&[NotifyState::Stopping]);
    }

    /// The daemon is alive.
    pub(crate) fn alive(&self) {
        send(&[NotifyState::Watchdog]);
    }

    /// Sets the status line; the same line again is not sent again.
    pub fn status(&self, line: &str) {
        self.change(|shown| line.clone_into(&mut shown.status));
    }

    /// Sets what stands behind every status line until it is set to nothing:
    /// that the configuration is not used as it is.
    pub fn note(&self, note: &str) {
        let short: String = note.chars().take(NOTE_LENGTH).collect();
        self.change(|shown| shown.note = short);
    }

    fn change(&self, change: impl FnOnce(&mut Line)) {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut line);
        let text = line.text();
        if line.sent != text {
            send(&[NotifyState::Status(&text)]);
            line.sent = text;
        }
    }

    /// How often the service manager wants to hear that the daemon is alive
    /// (WatchdogSec=), if it does.
    pub(crate) fn watchdog_interval(&self) -> Option<Duration> {
        sd_notify::watchdog_enabled()
    }
}

/// A manager that does not listen must not stop the daemon; there is nobody
/// left to tell about it either.
fn send(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "the service manager cannot be notified");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_one_line_whoever_said_it() {
        let line = Line {
            status: "connected; gone\nMAINPID=1\rSTOPPING=1".to_owned(),
            note: "\u{85}WATCHDOG=trigger\u{2028}x".to_owned(),
            sent: String::new(),
        };
        let text = line.text();
        assert!(!text.contains(char::is_control), "{text:?}");
        assert_eq!(
            text,
            r"connected; gone⏎MAINPID=1\rSTOPPING=1; \x85WATCHDOG=trigger\u{2028}x"
        );
        let long = Line {
            status: "x".repeat(10 * LINE_LENGTH),
            ..Line::default()
        };
        assert!(long.text().chars().count() <= LINE_LENGTH);
    }
}
