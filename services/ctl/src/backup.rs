//! `backup`: the whole state in one file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use openclaw_backup::{Error, LeftOut, Made, Manifest, Source};
use openclaw_config::{Environment, Paths, state_lock};
use openclaw_terminal::{Failure, output, words};
use serde_json::json;

use crate::cli;

mod endable;
pub(crate) mod restore;

/// What is left out is named up to here; `--json` has all of it.
const NAMED: usize = 10;
/// Columns of a path of up to 4 KiB, and of what else a backup says.
const SHOWN: usize = 200;
/// Variables of the daemons, beneath the home.
const ENVIRONMENT: &str = ".config/openclaw/env";

/// Writes the file.
pub(crate) fn execute(
    arguments: &cli::Backup,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let source = source(environment)?;
    let file = arguments.file.clone().unwrap_or_else(default_name);
    let paths = source.paths.clone();
    let (target, force) = (file.clone(), arguments.force);
    let made = endable::run(move |unfinished| {
        openclaw_backup::backup(&source, &target, force, unfinished)
    })?;
    if arguments.json {
        let manifest = &made.manifest;
        output::document(&json!({
            "file": file,
            "bytes": made.bytes,
            "files": manifest.files.len(),
            "contentBytes": manifest.bytes(),
            "made": manifest.made,
            "workspaces": manifest.workspaces,
            "leftOut": manifest.left_out,
        }))?;
    } else {
        output::stdout(&rendered(&made, &file, &paths))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn source(environment: &Environment) -> Result<Source, Failure> {
    // A configuration that is broken is backed up as it is.
    let settings = openclaw_settings::load_usable(environment)?;
    let written = settings.where_agents_write().to_vec();
    let agents = settings.agents.into_iter();
    Ok(Source {
        paths: Paths::resolve(environment)?,
        written,
        workspaces: agents.map(|(id, agent)| (id, agent.workspace)).collect(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

fn default_name() -> PathBuf {
    let now = jiff::Zoned::now();
    let name = now.strftime("openclaw-backup-%Y-%m-%d-%H%M%S.tar.zst");
    name.to_string().into()
}

fn rendered(made: &Made, file: &Path, paths: &Paths) -> String {
    let manifest = &made.manifest;
    let mut text = format!(
        "wrote {}: {}, {} of {}; read back and sound\n",
        shown(&file.display().to_string()),
        words::count(manifest.files.len() as u64, "file"),
        words::bytes(made.bytes),
        words::bytes(manifest.bytes()),
    );
    text.push_str("It holds keys, logins and conversations: only you may read it; keep it so.\n");
    text.push_str(&elsewhere(manifest));
    text.push_str(&left_out(&manifest.left_out));
    let variables = paths.home.as_ref().map(|home| home.join(ENVIRONMENT));
    if let Some(path) = variables.filter(|path| path.exists()) {
        text.push_str(&format!(
            "not in it, because it is not of the state: {} (it may hold keys; copy it too)\n",
            shown(&path.display().to_string())
        ));
    }
    text.push_str(&format!(
        "put it back with: openclawctl restore {}\n",
        output::line(&file.display().to_string())
    ));
    text
}

/// What it holds from outside the state directory.
fn elsewhere(manifest: &Manifest) -> String {
    let mut text = String::new();
    if let Some(configuration) = &manifest.configuration {
        let place = shown(&configuration.display().to_string());
        text.push_str(&format!("with the configuration {place}\n"));
    }
    for workspace in &manifest.workspaces {
        text.push_str(&format!(
            "with the workspace {} (of {})\n",
            shown(&workspace.place.display().to_string()),
            shown(&workspace.agents.join(", "))
        ));
    }
    text
}

fn left_out(all: &[LeftOut]) -> String {
    let mut text = String::new();
    for LeftOut { path, why } in all.iter().take(NAMED) {
        text.push_str(&format!("left out: {}: {}\n", shown(path), shown(why)));
    }
    if let Some(more) = all.len().checked_sub(NAMED).filter(|more| *more > 0) {
        text.push_str(&format!("left out: {more} more, which --json names\n"));
    }
    text
}

/// What an agent named, or somebody's file says, on a line: its beginning and its end.
fn shown(text: &str) -> String {
    output::one_line(text, SHOWN)
}

/// The failure that `error` is, with what can be done about it.
fn failure(error: Error) -> Failure {
    let hint = match &error {
        Error::Exists(_) => Some("name another file, or replace it with --force"),
        Error::Taken(_) => Some(
            "--workspaces replace moves them aside and puts back those of the backup; \
             --workspaces keep leaves them, and restores the state alone",
        ),
        Error::Obeyed { .. } => Some(
            "restore with --workspaces keep, which restores the state alone, and take the \
             workspace out of the file by hand: tar --zstd -xf FILE workspaces",
        ),
        Error::UnderWay { .. } => Some(
            "wait until it has ended, or start the daemons and stop it (openclawctl message \
             /stop); then restore again",
        ),
        Error::Mounted(_) => Some("set OPENCLAW_STATE_DIR to a folder in it, and restore again"),
        Error::Unsound { .. } => Some("take another copy of it, or another backup"),
        _ => None,
    };
    let failure = match error {
        Error::Held(error @ state_lock::Error::Held { .. }) => Failure::in_use(error),
        error => Failure::from(anyhow::Error::from(error)),
    };
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backup_what_is_left_out_is_named_up_to_a_limit() {
        let all: Vec<LeftOut> = (0..NAMED + 2)
            .map(|number| LeftOut {
                path: format!("state/{number}"),
                why: "it is no file".to_owned(),
            })
            .collect();
        let text = left_out(&all);
        assert_eq!(text.lines().count(), NAMED + 1);
        assert!(
            text.ends_with("left out: 2 more, which --json names\n"),
            "{text}"
        );
        assert_eq!(left_out(&all[..NAMED]).lines().count(), NAMED);
        let long = [LeftOut {
            path: format!("state/workspace/{}\u{1b}[2J\n", "x".repeat(4000)),
            why: "y\n".repeat(4000),
        }];
        let text = left_out(&long);
        assert_eq!(text.lines().count(), 1);
        assert!(
            text.chars().count() < 3 * SHOWN && !text.contains('\u{1b}'),
            "{text}"
        );
        assert!(
            text.contains("state/workspace/xxx") && text.contains("left out …]"),
            "{text}"
        );
    }
}
