//! `memory get`.

use std::process::ExitCode;

use clap::Args;
use openclaw_config::Environment;
use openclaw_proto::call::RefusalCode;
use openclaw_proto::memory::Lines;
use openclaw_terminal::{Failure, output};

use crate::daemon::Memory;
use crate::place::Place;
use crate::whose::Whose;

/// Names of a folder that are looked at, at most.
const NOTES: usize = 10_000;

/// Arguments of `memory get`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A path that a search named, with lines if wanted: memory/2026-03-04.md:3-5
    #[arg(value_name = "PATH[:FROM[-TO]]")]
    place: Place,
    /// The first line
    #[arg(long, value_name = "LINE", value_parser = clap::value_parser!(u32).range(1..))]
    from: Option<u32>,
    /// How many lines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    lines: Option<u32>,
    #[command(flatten)]
    whose: Whose,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Prints the lines.
pub(super) async fn run(
    arguments: &Arguments,
    memory: &Memory,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let path = &arguments.place.path;
    let agent = &arguments.whose.agent;
    let text = memory
        .client
        .get(&memory.origin, agent, path, wanted(arguments));
    let meant = |failure: Failure| {
        let known = notes(agent, environment);
        let known = known.iter().map(String::as_str);
        failure.near(path, known, "openclawctl memory search names what there is")
    };
    let text = text.await.map_err(|error| {
        let failure = memory.failure(&error);
        // A name that no note can have, and nothing else that goes wrong.
        if error.is_refused(RefusalCode::InvalidArgument) {
            meant(failure)
        } else {
            failure
        }
    })?;
    let text = text.ok_or_else(|| meant(Failure::new(format!("there is no file {path}"))))?;
    if arguments.json {
        output::document(&text)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::stdout(&text.text)?;
    let next = text.from + text.lines;
    if arguments.lines.is_none() && arguments.place.lines.is_none() && next <= text.total_lines {
        let total = text.total_lines;
        output::stderr_line(&format!(
            "the file has {total} lines; go on with --from {next}"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The names of the agent's notes, which somebody may have mistyped; none where they are not
/// known.
fn notes(agent: &str, environment: &Environment) -> Vec<String> {
    let Ok(settings) = openclaw_settings::load(environment) else {
        return Vec::new();
    };
    let id = if agent.is_empty() {
        &settings.default_agent
    } else {
        agent
    };
    let workspace = settings.agent(id).map(|it| it.workspace.clone());
    let names = |folder: &str| {
        let place = workspace.as_ref().map(|it| it.join(folder));
        let entries = place.and_then(|it| std::fs::read_dir(it).ok());
        let entries = entries.into_iter().flatten().take(NOTES).flatten();
        let named = move |name: String| format!("{folder}{name}");
        let names = entries.filter_map(|it| it.file_name().into_string().ok());
        let notes = names.filter(|name| name.ends_with(".md")).map(named);
        notes.collect::<Vec<_>>()
    };
    ["", "memory/"].iter().flat_map(|it| names(it)).collect()
}

fn wanted(arguments: &Arguments) -> Lines {
    let (from, count) = match arguments.place.lines {
        Some((from, to)) => (from, to - from + 1),
        None => (0, 0),
    };
    Lines {
        from: arguments.from.unwrap_or(from),
        count: arguments.lines.unwrap_or(count),
    }
}
