//! A reply as a terminal shows it: laid out while it comes, with what is being done
//! in one line below it that changes.

use std::time::Instant;

use openclaw_markdown::Stream;
use openclaw_proto::event::{Event, Kind};
use openclaw_proto::gateway::Accepted;
use openclaw_proto::shown::Shown;
use openclaw_terminal::live::{self, Live};
use openclaw_terminal::quiet::Quiet;
use openclaw_terminal::{Failure, output};

use super::sink::{self, Sink};
use super::spent;
use super::summary::Summary;
use super::thoughts::Thoughts;
use super::trace::{self, Kept};

/// The pictures of a wheel that turns.
const WHEEL: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// For people at a terminal.
pub(super) struct Rendered {
    stream: Stream,
    live: Live,
    /// Show the text while it comes.
    shows_draft: bool,
    /// Keep a line of each call of a tool, and of what came of it.
    is_verbose: bool,
    /// Which lines are kept.
    kept: Kept,
    shown: Shown,
    thoughts: Thoughts,
    begun: Instant,
    /// What is being done.
    activity: Option<String>,
    calls: usize,
    turned: usize,
    /// While it is there, lines are drawn anew, and what is typed is not shown among them: nobody
    /// is asked, and something has begun.
    drawing: Option<Quiet>,
    /// Calls about which somebody is asked.
    asked: usize,
}

impl Rendered {
    pub(super) fn new(shows_draft: bool, is_verbose: bool) -> Self {
        let (columns, _) = live::size();
        Self {
            stream: Stream::new(columns),
            live: Live::default(),
            shows_draft,
            is_verbose,
            kept: Kept::of(is_verbose, Shown::default().tools, Kept::Nothing),
            shown: Shown::default(),
            thoughts: Thoughts::default(),
            begun: Instant::now(),
            activity: None,
            calls: 0,
            turned: 0,
            drawing: None,
            asked: 0,
        }
    }

    /// Writes `done` for good and shows the rest as it is by now.
    fn draw(&mut self, done: &str) -> Result<(), Failure> {
        let mut lines = Vec::new();
        if self.shows_draft {
            lines = self.stream.draft().lines;
        }
        if self.drawing.is_some() {
            lines.push(self.status());
        }
        self.live.show(done, lines)
    }

    /// The line that turns.
    fn status(&self) -> String {
        let wheel = WHEEL[self.turned % WHEEL.len()];
        let seconds = self.begun.elapsed().as_secs();
        let doing = self.activity.as_deref().unwrap_or("working");
        let (columns, _) = live::size();
        let room = columns.saturating_sub(4).max(8);
        let text = cut(&output::line(&format!("{seconds} s · {doing}")), room);
        format!("\u{1b}[2m{wheel} {text}\u{1b}[0m")
    }

    fn begin_drawing(&mut self) {
        if self.asked == 0 {
            self.drawing.get_or_insert_with(Quiet::begin);
        }
    }

    /// Everything that was said so far is final: something else comes next.
    fn end_text(&mut self) -> String {
        self.stream.finish()
    }

    fn keep(&mut self, line: &str) -> Result<(), Failure> {
        let mut done = self.end_text();
        done.push_str(&format!("\u{1b}[2m{}\u{1b}[0m\n", output::line(line)));
        self.draw(&done)
    }

    fn keep_all(&mut self, lines: &[String]) -> Result<(), Failure> {
        lines.iter().try_for_each(|line| self.keep(line))
    }

    fn resize(&mut self) {
        let (columns, _) = live::size();
        self.stream.resize(columns);
    }
}

impl Sink for Rendered {
    fn accepted(&mut self, _: &Accepted, shown: Shown) -> Result<(), Failure> {
        self.shown = shown;
        self.kept = Kept::of(self.is_verbose, shown.tools, Kept::Nothing);
        self.thoughts = Thoughts::wanted(shown.thinking);
        self.begin_drawing();
        self.draw("")
    }

    fn event(&mut self, event: &Event) -> Result<(), Failure> {
        self.resize();
        if !matches!(event.kind, Kind::Thinking { .. }) {
            let lines = self.thoughts.end();
            self.keep_all(&lines)?;
        }
        match &event.kind {
            Kind::TextDelta { text } => {
                self.activity = None;
                self.begin_drawing();
                let done = self.stream.push(text);
                let done = if self.shows_draft {
                    done
                } else {
                    String::new()
                };
                return self.draw(&done);
            }
            Kind::Thinking { text } => {
                let lines = self.thoughts.more(text);
                let latest = self.thoughts.latest();
                self.activity = latest.or(Some("thinking".to_owned()));
                self.keep_all(&lines)?;
            }
            Kind::ToolCall { .. } => {
                self.calls += 1;
                self.activity = trace::line(&event.kind);
            }
            Kind::ToolOutput { .. } | Kind::ToolResult(_) => {
                self.activity = trace::line(&event.kind);
            }
            Kind::ApprovalRequested(_) => {
                let done = self.end_text();
                self.asked += 1;
                // What was typed before it answers no question.
                self.drawing = None;
                return self.draw(&done);
            }
            Kind::ApprovalResolved(_) => {
                self.asked = self.asked.saturating_sub(1);
                self.begin_drawing();
            }
            _ => {}
        }
        let is_kept = matches!(event.kind, Kind::Note { .. }) || self.kept.has(&event.kind);
        match trace::line(&event.kind) {
            Some(line) if is_kept => self.keep(&line),
            _ => self.draw(""),
        }
    }

    fn finish(&mut self, summary: &Summary) -> Result<(), Failure> {
        if let Some(quiet) = self.drawing.take() {
            quiet.end();
        }
        let done = if self.shows_draft {
            self.end_text()
        } else {
            openclaw_markdown::render(&summary.text, live::size().0)
        };
        self.stream = Stream::new(live::size().0);
        self.live.show(&done, Vec::new())?;
        if let Some(warning) = sink::warning(summary) {
            output::stderr_line(&format!("warning: {warning}"));
        }
        let wanted = self.shown.usage;
        if let Some(line) = spent::line(summary, self.begun.elapsed(), self.calls, wanted) {
            output::stderr_faint_line(&line);
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.drawing = None;
        let mut done = self.end_text();
        if !self.shows_draft {
            done.clear();
        }
        // Standard output may be what is gone.
        let _ = self.live.show(&done, Vec::new());
    }

    fn tick(&mut self) -> Result<(), Failure> {
        if self.drawing.is_none() {
            return Ok(());
        }
        self.turned += 1;
        self.resize();
        self.draw("")
    }

    fn is_drawn(&self) -> bool {
        true
    }
}

/// The beginning of `text`: it is for a moment, and the whole is told elsewhere.
fn cut(text: &str, columns: usize) -> String {
    if openclaw_markdown::width(text) <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = text.chars().take_while(|c| {
        used += openclaw_markdown::width(c.encode_utf8(&mut [0; 4]));
        used <= columns
    });
    fits.chain(['…']).collect()
}
