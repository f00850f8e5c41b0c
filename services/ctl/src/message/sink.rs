//! Where the replies go: a terminal or a program.

use std::time::Instant;

use openclaw_proto::event::{Event, Kind};
use openclaw_proto::gateway::Accepted;
use openclaw_proto::shown::Shown;
use openclaw_terminal::Failure;
use openclaw_terminal::output::{self, Pieces};
use serde_json::{Map, Value};

use super::spent;
use super::summary::{State, Summary};
use super::thoughts::Thoughts;
use super::trace::{self, Kept};

/// Prints a run.
pub(super) trait Sink {
    /// The gateway has the message, and the session wants so much shown.
    fn accepted(&mut self, accepted: &Accepted, shown: Shown) -> Result<(), Failure>;
    /// Something happened.
    fn event(&mut self, event: &Event) -> Result<(), Failure>;
    /// Nothing more will happen.
    fn finish(&mut self, summary: &Summary) -> Result<(), Failure>;
    /// Nothing more is listened to, in the middle of it.
    fn leave(&mut self) {}
    /// Some time passed. Only where [`Self::is_drawn`].
    fn tick(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    /// Whether what is shown changes with time.
    fn is_drawn(&self) -> bool {
        false
    }
}

/// For people.
pub(super) struct Text {
    /// Print the text as it comes.
    stream: bool,
    /// Show all that the agent does.
    is_verbose: bool,
    /// What of that is shown.
    kept: Kept,
    shown: Shown,
    thoughts: Thoughts,
    begun: Instant,
    calls: usize,
    /// Standard output is a terminal.
    terminal: bool,
    /// The last thing printed was no line end.
    line_open: bool,
    pieces: Pieces,
}

impl Text {
    pub(super) fn new(stream: bool, verbose: bool) -> Self {
        Self {
            stream,
            is_verbose: verbose,
            kept: kept(verbose, Shown::default()),
            shown: Shown::default(),
            thoughts: Thoughts::default(),
            begun: Instant::now(),
            calls: 0,
            terminal: output::stdout_is_terminal(),
            line_open: false,
            pieces: Pieces::for_stdout(),
        }
    }

    fn say(&mut self, text: &str) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        self.line_open = !text.ends_with('\n');
        self.pieces.stdout(text)
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        self.pieces.end()?;
        if self.line_open {
            self.say("\n")
        } else {
            Ok(())
        }
    }

    fn show(&mut self, line: &str) -> Result<(), Failure> {
        // In a file the reply stays as it was written.
        if self.terminal {
            self.end_line()?;
        }
        output::stderr_faint_line(line);
        Ok(())
    }

    fn show_all(&mut self, lines: Vec<String>) -> Result<(), Failure> {
        lines.iter().try_for_each(|line| self.show(line))
    }
}

/// Whoever looks at standard error sees what the agent does.
fn kept(verbose: bool, shown: Shown) -> Kept {
    let usual = if output::stderr_is_terminal() {
        Kept::Everything
    } else {
        Kept::Nothing
    };
    Kept::of(verbose, shown.tools, usual)
}

impl Sink for Text {
    fn accepted(&mut self, _: &Accepted, shown: Shown) -> Result<(), Failure> {
        self.shown = shown;
        self.kept = kept(self.is_verbose, shown);
        self.thoughts = Thoughts::wanted(shown.thinking);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Failure> {
        if let Kind::Thinking { text } = &event.kind {
            let lines = self.thoughts.more(text);
            return self.show_all(lines);
        }
        let lines = self.thoughts.end();
        self.show_all(lines)?;
        if matches!(event.kind, Kind::ToolCall { .. }) {
            self.calls += 1;
        }
        if let (Kind::TextDelta { text }, true) = (&event.kind, self.stream) {
            return self.say(text);
        }
        match trace::line(&event.kind) {
            Some(line) if self.kept.has(&event.kind) => self.show(&line),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), Failure> {
        if !self.stream {
            self.say(&summary.text)?;
        }
        self.end_line()?;
        if let Some(warning) = warning(summary) {
            output::stderr_line(&format!("warning: {warning}"));
        }
        let wanted = self.shown.usage;
        let line = spent::line(summary, self.begun.elapsed(), self.calls, wanted);
        if let Some(line) = line.filter(|_| spent::is_asked_for(wanted)) {
            output::stderr_faint_line(&line);
        }
        Ok(())
    }

    fn leave(&mut self) {
        // Standard output may be what is gone.
        let _ = self.end_line();
    }
}

/// What is odd about a reply that counts as whole.
pub(super) fn warning(summary: &Summary) -> Option<&'static str> {
    match summary.stop_reason.as_deref() {
        Some("length") => Some("the reply was cut off at the most tokens a response may have"),
        Some("step_limit") => Some("the agent made as many steps as it may and was stopped"),
        Some("loop") => Some("the agent made the same call again and again and was stopped"),
        // It said that there is nothing to say.
        Some("silent") => None,
        _ if summary.status == State::Done && summary.text.is_empty() => Some("the reply is empty"),
        _ => None,
    }
}

/// One line of JSON for each reply.
pub(super) struct Lines;

impl Sink for Lines {
    fn accepted(&mut self, accepted: &Accepted, _: Shown) -> Result<(), Failure> {
        // Named like the events, so that a reader needs one rule.
        let mut line = Map::new();
        line.insert("type".to_owned(), "accepted".into());
        if let Value::Object(fields) = serde_json::json!(accepted) {
            line.extend(fields);
        }
        output::json_line(&Value::Object(line).to_string())
    }

    fn event(&mut self, event: &Event) -> Result<(), Failure> {
        output::json_line(&serde_json::json!(event).to_string())
    }

    fn finish(&mut self, _: &Summary) -> Result<(), Failure> {
        Ok(())
    }
}

/// One JSON document at the end.
pub(super) struct Document;

impl Sink for Document {
    fn accepted(&mut self, _: &Accepted, _: Shown) -> Result<(), Failure> {
        Ok(())
    }

    fn event(&mut self, _: &Event) -> Result<(), Failure> {
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), Failure> {
        output::document(summary)
    }
}
