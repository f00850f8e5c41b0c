//! Records as people read them, and as programs do.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_settings::LogLevel;
use openclaw_terminal::painted::{Painted, Style};
use openclaw_terminal::{Failure, output, words};
use serde_json::Value;

use crate::catalog;
use crate::filter::Filter;
use crate::record::Record;

/// How wide the column of who says it is.
const PART: usize = 13;
/// How wide the column of the time since the beginning of a run is.
const SINCE: usize = 11;
/// Letters of a run's id that tell it from others: it begins with the
/// millisecond in which it was made.
const RUN: usize = 13;
/// What every line of a story has in common, or says in its words.
const COMMON: [&str; 6] = [
    "target",
    "daemon",
    "message_id",
    "openclaw_run",
    "openclaw_session",
    "openclaw_agent",
];

/// The MESSAGE_ID of a run's first event.
const RUN_ACCEPTED: &str = "7cde505430944ee39571c1a4b8d43d88";

/// How records are printed.
#[derive(Default)]
pub(crate) struct Form {
    pub(crate) is_json: bool,
    pub(crate) is_verbose: bool,
    pub(crate) explains: bool,
    pub(crate) is_followed: bool,
}

/// Prints records.
pub(crate) struct Shown {
    zone: TimeZone,
    is_json: bool,
    is_verbose: bool,
    explains: bool,
    /// Of one run: they are put in order first, unless they are still to come.
    story: Option<Story>,
    /// So many that would be shown are still passed over.
    passed_over: usize,
    any: bool,
}

struct Story {
    /// Until all are there.
    kept: Vec<Record>,
    is_followed: bool,
    begin: Option<Timestamp>,
    /// What of the run is shown.
    filter: Filter,
}

impl Story {
    /// What was kept, in order. Daemons write beside one another; first of all a run is
    /// accepted, also where the words for it were late.
    fn in_order(&mut self) -> Vec<Record> {
        let mut kept = std::mem::take(&mut self.kept);
        kept.sort_by_key(|record| (!is_acceptance(record), record.at));
        kept
    }
}

fn is_acceptance(record: &Record) -> bool {
    record.field("message_id") == Some(RUN_ACCEPTED)
}

impl Shown {
    /// `story`: what is shown of the one run that all is of.
    pub(crate) fn new(form: &Form, story: Option<Filter>) -> Self {
        Self {
            zone: TimeZone::system(),
            is_json: form.is_json,
            is_verbose: form.is_verbose,
            explains: form.explains,
            story: story.map(|filter| Story {
                kept: Vec::new(),
                is_followed: form.is_followed,
                begin: None,
                filter,
            }),
            passed_over: 0,
            any: false,
        }
    }

    /// Without the first so many of a story that is followed.
    pub(crate) fn without(self, passed_over: usize) -> Self {
        Self {
            passed_over,
            ..self
        }
    }

    /// Prints it, or keeps it until it has its place.
    pub(crate) fn add(&mut self, record: Record) -> Result<(), Failure> {
        match &mut self.story {
            Some(story) if !story.is_followed => {
                story.kept.push(record);
                return Ok(());
            }
            Some(story) if story.begin.is_none() => self.begin(std::slice::from_ref(&record))?,
            _ => {}
        }
        let is_shown = |story: &Story| story.filter.admits(&record);
        if self.story.as_ref().is_none_or(is_shown) {
            if self.passed_over > 0 {
                self.passed_over -= 1;
                return Ok(());
            }
            self.any = true;
            return self.print(&record);
        }
        Ok(())
    }

    /// Prints what was kept; whether there was anything.
    pub(crate) fn finish(mut self) -> Result<bool, Failure> {
        let Some(story) = &mut self.story else {
            return Ok(self.any);
        };
        let kept = story.in_order();
        let admitted = |record: &&Record| story.filter.admits(record);
        let mut wanted: Vec<&Record> = kept.iter().filter(admitted).collect();
        if let Some(lines) = story.filter.lines {
            wanted.drain(..wanted.len().saturating_sub(lines));
        }
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
            return Ok(self.any);
        };
        self.begin(&kept)?;
        for record in &wanted {
            self.print(record)?;
        }
        if !self.is_json {
            let mut end = Painted::for_stdout();
            end.line(Style::Faint, &summary(first, last, &wanted));
            end.print()?;
        }
        Ok(true)
    }

    /// Says which run it is, by all that is known of it, and where its time begins.
    fn begin(&mut self, known: &[Record]) -> Result<(), Failure> {
        if let (Some(story), Some(first)) = (&mut self.story, known.first()) {
            story.begin = Some(first.at);
        }
        if self.is_json {
            return Ok(());
        }
        let mut text = Painted::for_stdout();
        heading(known, &self.zone, &mut text);
        text.print()
    }

    fn print(&mut self, record: &Record) -> Result<(), Failure> {
        if self.is_json {
            return output::json_line(&record.to_json());
        }
        let mut text = Painted::for_stdout();
        self.paint(record, &mut text);
        text.print()
    }

    fn paint(&mut self, record: &Record, text: &mut Painted) {
        match &mut self.story {
            Some(story) => {
                let begin = *story.begin.get_or_insert(record.at);
                // What was logged before it was accepted is no later for it.
                let since = record.at.max(begin).duration_since(begin).unsigned_abs();
                let since = format!("+{}", words::elapsed(since));
                text.push(Style::Faint, &format!("{since:>SINCE$} "));
            }
            None => {
                let at = record.at.to_zoned(self.zone.clone());
                let at = at.strftime("%m-%d %H:%M:%S%.3f").to_string();
                text.push(Style::Faint, &at).push(Style::Plain, " ");
            }
        }
        let (word, style) = level(record.level);
        if self.story.is_none() {
            text.column(style, word, 6);
        }
        text.column(Style::Name, &record.part, PART);
        text.push(Style::Plain, " ");
        let of_message = if record.level == LogLevel::Info {
            Style::Plain
        } else {
            style
        };
        text.push(of_message, &record.message);
        let fields = self.fields(record);
        if !fields.is_empty() {
            text.push(Style::Faint, &format!("  {fields}"));
        }
        text.end();
        if self.explains {
            let id = record.field("message_id").unwrap_or_default();
            for line in catalog::explanation(id).into_iter().flatten() {
                text.line(
                    Style::Faint,
                    &format!("    {}", catalog::filled(line, record)),
                );
            }
        }
        if self.is_verbose {
            for line in record.stack_trace.iter().flat_map(|trace| trace.lines()) {
                text.line(Style::Faint, &format!("    {line}"));
            }
        }
    }

    /// The fields that say more than the line does.
    fn fields(&self, record: &Record) -> String {
        let is_story = self.story.is_some();
        let mut shown = Vec::new();
        if !is_story {
            let run = record
                .field("openclaw_run")
                .map(|it| it.get(..RUN).unwrap_or(it));
            shown.extend(run.map(|run| format!("run={run}")));
            let session = record.field("openclaw_session");
            shown.extend(session.map(|key| format!("session={key}")));
        }
        let is_detailed = self.is_verbose || record.level >= LogLevel::Warn;
        for (name, value) in &record.fields {
            if is_detailed && !COMMON.contains(&name.as_str()) {
                let name = name.strip_prefix("openclaw_").unwrap_or(name);
                shown.push(match value {
                    Value::String(text) => format!("{name}={text}"),
                    other => format!("{name}={other}"),
                });
            }
        }
        shown.join(" ")
    }
}

fn level(level: LogLevel) -> (&'static str, Style) {
    match level {
        LogLevel::Error => ("error", Style::Bad),
        LogLevel::Warn => ("warn", Style::Warning),
        LogLevel::Debug => ("debug", Style::Faint),
        _ => ("info", Style::Good),
    }
}

/// The run, with what the first of its records has that has it.
fn heading(records: &[Record], zone: &TimeZone, text: &mut Painted) {
    let field = |name: &str| records.iter().find_map(|record| record.field(name));
    let run = field("openclaw_run").unwrap_or_default();
    text.push(Style::Strong, &format!("run {run}"));
    if let Some(session) = field("openclaw_session") {
        text.push(Style::Plain, &format!(" in {session}"));
    }
    if let Some(channel) = field("openclaw_channel") {
        text.push(Style::Plain, &format!(" by {channel}"));
    }
    let at = records.first().map(|record| record.at).unwrap_or_default();
    let at = at.to_zoned(zone.clone());
    let at = at.strftime(", %Y-%m-%d %H:%M:%S").to_string();
    text.push(Style::Faint, &at).end();
}

fn summary(first: &Record, last: &Record, all: &[&Record]) -> String {
    let mut parts: Vec<&str> = all.iter().map(|record| record.part.as_str()).collect();
    parts.sort_unstable();
    parts.dedup();
    let took = last.at.duration_since(first.at).unsigned_abs();
    format!(
        "{} from {}, over {}",
        words::count(all.len() as u64, "line"),
        parts.join(", "),
        words::elapsed(took)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(at: &str, part: &str, message: &str, level: &str) -> Record {
        let line = format!(
            "{{\"timestamp\":\"2025-01-01T00:00:{at}Z\",\"level\":\"{level}\",\"message\":\"{message}\",\
             \"context\":{{\"openclaw_run\":\"0199c0de-1a2b-7000\",\"openclaw_session\":\"agent:main:main\",\
             \"openclaw_channel\":\"cli\",\"daemon\":\"{part}\",\"operation\":\"open\"}}}}"
        );
        Record::of_line(&line).unwrap()
    }

    fn shown(is_story: bool, is_verbose: bool) -> Shown {
        Shown {
            zone: TimeZone::UTC,
            is_json: false,
            is_verbose,
            explains: false,
            story: is_story.then(|| Story {
                kept: Vec::new(),
                is_followed: true,
                begin: None,
                filter: Filter::default(),
            }),
            passed_over: 0,
            any: false,
        }
    }

    #[test]
    fn story_has_a_heading_and_the_time_since_its_beginning() {
        let mut shown = shown(true, false);
        let mut text = Painted::plain();
        let accepted = record("01.000", "gateway", "run accepted", "info");
        heading(std::slice::from_ref(&accepted), &TimeZone::UTC, &mut text);
        shown.paint(&accepted, &mut text);
        shown.paint(&record("02.250", "memory", "broke", "error"), &mut text);
        assert_eq!(
            text.text(),
            "run 0199c0de-1a2b-7000 in agent:main:main by cli, 2025-01-01 00:00:01\n\
             \x20     +0 ms gateway       run accepted\n\
             \x20    +1.2 s memory        broke  channel=cli operation=open\n"
        );
    }

    #[test]
    fn story_begins_where_the_run_was_accepted_whatever_is_shown_of_it() {
        let line = |at: &str, message: &str, more: &str| {
            let line = format!(
                "{{\"timestamp\":\"2025-01-01T00:00:{at}Z\",\"level\":\"info\",\"message\":\"{message}\",\
                 \"context\":{{\"daemon\":\"gateway\",\"openclaw_run\":\"0199c0de-1a2b-7000\"{more}}}}}"
            );
            Record::of_line(&line).unwrap()
        };
        let id = format!(
            ",\"message_id\":\"{RUN_ACCEPTED}\",\"openclaw_session\":\"agent:main:main\",\"openclaw_channel\":\"cli\""
        );
        let mut story = Story {
            kept: vec![
                line("03.000", "read", ",\"openclaw_tool\":\"read\""),
                line("01.000", "searched memory", ""),
                line("02.000", "run accepted", &id),
            ],
            is_followed: false,
            begin: None,
            filter: Filter::default(),
        };
        let kept = story.in_order();
        let messages: Vec<&str> = kept.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, ["run accepted", "searched memory", "read"]);
        let mut text = Painted::plain();
        heading(&kept[1..], &TimeZone::UTC, &mut text);
        heading(&kept, &TimeZone::UTC, &mut text);
        let head = "run 0199c0de-1a2b-7000";
        assert_eq!(
            text.text(),
            format!(
                "{head}, 2025-01-01 00:00:01\n{head} in agent:main:main by cli, 2025-01-01 00:00:02\n"
            )
        );
        // Of the last line alone.
        let mut shown = shown(true, false);
        shown.begin(&kept).unwrap();
        let mut text = Painted::plain();
        shown.paint(&kept[2], &mut text);
        shown.paint(&kept[1], &mut text);
        assert_eq!(
            text.text(),
            "     +1.0 s gateway       read\n      +0 ms gateway       searched memory\n"
        );
    }

    #[test]
    fn line_has_time_level_part_and_what_it_is_about() {
        let mut text = Painted::plain();
        let record = record("01.000", "gateway", "run\\u001b accepted", "info");
        shown(false, false).paint(&record, &mut text);
        shown(false, true).paint(&record, &mut text);
        let line = "01-01 00:00:01.000 info  gateway       run\\x1b accepted  run=0199c0de-1a2b session=agent:main:main";
        assert_eq!(
            text.text(),
            format!("{line}\n{line} channel=cli operation=open\n")
        );
    }
}
