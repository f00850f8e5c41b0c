//! `sessions create|patch|reset|archive|unarchive|delete`.

use anyhow::Context as _;
use openclaw_config::nearest;
use openclaw_proto::call::CallError;
use openclaw_proto::sessions::{Change, Session};
use openclaw_sessions::store;
use openclaw_terminal::{Failure, output};

use super::{failure, named};
use crate::cli::sessions::{Compact, Create, Delete, Fields, One, Patch};
use openclaw_connection::Gateway;

pub(super) async fn create(gateway: &Gateway, arguments: &Create) -> Result<(), Failure> {
    let named = named(&arguments.key, arguments.agent.as_deref());
    let changes = changes(&arguments.fields);
    let meant = meant(&changes);
    let answer = gateway
        .sessions
        .create(named, changes, &arguments.parent)
        .await;
    let session = answer.map_err(|error| refused(gateway, &error, meant))?;
    tell(&session, "created", arguments.json)
}

pub(super) async fn patch(gateway: &Gateway, arguments: &Patch) -> Result<(), Failure> {
    let changes = changes(&arguments.fields);
    if changes.is_empty() {
        return Err(Failure::usage("nothing to change is given")
            .hint("give --label, --model, --thinking or --set FIELD=VALUE"));
    }
    change(gateway, &arguments.one, changes, "changed").await
}

pub(super) async fn archive(gateway: &Gateway, one: &One, archived: bool) -> Result<(), Failure> {
    let word = if archived {
        "archived"
    } else {
        "taken up again"
    };
    let change = Change {
        name: "archived".to_owned(),
        value: archived.to_string(),
    };
    self::change(gateway, one, vec![change], word).await
}

pub(super) async fn reset(gateway: &Gateway, one: &One) -> Result<(), Failure> {
    let named = named(&one.session, one.agent.as_deref());
    let answer = gateway.sessions.reset(named, "reset").await;
    let session = answer.map_err(|status| failure(gateway, &status))?;
    tell(&session, "begun anew", one.json)
}

pub(super) async fn compact(gateway: &Gateway, arguments: &Compact) -> Result<(), Failure> {
    let summary = match &arguments.summary {
        Some(summary) => summary.clone(),
        None => std::io::read_to_string(std::io::stdin())
            .context("cannot read the summary from standard input")?,
    };
    let one = &arguments.one;
    let named = named(&one.session, one.agent.as_deref());
    let answer = gateway.sessions.compact(named, &summary, arguments.keep);
    let session = answer.await.map_err(|status| failure(gateway, &status))?;
    tell(&session, "compacted", one.json)
}

pub(super) async fn delete(gateway: &Gateway, arguments: &Delete) -> Result<(), Failure> {
    let one = &arguments.one;
    let named = named(&one.session, one.agent.as_deref());
    let answer = gateway.sessions.delete(named, arguments.purge).await;
    let deleted = answer.map_err(|status| failure(gateway, &status))?;
    if one.json {
        return output::document(&deleted);
    }
    let key = output::line(&deleted.key);
    output::stdout_line(&match &deleted.archive_path {
        Some(path) => format!(
            "{key} deleted; its transcript is kept in {}",
            output::line(path)
        ),
        None => format!("{key} deleted"),
    })
}

async fn change(
    gateway: &Gateway,
    one: &One,
    changes: Vec<Change>,
    word: &str,
) -> Result<(), Failure> {
    let named = named(&one.session, one.agent.as_deref());
    let meant = meant(&changes);
    let answer = gateway.sessions.patch(named, changes).await;
    let session = answer.map_err(|error| refused(gateway, &error, meant))?;
    tell(&session, word, one.json)
}

/// The failure that `error` is, with the question what was `meant`, if there is one.
fn refused(gateway: &Gateway, error: &CallError, meant: Option<String>) -> Failure {
    let failure = failure(gateway, error);
    match meant {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Asks whether a field was meant that the first of them that is none nearly is.
fn meant(changes: &[Change]) -> Option<String> {
    let mut names = changes.iter().map(|it| it.name.as_str());
    let wrong = names.find(|name| !store::field_names().any(|it| it == *name))?;
    nearest::question(wrong, store::field_names())
}

fn tell(session: &Session, word: &str, json: bool) -> Result<(), Failure> {
    if json {
        return output::document(session);
    }
    output::stdout_line(&format!("{} {word}", output::line(&session.key)))
}

fn changes(fields: &Fields) -> Vec<Change> {
    let change = |name: &str, value: &String| Change {
        name: name.to_owned(),
        value: value.clone(),
    };
    let known = [
        ("label", &fields.label),
        ("model", &fields.model),
        ("thinkingLevel", &fields.thinking),
    ];
    let known = known
        .into_iter()
        .filter_map(|(name, value)| Some(change(name, value.as_ref()?)));
    let others = fields.set.iter().map(|(name, value)| change(name, value));
    known.chain(others).collect()
}
