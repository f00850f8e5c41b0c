//! `auth remove`.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use openclaw_config::{Environment, write};
use openclaw_folder::Folder;
use openclaw_sealed::Store;
use openclaw_terminal::{Failure, output, question};
use serde_json::Value;

use crate::arguments::Remove;
use crate::entry::{self, Entry, Place};

/// Takes a profile out of its file, and the file away where it held no other; or an
/// adopted login.
pub(crate) fn execute(
    arguments: &Remove,
    environment: &Environment,
    reload: &dyn Fn(),
) -> Result<(), Failure> {
    let settings = openclaw_settings::load_usable(environment)?;
    let agent = crate::agent::named(arguments.agent.as_deref(), &settings)?;
    let (all, _) = entry::all(&agent, &settings, environment);
    let entry = one(&all, &arguments.profile, &agent)?;
    let id = &entry.id;
    let file = entry.file.as_ref();
    let file = file.ok_or_else(|| Failure::new(format!("{id} is none of {agent}'s files")))?;
    if !arguments.yes {
        let question = format!("remove {id} of {agent} from {}? [y/N] ", file.display());
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
    match &entry.place {
        Place::Sealed(sealed) => {
            if let Some(store) = Store::of(&settings.paths, environment) {
                store.remove(sealed).map_err(anyhow::Error::from)?;
            }
        }
        Place::Profile => take_out(file, id)?,
        Place::Adopted(login) => {
            let folder = Folder::open(&settings.paths.agent(&agent));
            let folder = folder.with_context(|| format!("cannot remove {}", file.display()))?;
            if let Some(folder) = folder {
                let removed = folder.remove(login.adopted());
                removed.with_context(|| format!("cannot remove {}", file.display()))?;
            }
        }
    }
    output::stdout_line(&format!("removed {id}"))?;
    reload();
    Ok(())
}

fn one<'a>(all: &'a [Entry], wanted: &str, agent: &str) -> Result<&'a Entry, Failure> {
    match entry::meant(all, wanted).as_slice() {
        [only] => Ok(only),
        [] => {
            let failure = Failure::new(format!("{agent} has no profile {wanted:?}"));
            Err(match entry::near(all, wanted) {
                Some(near) => failure.hint(format!("did you mean {near:?}?")),
                None => failure.hint("openclawctl auth list names them"),
            })
        }
        several => {
            let ids: Vec<&str> = several.iter().map(|it| it.id.as_str()).collect();
            let why = format!("{agent} has several profiles of {wanted}");
            Err(Failure::undecided(why).hint(format!("name one: {}", ids.join(", "))))
        }
    }
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
