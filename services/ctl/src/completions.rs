//! `completions` and `complete`: the names of sessions, runs, agents and models
//! are looked up while somebody types.

use std::process::ExitCode;
use std::time::Duration;

use openclaw_completion::{Candidate, candidates};
use openclaw_config::{Environment, Paths};
use openclaw_proto::call::within;
use openclaw_proto::sessions::Query;
use openclaw_terminal::aliases::{self, Meaning};
use openclaw_terminal::{Failure, output, words};

use crate::cli;
use openclaw_connection::{self as connection, Gateway};

/// Names that are offered at most.
const LIMIT: u32 = 50;
/// Nobody waits longer for a name.
const PATIENCE: Duration = Duration::from_secs(1);

/// Prints what the shell is given.
pub(crate) fn script(arguments: &cli::Completions) -> Result<ExitCode, Failure> {
    output::stdout(arguments.shell.script())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what can be typed next, a candidate a line.
pub(crate) fn complete(
    arguments: &cli::Complete,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let names = |kind: &str| names(kind, environment).unwrap_or_default();
    let mut words = arguments.words.clone();
    let aliases = aliases::all(environment);
    if let [first, _, ..] = &words[..]
        && let Some(alias) = aliases.iter().find(|alias| alias.name == *first)
        && let Some(Meaning::Words(meaning)) = alias.meaning()
    {
        words.splice(..1, meaning);
    }
    let mut found = candidates(&mut cli::whole(), &words, names);
    if let [begun] = &words[..] {
        for alias in aliases.iter().filter(|it| it.name.starts_with(begun)) {
            // A command comes before an alias of its name.
            if !found.iter().any(|it| it.word == alias.name) {
                let help = format!("alias of {}", alias.text);
                found.push(candidate(&alias.name, &help));
            }
        }
    }
    for Candidate { word, help } in &found {
        // Names may be anybody's, and the shell's tab is ours.
        let candidate = candidate(&output::line(word), &output::line(help));
        if let Some(line) = arguments.shell.line(&candidate) {
            output::stdout_line(&line)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The things that a value of this name can be; None: they are not known now.
fn names(kind: &str, environment: &Environment) -> Option<Vec<Candidate>> {
    match kind {
        "KEY" | "SESSION" | "RUN_ID" => {
            let paths = Paths::resolve(environment).ok()?;
            let runtime = connection::runtime().ok()?;
            runtime.block_on(async {
                let gateway = Gateway::at(&paths);
                match kind {
                    "RUN_ID" => within(PATIENCE, runs(&gateway)).await.ok(),
                    _ => within(PATIENCE, sessions(&gateway)).await.ok(),
                }
            })
        }
        "ID" => {
            let settings = openclaw_settings::load_usable(environment).ok()?;
            let agents = settings.agents.keys();
            Some(agents.map(|id| candidate(id, "an agent")).collect())
        }
        "PROVIDER/MODEL" => {
            let settings = openclaw_settings::load_usable(environment).ok()?;
            let described = settings.models.described();
            let name = |(provider, model)| candidate(&format!("{provider}/{model}"), "a model");
            Some(described.map(name).collect())
        }
        _ => None,
    }
}

async fn sessions(gateway: &Gateway) -> Result<Vec<Candidate>, openclaw_proto::call::CallError> {
    let query = Query {
        limit: LIMIT,
        ..Query::default()
    };
    let now = jiff::Timestamp::now().as_millisecond();
    let page = gateway.sessions.list(query).await?;
    let sessions = page.sessions.into_iter();
    Ok(sessions
        .map(|session| candidate(&session.key, &words::ago(session.updated_at_ms, now)))
        .collect())
}

async fn runs(gateway: &Gateway) -> Result<Vec<Candidate>, openclaw_proto::call::CallError> {
    let turns = gateway.client.list_turns(LIMIT).await?;
    let runs = turns.into_iter();
    Ok(runs
        .map(|turn| {
            candidate(
                &turn.run_id,
                &format!("{} in {}", turn.state, turn.session_key),
            )
        })
        .collect())
}

fn candidate(word: &str, help: &str) -> Candidate {
    Candidate {
        word: word.to_owned(),
        help: help.to_owned(),
    }
}
