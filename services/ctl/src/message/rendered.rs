//! A reply as a terminal shows it: laid out while it comes, with what is being done
//! in one line below it that changes.

use std::time::{Duration, Instant};

use openclaw_markdown::Stream;
use openclaw_proto::event::{Event, Kind};
use openclaw_proto::gateway::Accepted;
use openclaw_terminal::live::{self, Live};
use openclaw_terminal::quiet::Quiet;
use openclaw_terminal::{Failure, output};

use super::sink::{self, Sink};
use super::summary::Summary;
use super::trace;

/// The pictures of a wheel that turns.
const WHEEL: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// The time of a reply that nobody has to be told of.
const SHORT: Duration = Duration::from_secs(3);

/// For people at a terminal.
pub(super) struct Rendered {
    stream: Stream,
    live: Live,
    /// Show the text while it comes.
    shows_draft: bool,
    /// Keep a line of each call of a tool.
    keeps_trace: bool,
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
    pub(super) fn new(shows_draft: bool, keeps_trace: bool) -> Self {
        let (columns, _) = live::size();
        Self {
            stream: Stream::new(columns),
            live: Live::default(),
            shows_draft,
            keeps_trace,
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

    fn resize(&mut self) {
        let (columns, _) = live::size();
        self.stream.resize(columns);
    }
}

impl Sink for Rendered {
    fn accepted(&mut self, _: &Accepted) -> Result<(), Failure> {
        self.begin_drawing();
        self.draw("")
    }

    fn event(&mut self, event: &Event) -> Result<(), Failure> {
        self.resize();
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
            Kind::Thinking { .. } => self.activity = Some("thinking".to_owned()),
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
        let is_kept = matches!(event.kind, Kind::Note { .. }) || self.keeps_trace;
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
        if let Some(line) = spent(summary, self.begun.elapsed(), self.calls) {
            output::stderr_faint_line(&line);
        }
        Ok(())
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

/// What the reply took; nothing where it was nothing to speak of.
fn spent(summary: &Summary, time: Duration, calls: usize) -> Option<String> {
    let usage = summary.usage();
    let tokens = usage.input + usage.cache_read + usage.cache_write + usage.output;
    if tokens == 0 && calls == 0 && time < SHORT {
        return None;
    }
    let mut parts = vec![format!("{:.1} s", time.as_secs_f64())];
    match calls {
        0 => {}
        1 => parts.push("1 call of a tool".to_owned()),
        more => parts.push(format!("{more} calls of tools")),
    }
    if tokens > 0 {
        let read = usage.input + usage.cache_read + usage.cache_write;
        parts.push(format!("{read} tokens in, {} out", usage.output));
    }
    if let Some(cost) = summary.cost_usd().filter(|cost| *cost > 0.0) {
        parts.push(format!("${cost:.4}"));
    }
    Some(parts.join(" · "))
}
