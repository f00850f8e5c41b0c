//! Asking the user of a terminal whether a call may run.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::thread;

use openclaw_proto::approval::{ApprovalRequested, ApprovalResolved, Decision};
use tokio::sync::mpsc;

use crate::approvals;
use crate::connection::Gateway;
use crate::output;

/// What the user may type, with what it means.
const ANSWERS: &str = "allow? [y]es, [a]lways, [n]o: ";

/// Asks about one call at a time.
pub(super) struct Questions {
    /// Lines that were typed; made with the first question.
    lines: Option<mpsc::UnboundedReceiver<String>>,
    waiting: Vec<String>,
    asks: bool,
}

impl Questions {
    /// Asks when there is somebody to ask.
    pub(super) fn new(json: bool) -> Self {
        let is_terminal = io::stdin().is_terminal() && output::stderr_is_terminal();
        Self {
            lines: None,
            waiting: Vec::new(),
            asks: is_terminal && !json,
        }
    }

    /// A call waits.
    pub(super) fn ask(&mut self, request: &ApprovalRequested) {
        if !self.asks {
            let id = approvals::short(&request.id);
            output::stderr_line(&format!(
                "waiting to be allowed: {}\n  openclawctl approvals allow {id}   (or: deny {id})",
                output::printable(&request.command),
            ));
            return;
        }
        self.lines.get_or_insert_with(typed);
        output::stderr_line(&format!(
            "\nThe agent wants to run, and {}:\n  {}",
            request.reason,
            output::printable(&request.command).replace('\n', "\n  ")
        ));
        output::stderr_progress(ANSWERS);
        self.waiting.push(request.id.clone());
    }

    /// Somebody decided, here or elsewhere.
    pub(super) fn resolved(&mut self, resolved: &ApprovalResolved) {
        let was_waiting = self.waiting.contains(&resolved.id);
        self.waiting.retain(|id| *id != resolved.id);
        let text = match resolved.decision {
            Some(Decision::Deny) => format!("denied by {}", resolved.by),
            Some(decision) => format!("{decision} by {}", resolved.by),
            None => "nobody allowed it in time; it does not run".to_owned(),
        };
        if was_waiting || resolved.decision.is_none() || !self.asks {
            output::stderr_line(&text);
        }
    }

    /// The next answer that was typed: what it is about, and the decision.
    pub(super) async fn answer(&mut self) -> (String, Decision) {
        loop {
            let line = match &mut self.lines {
                Some(lines) => lines.recv().await,
                None => std::future::pending().await,
            };
            let Some(line) = line else {
                // Standard input has ended: nobody will answer here.
                self.lines = None;
                self.asks = false;
                continue;
            };
            let Some(id) = self.waiting.first().cloned() else {
                continue;
            };
            match parse(&line) {
                Some(decision) => {
                    self.waiting.remove(0);
                    return (id, decision);
                }
                None => output::stderr_progress(ANSWERS),
            }
        }
    }
}

/// Tells the gateway; what goes wrong is said, and the call goes on waiting.
pub(super) async fn decide(gateway: Gateway, id: String, decision: Decision) {
    if let Err(failure) = approvals::decide(&gateway, &id, decision).await {
        output::stderr_line(&format!("error: {}", failure.text()));
    }
}

fn parse(line: &str) -> Option<Decision> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" | "allow" | "allow-once" => Some(Decision::AllowOnce),
        "a" | "always" | "allow-always" => Some(Decision::AllowAlways),
        "n" | "no" | "deny" => Some(Decision::Deny),
        _ => None,
    }
}

/// Lines as they are typed. A thread of its own: reading from a terminal cannot
/// be given up, and nobody waits for it at the end.
fn typed() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_short_words() {
        assert_eq!(parse(" Y\n"), Some(Decision::AllowOnce));
        assert_eq!(parse("always"), Some(Decision::AllowAlways));
        assert_eq!(parse("no"), Some(Decision::Deny));
        assert_eq!(parse(""), None);
        assert_eq!(parse("what?"), None);
    }
}
