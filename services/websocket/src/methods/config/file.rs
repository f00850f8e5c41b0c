//! The configuration file: shown without secrets, and written with those that
//! were covered put back.

use openclaw_config::cover::Cover;
use openclaw_config::edit;
use openclaw_config::key::KeyPath;
use openclaw_config::redact::REDACTED;
use openclaw_config::{Environment, Paths, parse};
use openclaw_daemon::failure;
use openclaw_protocol::Failure;
use openclaw_protocol::device::hex;
use openclaw_settings::file::File;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

/// The file as a client is shown it.
pub(super) struct Shown {
    pub(super) path: String,
    pub(super) exists: bool,
    /// None when its secrets cannot be covered.
    pub(super) raw: Option<String>,
    pub(super) document: Value,
    pub(super) hash: String,
}

/// A client's change of the file.
pub(super) struct Change {
    pub(super) raw: String,
    pub(super) base_hash: Option<String>,
    pub(super) is_patch: bool,
}

/// The outcome.
pub(super) struct Written {
    pub(super) shown: Shown,
    pub(super) changed: bool,
}

/// Works with files where waiting for the disk holds nobody up.
pub(in crate::methods) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(Failure::unavailable("the worker ended")))
}

/// The file as it is, for a client that may change it or only reads it.
pub(super) fn show(paths: &Paths, is_for_change: bool) -> Result<Shown, Failure> {
    let file = File::open(paths).map_err(failed)?;
    Ok(shown(&file, is_for_change))
}

fn shown(file: &File, is_for_change: bool) -> Shown {
    let document = file.document().unwrap_or(Value::Null);
    let cover = Cover::of(&document);
    let shown = cover.shown(&KeyPath::default(), &document);
    Shown {
        path: file.path().display().to_string(),
        exists: file.path().exists(),
        raw: raw(file.text(), (&cover, &shown), is_for_change),
        document: shown,
        hash: hash(file.text()),
    }
}

fn hash(text: &str) -> String {
    hex(digest(&SHA256, text.as_bytes()).as_ref())
}

/// A text of the file without a secret: as it is written, for whoever would change it and
/// keep its comments. Those may say anything, so that whoever only reads the file has one
/// that is made of the document; so does everybody where a secret stands in it elsewhere.
/// None: of a file that is no JSON5 nobody knows.
fn raw(text: &str, (cover, shown): (&Cover, &Value), is_for_change: bool) -> Option<String> {
    let text = covered(text, shown).filter(|it| is_for_change && cover.admits(it, shown));
    let made = || format!("{shown:#}\n");
    text.or_else(|| {
        (!shown.is_null())
            .then(made)
            .filter(|it| cover.admits(it, shown))
    })
}

/// The text with every secret of the document covered; None when one cannot be.
fn covered(text: &str, shown: &Value) -> Option<String> {
    let mut text = text.to_owned();
    for path in covered_paths(&KeyPath::default(), shown) {
        text = edit::set(&text, &path, &json!(REDACTED)).ok()?;
    }
    Some(text)
}

/// The places of covered values.
fn covered_paths(path: &KeyPath, value: &Value) -> Vec<KeyPath> {
    match value {
        Value::String(text) if text == REDACTED => vec![path.clone()],
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| covered_paths(&path.child(key), value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(at, value)| covered_paths(&path.child(&at.to_string()), value))
            .collect(),
        _ => Vec::new(),
    }
}

/// Changes the file, if it is what the client saw and stays valid.
pub(super) fn write(
    paths: &Paths,
    change: Change,
    environment: &Environment,
) -> Result<Written, Failure> {
    let mut file = File::open(paths).map_err(failed)?;
    check_base(&file, change.base_hash.as_deref())?;
    if change.is_patch {
        let patch = parse::parse(file.path(), &change.raw).map_err(invalid)?;
        file.patch(&patch).map_err(invalid)?;
    } else {
        let before = file.document().unwrap_or(Value::Null);
        file.replace(change.raw).map_err(invalid)?;
        let wanted = file.document().map_err(invalid)?;
        for path in covered_paths(&KeyPath::default(), &wanted) {
            let secret = path.get(&before).cloned().ok_or_else(|| {
                Failure::invalid(format!("{path} stands for a secret that is not there"))
            })?;
            file.set(&path, secret).map_err(invalid)?;
        }
    }
    let problems = file.problems(environment).map_err(invalid)?.new;
    if !problems.is_empty() {
        let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let issues: Vec<Value> = problems
            .iter()
            .map(|it| json!({ "path": it.path.to_string(), "message": it.to_string() }))
            .collect();
        let failure = Failure::invalid(format!("invalid config: {}", words.join("; ")));
        return Err(failure.with_details(json!({ "issues": issues })));
    }
    let changed = file.is_changed();
    if changed {
        file.save().map_err(failed)?;
    }
    Ok(Written {
        shown: shown(&file, true),
        changed,
    })
}

/// Two clients that change the file at once must not undo each other's work.
fn check_base(file: &File, base: Option<&str>) -> Result<(), Failure> {
    if file.text().is_empty() {
        return Ok(());
    }
    match base {
        None => Err(Failure::invalid(
            "config base hash required; re-run config.get and retry",
        )),
        Some(base) if base != hash(file.text()) => Err(Failure::invalid(
            "config changed since last load; re-run config.get and retry",
        )),
        Some(_) => Ok(()),
    }
}

fn failed(error: openclaw_config::Error) -> Failure {
    Failure::unavailable(failure::chain(&error))
}

fn invalid(error: openclaw_config::Error) -> Failure {
    Failure::invalid(format!("invalid config: {}", failure::chain(&error)))
}

#[cfg(test)]
mod tests;
