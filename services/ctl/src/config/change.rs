//! `config set`, `unset` and `patch`.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Read as _};
use std::process::ExitCode;

use anyhow::Context as _;
use openclaw_config::error::SIZE_LIMIT;
use openclaw_config::parse;
use openclaw_config::schema::Schema;
use openclaw_config::{Environment, Error, KeyPath, Paths};
use openclaw_effect::Unused;
use openclaw_settings::SOCKETS_ADVICE;
use openclaw_settings::file::File;
use openclaw_terminal::failure::{CONFIG, Failure};
use openclaw_terminal::output;
use serde_json::Value;

use super::{held, key, report};
use crate::cli::config::{Patch, Set, Unset};

/// The most that is read from standard input; the file itself is limited so.
const INPUT_LIMIT: u64 = SIZE_LIMIT;

pub(super) fn set(
    arguments: &Set,
    paths: &Paths,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let path = key(&arguments.key)?;
    let text = text(arguments.value.as_deref(), "the value")?;
    let mut file = File::open(paths)?;
    let value = if arguments.json {
        json5(&text, "the value")?
    } else {
        Schema::shipped()
            .typed(&path, &text)
            .map_err(|problem| Error::invalid(file.path(), vec![problem]))?
    };
    file.set(&path, value)?;
    let done = format!("set {path} in {}", file.path().display());
    let change = Change::of(&[path], paths, environment);
    finish(file, change, arguments.dry_run, &done)?;
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
        Error::Edit { why, .. } => not_there(&path, paths, environment, &why.to_string()),
        error => error.into(),
    })?;
    let done = format!("took {path} out of {}", file.path().display());
    let change = Change::of(&[path], paths, environment);
    finish(file, change, arguments.dry_run, &done)?;
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
    let done = if changed {
        format!("patched {}", file.path().display())
    } else {
        format!("{} says that already", file.path().display())
    };
    let change = Change::of(&leaves(&patch), paths, environment);
    finish(file, change, arguments.dry_run, &done)?;
    Ok(ExitCode::SUCCESS)
}

/// What a change is about, as it was before.
pub(super) struct Change<'a> {
    /// The keys that were asked for.
    keys: Vec<KeyPath>,
    paths: &'a Paths,
    environment: &'a Environment,
    /// What holds from a daemon's start to its end; `None`: nobody knows.
    fixed: Option<BTreeMap<&'static str, String>>,
}

impl<'a> Change<'a> {
    /// A change of `keys`, which is still to be written.
    pub(super) fn of(keys: &[KeyPath], paths: &'a Paths, environment: &'a Environment) -> Self {
        Self {
            keys: keys.to_vec(),
            paths,
            environment,
            fixed: fixed(environment),
        }
    }

    /// A change of what differs between two texts of the file.
    pub(super) fn between(
        before: &str,
        after: &str,
        paths: &'a Paths,
        environment: &'a Environment,
    ) -> Self {
        // Both are read: the one was, the other is the file.
        let read = |text| json5(text, "the file").unwrap_or_default();
        let (before, after) = (read(before), read(after));
        let mut keys = leaves(&before);
        keys.extend(leaves(&after));
        keys.sort();
        keys.dedup();
        keys.retain(|key| key.get(&before) != key.get(&after));
        Self::of(&keys, paths, environment)
    }

    /// Says what the written change still needs to take effect.
    fn tell(&self) {
        held::tell(&self.keys, self.paths, self.environment);
        let Ok(settings) = openclaw_settings::load(self.environment) else {
            return;
        };
        self.tell_unused(settings.unused);
        let Some(before) = &self.fixed else {
            return;
        };
        let after = &settings.fixed;
        let mut keys: Vec<&str> = before.keys().chain(after.keys()).copied().collect();
        keys.sort_unstable();
        keys.dedup();
        keys.retain(|key| before.get(key) != after.get(key));
        if !keys.is_empty() {
            let need = if keys.len() == 1 { "needs" } else { "need" };
            let keys = keys.join(", ");
            output::stderr_line(&format!(
                "hint: {keys} {need} other sockets: {SOCKETS_ADVICE}"
            ));
        }
    }

    /// Says which of the keys name a file that is not there.
    fn tell_absent(&self, document: &Value) {
        let absent = openclaw_effect::absent_token_files(self.paths, document);
        for (key, why) in absent {
            if self.keys.iter().any(|changed| key.starts_with(changed)) {
                output::stderr_line(&format!("note: {key}: {}", output::line(&why)));
            }
        }
    }

    /// Says which of the keys have no effect, and why.
    fn tell_unused(&self, all: Vec<Unused>) {
        for mut unused in all {
            unused.keys.retain(|key| {
                let key = KeyPath::parse(key).unwrap_or_default();
                self.keys.iter().any(|changed| key.starts_with(changed))
            });
            if !unused.keys.is_empty() {
                output::stderr_line(&format!("note: {}", output::line(&unused.to_string())));
            }
        }
    }
}

/// The keys of a document that have no keys below them.
fn leaves(document: &Value) -> Vec<KeyPath> {
    fn collect(path: &KeyPath, value: &Value, all: &mut Vec<KeyPath>) {
        match value.as_object().filter(|fields| !fields.is_empty()) {
            Some(fields) => fields
                .iter()
                .for_each(|(key, value)| collect(&path.child(key), value, all)),
            None if path.parts().is_empty() => {}
            None => all.push(path.clone()),
        }
    }
    let mut all = Vec::new();
    collect(&KeyPath::default(), document, &mut all);
    all
}

fn fixed(environment: &Environment) -> Option<BTreeMap<&'static str, String>> {
    let settings = openclaw_settings::load(environment).ok()?;
    Some(settings.fixed)
}

/// Writes the file unless that would make it invalid.
pub(super) fn finish(
    mut file: File,
    change: Change<'_>,
    dry_run: bool,
    done: &str,
) -> Result<(), Failure> {
    let problems = file.problems(change.environment)?;
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
    output::stdout_line(done)?;
    change.tell();
    change.tell_absent(&file.document()?);
    Ok(())
}

/// Who sets it instead, if anybody does.
fn not_there(path: &KeyPath, paths: &Paths, environment: &Environment, problem: &str) -> Failure {
    let file = &paths.configuration;
    let failure = Failure::new(format!("{}: {problem}", file.display()));
    match held::holder(path, paths, environment) {
        Some(said) => failure.hint(said),
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
