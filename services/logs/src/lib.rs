//! `openclawctl logs`: the suite's log, wherever it is kept, through its fields;
//! and the story of one run.

mod catalog;
mod file;
mod filter;
mod journal;
mod known;
mod record;
mod shown;
mod source;

use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_config::{Environment, Paths};
use openclaw_settings::LogLevel;
use openclaw_terminal::{Failure, output};

pub use filter::Unit;

use filter::Filter;
use known::Known;
use shown::{Form, Shown};
use source::Source;

/// Lines where nothing says how many.
const LINES: usize = 100;

/// Show the log of the daemons and of their turns.
///
/// Under systemd it is the journal, of `openclawctl run` its file. Each record has
/// the fields of what it is about, by which it is found; the beginning of a run's
/// id is enough.
#[derive(Debug, clap::Args)]
pub struct Logs {
    /// Go on with what is logged from now on
    #[arg(short, long)]
    pub follow: bool,
    /// Only what is at least as severe
    #[arg(short, long, value_name = "LEVEL", value_parser = level_parser())]
    pub level: Option<LogLevel>,
    /// Only of this session
    #[arg(short, long, value_name = "SESSION_KEY")]
    pub session: Option<String>,
    /// The story of this run: all that was logged of it, in order, with the time since its beginning
    #[arg(short, long, value_name = "RUN_ID")]
    pub run: Option<String>,
    /// Only of messages that came in on this channel (cli, telegram, ...)
    #[arg(short, long, value_name = "NAME")]
    pub channel: Option<String>,
    /// Only of calls of this tool
    #[arg(short, long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only of this agent
    #[arg(short, long, value_name = "ID")]
    pub agent: Option<String>,
    /// Only of this part of the suite
    #[arg(short, long, value_name = "NAME", value_enum)]
    pub unit: Option<Unit>,
    /// From then on: 2026-11-21, "2026-11-21 18:30", today, yesterday, or how long ago: 90m, 12h, 3d
    #[arg(long, value_name = "WHEN", value_parser = openclaw_moment::since, allow_hyphen_values = true)]
    pub since: Option<i64>,
    /// Until then; a day counts whole
    #[arg(long, value_name = "WHEN", value_parser = openclaw_moment::until, allow_hyphen_values = true, conflicts_with = "follow")]
    pub until: Option<i64>,
    /// The last so many [default: 100; all with --run or --since]
    #[arg(short = 'n', long, value_name = "NUMBER", value_parser = lines)]
    pub lines: Option<usize>,
    /// With all fields, and the stack traces of errors
    #[arg(short, long)]
    pub verbose: bool,
    /// Say what the notable events mean, as journalctl -x does
    #[arg(short = 'x', long)]
    pub explain: bool,
    /// Read this file instead: what `openclawctl run` wrote to standard error
    #[arg(long, value_name = "FILE")]
    pub file: Option<std::path::PathBuf>,
    /// Print every record as one line of JSON
    #[arg(long)]
    pub json: bool,
}

fn lines(text: &str) -> Result<usize, String> {
    let number = text.trim().parse();
    number.map_err(|_| "give how many lines, from 0 on".to_owned())
}

/// The file in which `openclawctl run` keeps the log.
pub fn log_file(paths: &Paths) -> std::path::PathBuf {
    openclaw_foreground::log_file(paths)
}

/// The tools that the log has calls of; None: there is no log.
pub fn tools(environment: &Environment) -> Option<Vec<String>> {
    let paths = Paths::resolve(environment).ok()?;
    let source = Source::choose(&paths, environment, None).ok()?;
    Some(Known::of(&source, environment).values("openclaw_tool"))
}

/// Prints the last `lines` of what a daemon said, as `openclawctl run` calls it; whether
/// there are any. None: the log is not a file, but the journal, if there is one.
///
/// # Errors
/// The file cannot be read.
pub fn of_daemon(
    name: &str,
    lines: usize,
    environment: &Environment,
) -> Result<Option<bool>, Failure> {
    let paths = Paths::resolve(environment)?;
    let source = match Source::choose(&paths, environment, None) {
        Ok(source @ Source::File(_)) => source,
        Ok(Source::Journal | Source::Named(_)) | Err(_) => return Ok(None),
    };
    let filter = Filter {
        daemon: Some(name.to_owned()),
        lines: Some(lines),
        ..Filter::default()
    };
    let mut shown = Shown::new(&Form::default(), None);
    let mut any = false;
    source.read(environment, &filter, false, &mut |record| {
        any = true;
        shown.add(record)
    })?;
    // With nothing it would name the parts that there are.
    if any {
        shown.finish()?;
    }
    Ok(Some(any))
}

/// How many records there are of those that are `read` and `wanted`.
fn count(source: &Source, read: &Filter, wanted: &Filter, environment: &Environment) -> usize {
    let mut count = 0;
    // What cannot be read is told when it is followed.
    let _ = source.read(environment, read, false, &mut |record| {
        count += usize::from(wanted.admits(&record));
        Ok(())
    });
    count
}

/// The levels by their names.
fn level_parser() -> impl clap::builder::TypedValueParser<Value = LogLevel> {
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(["debug", "info", "warn", "error"]).map(|name| {
        match name.as_str() {
            "debug" => LogLevel::Debug,
            "info" => LogLevel::Info,
            "warn" => LogLevel::Warn,
            _ => LogLevel::Error,
        }
    })
}

impl Logs {
    /// Prints what there is; exit code 1 when there is nothing, as grep(1) has it.
    ///
    /// # Errors
    /// When no log can be read, or it knows nothing of what is named.
    pub fn execute(&self, environment: &Environment) -> Result<ExitCode, Failure> {
        let paths = Paths::resolve(environment)?;
        let source = Source::choose(&paths, environment, self.file.as_deref())?;
        let filter = self.filter(&source, environment)?;
        let form = Form {
            is_json: self.json,
            is_verbose: self.verbose,
            explains: self.explain,
            is_followed: self.follow,
        };
        // A story is read whole: what is left out of it has its time and its words all the same.
        let (read, story) = match &filter.run {
            Some(run) => (Filter::of_run(run), Some(filter.clone())),
            None => (filter.clone(), None),
        };
        // What is there already and is not among the last lines is passed over.
        let passed_over = match (&story, self.lines) {
            (Some(wanted), Some(lines)) if self.follow => {
                let there = count(&source, &read, wanted, environment);
                there.saturating_sub(lines)
            }
            _ => 0,
        };
        let mut shown = Shown::new(&form, story).without(passed_over);
        source.read(environment, &read, self.follow, &mut |record| {
            shown.add(record)
        })?;
        if shown.finish()? {
            return Ok(ExitCode::SUCCESS);
        }
        let asked = self.asked(&filter).join(", ");
        output::stderr_line(&match asked.as_str() {
            "" => "the log is empty".to_owned(),
            asked => format!("the log has nothing with {}", output::line(asked)),
        });
        Ok(ExitCode::FAILURE)
    }

    /// What it was asked for, as it is asked.
    fn asked(&self, filter: &Filter) -> Vec<String> {
        let mut asked = Vec::new();
        let mut add = |name: &str, value: String| asked.push(format!("--{name} {value}"));
        let level = self.level.map(|level| format!("{level:?}").to_lowercase());
        level.into_iter().for_each(|it| add("level", it));
        for (field, value) in filter.fields() {
            add(field.trim_start_matches("openclaw_"), value.to_owned());
        }
        self.unit
            .iter()
            .for_each(|it| add("unit", it.part().to_owned()));
        let local = |ms: i64| {
            let at = Timestamp::from_millisecond(ms).unwrap_or_default();
            let at = at.to_zoned(TimeZone::system());
            format!("\"{}\"", at.strftime("%Y-%m-%d %H:%M:%S"))
        };
        self.since
            .into_iter()
            .for_each(|it| add("since", local(it)));
        self.until
            .into_iter()
            .for_each(|it| add("until", local(it)));
        self.lines
            .iter()
            .for_each(|it| add("lines", it.to_string()));
        asked
    }

    /// What is asked for, with names as the log has them.
    fn filter(&self, source: &Source, environment: &Environment) -> Result<Filter, Failure> {
        let known = Known::of(source, environment);
        let all = self.run.is_some() || self.since.is_some();
        Ok(Filter {
            level: self.level,
            session: known.named("session", "openclaw_session", self.session.as_deref())?,
            run: known.run(self.run.as_deref())?,
            channel: known.named("channel", "openclaw_channel", self.channel.as_deref())?,
            tool: known.named("tool", "openclaw_tool", self.tool.as_deref())?,
            agent: known.named("agent", "openclaw_agent", self.agent.as_deref())?,
            unit: self.unit,
            daemon: None,
            since_ms: self.since,
            until_ms: self.until,
            lines: self.lines.or((!all).then_some(LINES)),
        })
    }
}
