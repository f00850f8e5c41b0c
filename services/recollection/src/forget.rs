//! `memory forget`.

use std::process::ExitCode;

use clap::Args;
use openclaw_config::Environment;
use openclaw_proto::call::RefusalCode;
use openclaw_terminal::{Failure, output, words};

use crate::daemon::Memory;
use crate::everywhere::{Everywhere, may};
use crate::place::Place;
use crate::whose::Whose;
use openclaw_connection::Gateway;

/// Arguments of `memory forget`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A note, with lines when not all of it is to go (memory/2026-03-04.md:3-5);
    /// or words, which are looked for in all notes and conversations
    #[arg(required = true, value_name = "PATH[:FROM[-TO]]|WORDS")]
    what: Vec<String>,
    /// Take the words out of notes, conversations, archives, sessions of agent CLIs
    /// and the index, and say what still has them
    #[arg(long)]
    everywhere: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    whose: Whose,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Takes a note away, or shows and takes away what has the words.
pub(super) async fn run(
    arguments: &Arguments,
    memory: &Memory,
    gateway: &Gateway,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let what = arguments.what.join(" ");
    if let Some(place) = note(&what)?.filter(|_| !arguments.everywhere) {
        return forget_note(&place, arguments, memory).await;
    }
    let settings = openclaw_settings::load(environment)?;
    let everywhere = Everywhere {
        memory,
        gateway,
        settings: &settings,
        words: &what,
        agent: &arguments.whose.agent,
        is_json: arguments.json,
    };
    if !arguments.everywhere {
        return everywhere.show().await;
    }
    everywhere.forget(arguments.yes).await
}

/// What names a note: notes are Markdown.
fn note(what: &str) -> Result<Option<Place>, Failure> {
    let path = what.rsplit_once(':').map_or(what, |(path, _)| path);
    let is_note = what.ends_with(".md") || path.ends_with(".md");
    if !is_note {
        return Ok(None);
    }
    what.parse().map(Some).map_err(Failure::usage)
}

async fn forget_note(
    place: &Place,
    arguments: &Arguments,
    memory: &Memory,
) -> Result<ExitCode, Failure> {
    if !arguments.yes && !confirmed(place)? {
        return Err(Failure::new("nothing was forgotten"));
    }
    let Place { path, lines } = place;
    let agent = &arguments.whose.agent;
    let forgotten = memory.client.forget(agent, path, lines.unwrap_or_default());
    let forgotten = forgotten.await.map_err(|error| match error.code() {
        Some(RefusalCode::NotFound | RefusalCode::FailedPrecondition) => {
            Failure::new(error.to_string())
        }
        _ => memory.failure(&error),
    })?;
    if arguments.json {
        output::document(&forgotten)?;
        return Ok(ExitCode::SUCCESS);
    }
    let lines = words::count(forgotten.lines.into(), "line");
    let path = output::line(path);
    output::stdout_line(&if forgotten.removed {
        format!("removed {path} with its {lines}")
    } else {
        format!("removed {lines} of {path}")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Files are the truth, so what is forgotten is gone for good.
fn confirmed(place: &Place) -> Result<bool, Failure> {
    let what = match place.lines {
        None => place.path.clone(),
        Some((from, to)) => format!("lines {from} to {to} of {}", place.path),
    };
    may(&format!("Remove {}", output::line(&what)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forget_tells_notes_from_words() {
        for named in ["MEMORY.md", "memory/a.md:3", "memory/a b.md:3-4"] {
            assert!(note(named).unwrap().is_some(), "{named}");
        }
        for words in ["blue flowerpot", "md", "at 10:30", "agent:main"] {
            assert!(note(words).unwrap().is_none(), "{words}");
        }
        assert!(note("a.md:5-3").is_err());
    }
}
