//! `openclawctl memory eval`: how well searches find what is known to answer, in
//! conversations from files. It needs no daemon and touches no agent's memory.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use anyhow::Context as _;
use openclaw_config::Environment;
use openclaw_daemon::{arguments, exit, failure};
use openclaw_memory::shared;
use openclaw_retrieval::{Options, Ranking, Weights};

use crate::measure::Report;
use crate::remote::Remote;
use crate::set::{Choices, Embedder, EvaluationError, Indexed, Outcome, Set, Settings};

mod fit;
mod measure;
mod remote;
mod set;
mod table;

/// Measures how well searches find what is known to answer.
#[derive(Debug, clap::Parser)]
#[command(name = "openclaw-memory-eval", version)]
struct Arguments {
    /// Conversations with questions; the format is in services/memory/README.md
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What gives the vectors
    #[arg(long, value_enum, default_value = "static", value_name = "NAME")]
    embedder: Kind,
    /// The embedder of `remote`: an API with OpenAI's `/embeddings`
    #[arg(long, required_if_eq("embedder", "remote"), value_name = "URL")]
    url: Option<String>,
    /// Its model
    #[arg(long, required_if_eq("embedder", "remote"), value_name = "NAME")]
    model: Option<String>,
    /// Without what age takes from a score
    #[arg(long)]
    no_decay: bool,
    /// By score alone, without diversity
    #[arg(long)]
    no_mmr: bool,
    /// Ask of each of several people a question names beside it
    #[arg(long)]
    split: bool,
    /// Ask each conversation with weights that were fitted to the others
    #[arg(long)]
    cross_validate: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// The table that is shipped
    Static,
    /// Keywords alone
    None,
    /// The table, and of what it found the best anew by a model that is served elsewhere
    Remote,
}

fn main() -> ExitCode {
    let arguments = match arguments::parse::<Arguments>() {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let result = evaluate(&arguments, &Environment::inherit()).and_then(|text| {
        let mut output = io::stdout().lock();
        let written = output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush());
        match written {
            // Who read it has what it wanted.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.context("cannot write to standard output"),
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell when this fails too.
            let _ = writeln!(io::stderr(), "error: {}", failure::chain(&*error));
            ExitCode::from(exit::FAILURE)
        }
    }
}

fn evaluate(arguments: &Arguments, environment: &Environment) -> anyhow::Result<String> {
    let settings = settings(arguments)?;
    // All are read before the first is asked: a wrong name is known at once.
    let sets = arguments.files.iter().map(|path| Set::read(path));
    let sets: Vec<Set> = sets.collect::<Result<_, _>>()?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let mut indexed = Vec::new();
    for (set, number) in sets.iter().zip(0..) {
        let options = Options {
            table: shared::table(environment),
        };
        let place = folder.path().join(format!("{number}"));
        let one = set.index(&place, options)?;
        if let Embedder::Remote(remote) = &settings.embedder {
            one.embed(remote)?;
        }
        indexed.push(one);
    }
    anyhow::ensure!(
        !arguments.cross_validate || sets.len() > 1,
        "one conversation alone leaves none to fit weights to; give more of them"
    );
    let each = if arguments.cross_validate {
        cross_validated(&indexed, &settings)?
    } else {
        vec![settings; indexed.len()]
    };
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (indexed, settings) in indexed.iter().zip(&each) {
        let mut progress = Progress::new(indexed.set);
        outcomes.extend(indexed.ask(settings, || progress.step())?);
        progress.end();
    }
    let report = Report::new(&outcomes);
    let embedder = clap::ValueEnum::to_possible_value(&arguments.embedder);
    let embedder = embedder.map_or_else(String::new, |value| value.get_name().to_owned());
    let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
    if arguments.json {
        return Ok(table::json(&report, &embedder, &names)? + "\n");
    }
    let mut text = table::text(&report, &embedder, &names);
    if arguments.cross_validate {
        text.push_str(&table::folds(&names, &each));
    }
    Ok(text)
}

/// For each conversation the settings with weights that fit the others, and that
/// it had no part in.
fn cross_validated(
    indexed: &[Indexed<'_>],
    settings: &Settings,
) -> Result<Vec<Settings>, EvaluationError> {
    let choices = indexed.iter().map(|one| one.candidates(settings));
    let choices: Vec<Vec<Choices>> = choices.collect::<Result<_, _>>()?;
    let without = |left_out: usize| {
        let others = choices.iter().enumerate();
        let others = others.filter(|(number, _)| *number != left_out);
        let mut settings = settings.clone();
        settings.ranking.said = fit::weights(others.flat_map(|(_, choices)| choices));
        settings
    };
    Ok((0..indexed.len()).map(without).collect())
}

fn settings(arguments: &Arguments) -> anyhow::Result<Settings> {
    let mut ranking = Ranking::default();
    if arguments.no_decay {
        ranking.decay_floor = 1.0;
    }
    if arguments.no_mmr {
        ranking.mmr_lambda = 1.0;
    }
    let embedder = match (arguments.embedder, &arguments.url, &arguments.model) {
        (Kind::Remote, Some(url), Some(model)) => {
            ranking.noted = Weights::NOTED_REMOTE;
            ranking.said = Weights::SAID_REMOTE;
            Embedder::Remote(Rc::new(Remote::new(url, model)?))
        }
        (Kind::None, ..) => Embedder::None,
        _ => Embedder::Static,
    };
    Ok(Settings {
        embedder,
        ranking,
        splits: arguments.split,
    })
}

/// Whether the terminal acts on escape sequences, and its user wants them.
fn takes_escapes() -> bool {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    given("TERM").is_some_and(|term| term != "dumb") && given("NO_COLOR").is_none()
}

/// Says on a terminal how far it is.
struct Progress<'a> {
    set: &'a Set,
    asked: usize,
    shown: bool,
}

impl<'a> Progress<'a> {
    fn new(set: &'a Set) -> Self {
        Self {
            set,
            asked: 0,
            shown: io::stderr().is_terminal() && takes_escapes(),
        }
    }

    fn step(&mut self) {
        self.asked += 1;
        if self.shown {
            let (name, all) = (&self.set.name, self.set.len());
            let _ = write!(io::stderr(), "\r{name}: question {} of {all}", self.asked);
        }
    }

    fn end(&self) {
        if self.shown {
            // Erases the line (ECMA-48, EL).
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
