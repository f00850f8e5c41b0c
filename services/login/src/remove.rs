//! `auth remove`.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use openclaw_config::{Environment, write};
use openclaw_credentials as credentials;
use openclaw_sealed::{Sealed, Store};
use openclaw_terminal::{Failure, output, question};
use serde_json::Value;

use crate::arguments::Remove;
use crate::list::sealed_id;

/// Takes a profile out of its file, and the file away where it held no other.
pub(crate) fn execute(
    arguments: &Remove,
    environment: &Environment,
    reload: &dyn Fn(),
) -> Result<(), Failure> {
    let settings = openclaw_settings::load_usable(environment)?;
    let agent = crate::agent::named(arguments.agent.as_deref(), &settings)?;
    let found = credentials::read(&settings.paths, &agent, environment).list;
    let store = Store::of(&settings.paths, environment);
    let sealed = store.iter().flat_map(Store::list);
    let sealed: Vec<Sealed> = sealed.filter(|it| it.agent == agent).collect();
    let wanted = &arguments.profile;
    let encrypted = sealed.iter().find(|it| sealed_id(it) == *wanted);
    let profile = found.iter().find(|profile| profile.id == *wanted);
    let file = match (encrypted, profile) {
        (Some(sealed), _) => &sealed.file,
        (None, Some(profile)) => profile
            .file
            .as_ref()
            .ok_or_else(|| Failure::new(format!("{wanted} is none of {agent}'s files")))?,
        (None, None) => {
            let known = found.iter().map(|profile| profile.id.clone());
            let known: Vec<String> = known.chain(sealed.iter().map(sealed_id)).collect();
            let failure = Failure::new(format!("{agent} has no profile {wanted:?}"));
            let known = known.iter().map(String::as_str);
            return Err(failure.near(wanted, known, "openclawctl auth list names them"));
        }
    };
    if !arguments.yes {
        let question = format!("remove {wanted} of {agent} from {}? [y/N] ", file.display());
        if !question::can_be_asked() {
            return Err(
                Failure::undecided("nobody can be asked: standard input is no terminal")
                    .hint("add --yes"),
            );
        }
        if !question::says_yes(&question)? {
            output::stderr_line("nothing was changed");
            return Ok(());
        }
    }
    match (encrypted, &store) {
        (Some(sealed), Some(store)) => store.remove(sealed).map_err(anyhow::Error::from)?,
        _ => take_out(file, wanted)?,
    }
    output::stdout_line(&format!("removed {wanted}"))?;
    reload();
    Ok(())
}

fn take_out(file: &Path, id: &str) -> Result<(), Failure> {
    let shown = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
    let document: Value = serde_json::from_str(&text)
        .map_err(|_| Failure::new(format!("{shown} is not plain JSON; edit it by hand")))?;
    match without(document, id) {
        Some(rest) => {
            let text = format!("{rest:#}\n");
            write::atomic(file, text.as_bytes())
                .with_context(|| format!("cannot write {shown}"))?;
        }
        None => fs::remove_file(file).with_context(|| format!("cannot remove {shown}"))?,
    }
    Ok(())
}

/// What is left; None: nothing.
fn without(mut document: Value, id: &str) -> Option<Value> {
    match &mut document {
        Value::Array(list) => {
            list.retain(|profile| profile["id"] != id);
            (!list.is_empty()).then_some(document)
        }
        Value::Object(fields) if fields.contains_key("profiles") => {
            match fields.get_mut("profiles") {
                Some(Value::Object(profiles)) => drop(profiles.shift_remove(id)),
                Some(Value::Array(list)) => list.retain(|profile| profile["id"] != id),
                _ => {}
            }
            if let Some(Value::Object(usages)) = fields.get_mut("usageStats") {
                usages.shift_remove(id);
            }
            Some(document)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn others_stay_in_the_file() {
        assert_eq!(without(json!({"id": "a", "provider": "x"}), "a"), None);
        let list = json!([{"id": "a"}, {"id": "b"}]);
        assert_eq!(without(list, "a"), Some(json!([{"id": "b"}])));
        assert_eq!(without(json!([{"id": "a"}]), "a"), None);
        let store = json!({"version": 1, "profiles": {"a": {}, "b": {}}, "usageStats": {"a": {}}});
        let rest = json!({"version": 1, "profiles": {"b": {}}, "usageStats": {}});
        assert_eq!(without(store, "a"), Some(rest));
    }
}
