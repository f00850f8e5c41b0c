//! The holder of a value that overrides the configuration file: a drop-in, a variable, an argument,
//! or a file with a secret.

use std::fmt;
use std::path::PathBuf;

use openclaw_config::COMMAND_LINE;
use openclaw_config::environment::Environment;
use openclaw_config::error::Error;
use openclaw_config::key::KeyPath;
use openclaw_config::parse;
use openclaw_config::paths::Paths;
use openclaw_config::pipeline::{alias, dot_env, overrides};
use openclaw_config::schema::Schema;
use openclaw_config::substitute::Missing;
use serde_json::Value;

use crate::document::{self, Document};
use crate::provider;
use crate::settings::gateway::files;

/// The setter of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// Another file: a drop-in, an included one, or one with a secret.
    File(PathBuf),
    /// A variable, and the file that it is in when it is in one.
    Variable(String, Option<PathBuf>),
    /// `openclawctl run --set`.
    CommandLine,
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Variable(name, None) => write!(formatter, "the variable {name}"),
            Self::Variable(name, Some(path)) => {
                write!(formatter, "the variable {name} in {}", path.display())
            }
            Self::CommandLine => formatter.write_str("the command line of openclawctl run"),
        }
    }
}

/// A value that holds instead of what the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverridingValue {
    /// The key.
    pub key: KeyPath,
    /// Its setter.
    pub by: Holder,
    /// To what; `None`: it is taken away.
    pub value: Option<Value>,
}

/// What holds of `path`, or below it, instead of what the file itself says or
/// does not say; nothing when the file's own values hold.
pub fn held(
    paths: &Paths,
    environment: &Environment,
    path: &KeyPath,
) -> Result<Vec<OverridingValue>, Error> {
    let file = &paths.configuration;
    let mut own = parse::parse(file, &parse::read(file)?)?;
    let path = alias::read_path(path, &own);
    alias::apply(&mut own);
    let document = document::load(file, environment, Missing::KeptForOwner)?;
    let layers = Layers::of(paths, environment, &document)?;
    let mut leaves = Vec::new();
    collect(&path, path.get(&own), &mut leaves);
    let held = leaves.into_iter().filter_map(|leaf| {
        let written = leaf.get(&own);
        let by = layers.holder(&leaf, written.is_none())?;
        let value = layers.value(&leaf, &by);
        (value.as_ref() != written).then_some(OverridingValue {
            key: leaf,
            by,
            value,
        })
    });
    Ok(held.collect())
}

/// The paths of what is not an object; an empty or missing value is its own.
fn collect(path: &KeyPath, value: Option<&Value>, leaves: &mut Vec<KeyPath>) {
    match value {
        Some(Value::Object(fields)) if !fields.is_empty() => {
            for (key, value) in fields {
                collect(&path.child(key), Some(value), leaves);
            }
        }
        _ => leaves.push(path.clone()),
    }
}

/// The values that override the file, and its includes.
struct Layers<'a> {
    paths: &'a Paths,
    /// With the variables of all files.
    environment: &'a Environment,
    /// The environment as given.
    outer: &'a Environment,
    /// The settings as they hold.
    value: &'a Value,
    given: Vec<overrides::Given>,
    /// The documents of the drop-ins, the last first.
    overlays: Vec<(PathBuf, Value)>,
    included: Vec<(PathBuf, Value)>,
}

impl<'a> Layers<'a> {
    fn of(paths: &'a Paths, outer: &'a Environment, document: &'a Document) -> Result<Self, Error> {
        let mut written = document.written.clone();
        alias::apply(&mut written);
        let given = overrides::put_all(&mut written, &document.environment, Schema::shipped())?;
        let file = &paths.configuration;
        let place = document.sources.iter().position(|it| it.path == *file);
        let mut parts = Vec::new();
        for source in &document.sources {
            let said = parse::parse_value(&source.path, &source.text)?;
            let mut whole = Value::Null;
            source.mount.put(&mut whole, said.unwrap_or_default());
            alias::apply(&mut whole);
            parts.push((source.path.clone(), whole));
        }
        let mut overlays = parts.split_off(place.map_or(parts.len(), |place| place + 1));
        overlays.reverse();
        parts.pop();
        Ok(Self {
            paths,
            environment: &document.environment,
            outer,
            value: &document.value,
            given,
            overlays,
            included: parts,
        })
    }

    /// The setter of `leaf`, if it is not the file itself.
    fn holder(&self, leaf: &KeyPath, is_missing: bool) -> Option<Holder> {
        self.credential(leaf)
            .or_else(|| self.provider_variable(leaf))
            .or_else(|| self.override_of(leaf))
            .or_else(|| first(&self.overlays, leaf))
            .or_else(|| is_missing.then(|| first(&self.included, leaf)).flatten())
    }

    fn credential(&self, leaf: &KeyPath) -> Option<Holder> {
        let key = leaf.to_string();
        let (name, _) = files::NAMES.into_iter().find(|(_, known)| *known == key)?;
        let state = &self.paths.state;
        files::is_there(state, name).then(|| Holder::File(files::place(state, name)))
    }

    fn provider_variable(&self, leaf: &KeyPath) -> Option<Holder> {
        let name = provider_variable(leaf)?;
        self.environment.get(&name).map(|_| self.variable(&name))
    }

    fn override_of(&self, leaf: &KeyPath) -> Option<Holder> {
        let touches = |place: &KeyPath| leaf.starts_with(place) || place.starts_with(leaf);
        let mut given = self.given.iter().rev();
        let given = given.find(|given| given.places.iter().any(touches))?;
        Some(match given.origin {
            COMMAND_LINE => Holder::CommandLine,
            _ => self.variable(&given.name),
        })
    }

    fn variable(&self, name: &str) -> Holder {
        let file = &self.paths.configuration;
        let place = match self.outer.get(name) {
            Some(_) => None,
            None => {
                let alone = dot_env::overlay(file, &Environment::default()).ok();
                let is_there = alone.is_some_and(|alone| alone.get(name).is_some());
                Some(if is_there {
                    dot_env::place(file)
                } else {
                    file.clone()
                })
            }
        };
        Holder::Variable(name.to_owned(), place)
    }

    /// The value that `holder` sets.
    fn value(&self, leaf: &KeyPath, holder: &Holder) -> Option<Value> {
        let key = leaf.to_string();
        if let Holder::File(path) = holder
            && files::NAMES.iter().any(|(name, known)| {
                *known == key && *path == files::place(&self.paths.state, name)
            })
        {
            // Its content is nobody's business.
            return Some(Value::from("a secret"));
        }
        if let (Some(name), Holder::Variable(variable, _)) = (provider_variable(leaf), holder)
            && name == *variable
        {
            return self.environment.get(&name).map(Value::from);
        }
        leaf.get(self.value).cloned()
    }
}

/// The variable that comes before a provider's key or address, where `leaf` is one.
fn provider_variable(leaf: &KeyPath) -> Option<String> {
    let parts: Vec<&str> = leaf.parts().iter().map(String::as_str).collect();
    let ["models", "providers", id, field] = parts[..] else {
        return None;
    };
    let (key, url) = provider::variables(id);
    match field {
        "apiKey" => Some(key),
        "baseUrl" => Some(url),
        _ => None,
    }
}

fn first(parts: &[(PathBuf, Value)], leaf: &KeyPath) -> Option<Holder> {
    let found = parts.iter().find(|(_, value)| says(value, leaf.parts()));
    found.map(|(path, _)| Holder::File(path.clone()))
}

/// Whether a merge patch says something of the value at `parts`: sets it, takes
/// it away, or puts something else in the place of what it is in.
fn says(value: &Value, parts: &[String]) -> bool {
    match (value, parts.split_first()) {
        (_, None) => true,
        (Value::Object(fields), Some((first, rest))) => {
            fields.get(first).is_some_and(|below| says(below, rest))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests;
