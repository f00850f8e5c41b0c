//! Asking the user of a terminal whether a call may run.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::thread;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, tcflush};
use openclaw_proto::approval::{ApprovalRequested, ApprovalResolved, Decision, Terms};
use openclaw_terminal::output;
use tokio::sync::mpsc;

use crate::approvals;
use crate::approvals::question::{INDENT, Question, Screen};
use openclaw_connection::Gateway;

/// What the user may type, with what it means.
const ANSWERS: &str = "allow? [y]es, [a]lways, [n]o: ";
/// The same, where nothing can be allowed from now on.
const ANSWERS_ONCE: &str = "allow? [y]es, [n]o: ";
/// Lines that may wait to be read; one answers one question.
const LINES: usize = 16;
/// Bytes that are read at once; a terminal gives a line.
const CHUNK: usize = 4096;

/// Asks about one call at a time.
pub(super) struct Questions {
    /// Lines that were typed; made with the first question.
    lines: Option<Typing>,
    /// What waits; the first one is asked about.
    waiting: VecDeque<Waiting>,
    asks: bool,
    /// The last line on the screen is a question's, and has no end.
    is_line_open: bool,
}

/// A call that waits, with the session it is for.
struct Waiting {
    request: ApprovalRequested,
    session: String,
    terms: String,
}

impl Waiting {
    fn question(&self) -> Question<'_> {
        Question {
            tool: &self.request.tool,
            command: &self.request.command,
            cwd: &self.request.cwd,
            reason: &self.request.reason,
            session: &self.session,
            origin: "",
            form: &self.request.form,
            only_once: &self.request.only_once,
            terms: &self.terms,
        }
    }

    fn can_be_granted(&self) -> bool {
        self.question().can_be_granted(Screen::here())
    }

    fn answers(&self) -> &'static str {
        if self.can_be_granted() {
            ANSWERS
        } else {
            ANSWERS_ONCE
        }
    }
}

impl Questions {
    /// Asks when there is somebody to ask.
    pub(super) fn new(json: bool) -> Self {
        let is_terminal = io::stdin().is_terminal() && output::stderr_is_terminal();
        Self {
            lines: None,
            waiting: VecDeque::new(),
            asks: is_terminal && !json,
            is_line_open: false,
        }
    }

    /// A call of a session's turn waits.
    pub(super) fn ask(&mut self, request: &ApprovalRequested, session: &str) {
        let waiting = Waiting {
            request: request.clone(),
            session: session.to_owned(),
            terms: request.terms.as_ref().map(Terms::words).unwrap_or_default(),
        };
        if !self.asks {
            let id = output::line(approvals::short(&request.id));
            let (question, screen) = (waiting.question(), Screen::here());
            let what = if question.is_on(screen) {
                format!(
                    " {}\n{INDENT}{}\n",
                    output::line(&request.command),
                    question.heading()
                )
            } else {
                format!("\n{}", question.text(INDENT, screen))
            };
            output::stderr_line(&format!(
                "waiting to be allowed:{what}{INDENT}openclawctl approvals allow {id}   (or: deny {id})"
            ));
            return;
        }
        if self.lines.is_none() {
            self.lines = Typing::begin();
        }
        self.waiting.push_back(waiting);
        // The others are shown when it is their turn: an answer is for what is
        // seen last.
        if self.waiting.len() == 1 {
            self.show();
        }
    }

    /// Shows what is asked about now. What was typed before does not answer it.
    fn show(&mut self) {
        let Some(waiting) = self.waiting.front() else {
            return;
        };
        // Without a terminal there is nothing to be thrown away.
        let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
        while let Some(Ok(_)) = self.lines.as_mut().map(|it| it.lines.try_recv()) {}
        let question = waiting.question();
        output::stderr(&format!(
            "\nThe agent wants to run\n{}",
            question.text(INDENT, Screen::here()),
        ));
        output::stderr_prompt(waiting.answers());
        self.is_line_open = true;
    }

    /// Whether somebody has a question before them.
    pub(super) fn is_open(&self) -> bool {
        self.asks && !self.waiting.is_empty()
    }

    /// Ends the line of a question that nobody has answered: something else is shown next.
    pub(super) fn end_line(&mut self) {
        if std::mem::take(&mut self.is_line_open) {
            output::stderr("\n");
        }
    }

    /// Asks once more below what was shown meanwhile, which may be as long as the screen.
    pub(super) fn ask_again(&mut self) {
        if let Some(waiting) = self.waiting.front().filter(|_| self.asks) {
            let again = waiting.question().again(INDENT, Screen::here());
            output::stderr(&again);
            output::stderr_prompt(waiting.answers());
            self.is_line_open = true;
        }
    }

    /// Somebody decided, here or elsewhere.
    pub(super) fn resolved(&mut self, resolved: &ApprovalResolved) {
        let at = self
            .waiting
            .iter()
            .position(|it| it.request.id == resolved.id);
        let was_waiting = at.and_then(|at| self.waiting.remove(at)).is_some();
        let by = output::line(&resolved.by);
        let text = match resolved.decision {
            Some(Decision::Deny) => format!("denied by {by}"),
            Some(decision) => format!("{decision} by {by}"),
            None => "nobody allowed it in time; it does not run".to_owned(),
        };
        if was_waiting || resolved.decision.is_none() || !self.asks {
            output::stderr_line(&text);
        }
        if at == Some(0) {
            self.show();
        }
    }

    /// The next answer that was typed: what it is about, and the decision.
    pub(super) async fn answer(&mut self) -> (String, Decision) {
        loop {
            let line = match &mut self.lines {
                Some(typing) => typing.lines.recv().await,
                None => std::future::pending().await,
            };
            let Some(line) = line else {
                // Standard input has ended: nobody will answer here.
                self.lines = None;
                self.asks = false;
                continue;
            };
            // Whoever typed it ended the line.
            self.is_line_open = false;
            let Some(waiting) = self.waiting.front() else {
                continue;
            };
            let can_be_granted = waiting.can_be_granted();
            match parse(&line) {
                Some(Decision::AllowAlways) if !can_be_granted => self.ask_again(),
                None => self.ask_again(),
                Some(decision) => {
                    let id = waiting.request.id.clone();
                    self.waiting.pop_front();
                    self.show();
                    return (id, decision);
                }
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

/// Lines as they are typed, until this is dropped. What is typed then is for
/// whoever reads next.
struct Typing {
    lines: mpsc::Receiver<String>,
    /// Closed, it wakes the thread that reads.
    _open: UnixStream,
}

impl Typing {
    /// A thread of its own: reading from a terminal cannot be given up otherwise.
    /// `None`: there are no descriptors left, and the call is decided elsewhere.
    fn begin() -> Option<Self> {
        let (open, closed) = UnixStream::pair().ok()?;
        let (sender, lines) = mpsc::channel(LINES);
        thread::spawn(move || pass_on(&closed, &sender));
        Some(Self { lines, _open: open })
    }
}

/// Passes on whole lines of standard input until nobody wants them.
fn pass_on(closed: &UnixStream, lines: &mpsc::Sender<String>) {
    let stdin = io::stdin();
    let mut pending = Vec::new();
    loop {
        let mut waited = [
            PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
            PollFd::new(closed.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut waited, PollTimeout::NONE) {
            Err(Errno::EINTR) => continue,
            Err(_) => return,
            Ok(_) => {}
        }
        if waited[1].any().unwrap_or(true) {
            return;
        }
        let mut bytes = [0; CHUNK];
        let Ok(count @ 1..) = nix::unistd::read(stdin.as_fd(), &mut bytes) else {
            return;
        };
        pending.extend_from_slice(&bytes[..count]);
        while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = pending.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line).into_owned();
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
    }
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
