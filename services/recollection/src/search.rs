//! `memory search`.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use openclaw_proto::memory::{Hit, Question, SearchResults};
use openclaw_terminal::{Failure, output};
use serde_json::{Value, json};

use crate::daemon::Memory;
use crate::whose::Whose;

/// Arguments of `memory search`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to look for, in your own words
    #[arg(required = true)]
    query: Vec<String>,
    #[command(flatten)]
    whose: Whose,
    /// The most results [default: the configured number, 6 unless set]
    #[arg(long, visible_alias = "limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    max_results: Option<u32>,
    /// Leave out results with a lower score, 0 to 1
    #[arg(long, value_name = "SCORE")]
    min_score: Option<f64>,
    /// Where to look
    #[arg(long, value_name = "CORPUS", value_parser = ["all", "memory", "sessions"], default_value = "all")]
    corpus: String,
    /// Show what each score is made of
    #[arg(long)]
    explain: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Searches.
pub(super) async fn run(arguments: Arguments, memory: &Memory) -> Result<ExitCode, Failure> {
    let question = Question {
        agent_id: arguments.whose.agent,
        text: arguments.query.join(" "),
        limit: arguments.max_results.unwrap_or(0),
        min_score: arguments.min_score,
        corpus: arguments.corpus,
        ..Question::default()
    };
    let found = memory.client.search(&memory.origin, question);
    let found = found.await.map_err(|status| memory.failure(&status))?;
    for warning in &found.warnings {
        output::stderr_line(&format!("warning: {}", output::line(warning)));
    }
    if arguments.json {
        output::document(&document(&found, arguments.explain))?;
    } else {
        output::stdout(&rendered(&found, arguments.explain))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn document(found: &SearchResults, explain: bool) -> Value {
    let result = |hit: &Hit| {
        // A hit always has the shape of one.
        let mut result = serde_json::to_value(hit).unwrap_or_default();
        if explain {
            result["parts"] = serde_json::to_value(hit.parts).unwrap_or_default();
        }
        result
    };
    json!({
        "results": found.hits.iter().map(result).collect::<Vec<_>>(),
        "partial": found.partial,
        "warnings": found.warnings,
        "provider": found.provider,
        "model": found.model,
    })
}

fn rendered(found: &SearchResults, explain: bool) -> String {
    let mut text = String::new();
    for hit in &found.hits {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", heading(hit));
        if explain {
            let _ = writeln!(text, "{}", explained(hit));
        }
        for line in hit.snippet.trim_end().lines() {
            let _ = writeln!(text, "    {line}");
        }
        text.push('\n');
    }
    if found.hits.is_empty() {
        text.push_str("nothing was found\n");
    }
    if found.partial {
        text.push_str(
            "not everything was searched: files are still being taken in, or the time was up\n",
        );
    }
    text
}

fn heading(hit: &Hit) -> String {
    let lines = if hit.start_line == hit.end_line {
        hit.start_line.to_string()
    } else {
        format!("{}-{}", hit.start_line, hit.end_line)
    };
    let who = match hit.speaker.as_str() {
        "" => String::new(),
        speaker => format!(" by {speaker}"),
    };
    let above = hit.context.iter().filter(|above| !above.is_empty());
    let above: String = above.map(|above| format!(" › {above}")).collect();
    let place = output::line(&format!("{}:{lines}  {}{who}{above}", hit.path, hit.kind));
    let doubt = if hit.answers { "" } else { "  (unlikely)" };
    let moment = moment(hit.timestamp_ms);
    format!("{:.3}  {place}  {moment}{doubt}", hit.score)
}

fn moment(milliseconds: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    let local = moment.to_zoned(jiff::tz::TimeZone::system());
    local.strftime("%Y-%m-%d %H:%M").to_string()
}

fn explained(hit: &Hit) -> String {
    let parts = hit.parts;
    format!(
        "    words {:.2} (with neighbours {:.2}, section {:.2}) · meaning {:.2} (with neighbours \
         {:.2}) · speaker {:.2} · kind of fact {:.2} · age ×{:.2}\n    BM25 {:.2}, cosine {:.2}, \
         {:.0} % of the question with what is around it, evidence {:.2}",
        parts.text,
        parts.window,
        parts.session,
        parts.vector,
        parts.vector_window,
        parts.speaker,
        parts.fact,
        parts.decay,
        parts.bm25,
        parts.cosine,
        parts.coverage * 100.0,
        parts.evidence,
    )
}
