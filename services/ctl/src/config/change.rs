//! `config set`, `unset` and `patch`.

use std::io::{self, IsTerminal as _, Read as _};
use std::process::ExitCode;

use anyhow::Context as _;
use openclaw_config::file::File;
use openclaw_config::parse;
use openclaw_config::pipeline::defaults;
use openclaw_config::schema::Schema;
use openclaw_config::settings::FIXED_KEYS;
use openclaw_config::substitute::Missing;
use openclaw_config::{Environment, Error, KeyPath, Paths, document};
use serde_json::Value;

use super::arguments::{Patch, Set, Unset};
use super::{key, report};
use crate::failure::{CONFIG, Failure};
use crate::output;

/// The most that is read from standard input; the file itself is limited so.
const INPUT_LIMIT: u64 = parse::SIZE_LIMIT;

pub(super) fn set(
    arguments: &Set,
    paths: &Paths,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let path = key(&arguments.key)?;
    let text = text(arguments.value.as_deref(), "the value")?;
    let mut file = File::open(paths)?;
    let value = match arguments.json {
        true => json5(&text, "the value")?,
        false => Schema::shipped()
            .typed(&path, &text)
            .map_err(|problem| Error::invalid(file.path(), vec![problem]))?,
    };
    file.set(&path, value)?;
    let done = format!("set {path} in {}", file.path().display());
    finish(file, environment, arguments.dry_run, &done)?;
    if !arguments.dry_run {
        after(&path, paths, environment);
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn unset(
    arguments: &Unset,
    paths: &Paths,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let path = key(&arguments.key)?;
    let mut file = File::open(paths)?;
    file.unset(&path).map_err(|error| match error {
        // Nothing is wrong with the configuration.
        Error::Edit { source, .. } => not_there(&path, paths, environment, &source.to_string()),
        error => error.into(),
    })?;
    let done = format!("took {path} out of {}", file.path().display());
    finish(file, environment, arguments.dry_run, &done)?;
    if !arguments.dry_run {
        restart_hint(&path);
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn patch(
    arguments: &Patch,
    paths: &Paths,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let text = match &arguments.file {
        Some(file) => std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?,
        None => text(arguments.patch.as_deref(), "the patch")?,
    };
    let patch = json5(&text, "the patch")?;
    if !patch.is_object() {
        return Err(Failure::usage("the patch must be an object { … }"));
    }
    let mut file = File::open(paths)?;
    file.patch(&patch)?;
    let changed = file.is_changed();
    let done = match changed {
        true => format!("patched {}", file.path().display()),
        false => format!("{} says that already", file.path().display()),
    };
    finish(file, environment, arguments.dry_run, &done)?;
    let is_fixed = |key: KeyPath| key.get(&patch).is_some();
    if changed && !arguments.dry_run && fixed_keys().any(is_fixed) {
        say_restart();
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the file unless that would make it invalid.
pub(super) fn finish(
    mut file: File,
    environment: &Environment,
    dry_run: bool,
    done: &str,
) -> Result<(), Failure> {
    let problems = file.problems(environment)?;
    if !problems.new.is_empty() {
        report::print("error", &problems.new);
        let nothing = format!("hint: {} was not changed", file.path().display());
        output::stderr_line(&nothing);
        return Err(Failure::silent(CONFIG));
    }
    report::print("warning", &problems.old);
    if dry_run {
        return output::stdout_line("valid; nothing was written");
    }
    if file.is_changed() {
        file.save()?;
    }
    output::stdout_line(done)
}

/// What the new value does not do, and why.
fn after(path: &KeyPath, paths: &Paths, environment: &Environment) {
    restart_hint(path);
    let file = &paths.configuration;
    let loaded = document::load(file, environment, Missing::KeptForOwner);
    let Ok(document) = loaded else {
        return;
    };
    let Ok(value) = defaults::apply(document.value, paths) else {
        return;
    };
    let written = path.get(&document.written);
    if written.is_some_and(Value::is_number) && path.get(&value) != written {
        output::stderr_line(&format!(
            "warning: {path} is {} all the same: the environment comes before the file",
            path.get(&value).unwrap_or(&Value::Null)
        ));
    }
}

fn restart_hint(path: &KeyPath) {
    if fixed_keys().any(|key| key.starts_with(path) || path.starts_with(&key)) {
        say_restart();
    }
}

/// As [`restart_hint`], for all that is different between two texts of the file.
pub(super) fn restart_hint_between(before: &str, after: &str) {
    // Both are read: the one was, the other is the file.
    let value = |text| json5(text, "the file").unwrap_or_default();
    let (before, after) = (value(before), value(after));
    if fixed_keys().any(|key| key.get(&before) != key.get(&after)) {
        say_restart();
    }
}

fn fixed_keys() -> impl Iterator<Item = KeyPath> {
    FIXED_KEYS.iter().filter_map(|key| KeyPath::parse(key).ok())
}

fn say_restart() {
    output::stderr_line("hint: this needs a restart: systemctl --user restart openclaw.target");
}

fn not_there(path: &KeyPath, paths: &Paths, environment: &Environment, problem: &str) -> Failure {
    let file = &paths.configuration;
    let failure = Failure::new(format!("{}: {problem}", file.display()));
    let included = document::load(file, environment, Missing::KeptForOwner)
        .ok()
        .and_then(|document| path.get(&document.written).cloned());
    match included {
        Some(_) => failure.hint("it is set in a file that is included, or in an overlay"),
        None => failure,
    }
}

fn json5(text: &str, what: &str) -> Result<Value, Failure> {
    let value = parse::parse_value(std::path::Path::new(what), text);
    match value {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(Failure::usage(format!("{what} is empty"))),
        Err(error) => Err(Failure::usage(error.to_string())),
    }
}

/// The argument, or standard input.
fn text(argument: Option<&str>, what: &str) -> Result<String, Failure> {
    match argument {
        Some(text) if text != "-" => return Ok(text.to_owned()),
        None if io::stdin().is_terminal() => {
            return Err(Failure::usage(format!("{what} is missing")));
        }
        _ => {}
    }
    let mut text = String::new();
    io::stdin()
        .lock()
        .take(INPUT_LIMIT + 1)
        .read_to_string(&mut text)
        .context("cannot read standard input")?;
    if text.len() as u64 > INPUT_LIMIT {
        return Err(Failure::usage(format!("{what} is too long")));
    }
    // A script without a terminal that forgot it, rather than an empty value.
    if argument.is_none() && text.is_empty() {
        return Err(Failure::usage(format!("{what} is missing")));
    }
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
