//! The configuration as one document: every step of [`openclaw_config::pipeline`].

use std::path::{Path, PathBuf};

use openclaw_config::environment::Environment;
use openclaw_config::error::Error;
use openclaw_config::key::KeyPath;
use openclaw_config::locate;
use openclaw_config::parse;
use openclaw_config::paths::Paths;
use openclaw_config::pipeline::include::{self, Source};
use openclaw_config::pipeline::{
    alias, dot_env, login_shell, merge, normalize, overrides, variables,
};
use openclaw_config::problem::Problem;
use openclaw_config::schema::Schema;
use openclaw_config::substitute::{self, Missing};
use openclaw_effect as effect;
use serde_json::Value;

/// What the files and the environment say together.
#[derive(Debug, Clone)]
pub struct Document {
    /// The settings.
    pub value: Value,
    /// The settings of the files alone, with references as they are written.
    pub written: Value,
    /// The environment with the variables that the configuration brings.
    pub environment: Environment,
    /// The files that were read, in the order in which they were merged.
    pub sources: Vec<Source>,
    /// What did not work and is done without.
    pub warnings: Vec<String>,
}

/// Reads the settings of `path`. A missing or empty file is an empty document.
pub fn read(path: &Path, environment: &Environment, missing: Missing) -> Result<Value, Error> {
    load(path, environment, missing).map(|document| document.value)
}

/// The same with what else comes to light.
pub fn load(path: &Path, environment: &Environment, missing: Missing) -> Result<Document, Error> {
    let schema = Schema::shipped();
    let mut reading = Reading {
        path,
        schema,
        sources: Vec::new(),
        warnings: Vec::new(),
    };
    let written = reading.files()?;
    let (mut value, environment, is_checked) = reading.expanded(&written, environment, missing)?;
    alias::apply(&mut value);
    normalize::apply(&mut value, &places(path, &environment));
    let overridden = overrides::apply(&mut value, &environment, schema)?;
    if overridden || !is_checked {
        reading.check(&value)?;
    }
    Ok(Document {
        value,
        written,
        environment,
        sources: reading.sources,
        warnings: reading.warnings,
    })
}

/// Checks what the environment and the command line set, whatever the file
/// says.
pub fn check_overrides(paths: &Paths, environment: &Environment) -> Result<(), Error> {
    let mut value = match parse::read(&paths.configuration) {
        Ok(text) => parse::parse(&paths.configuration, &text).unwrap_or_default(),
        Err(_) => Value::Null,
    };
    if !value.is_object() {
        value = Value::Object(serde_json::Map::new());
    }
    overrides::apply(&mut value, environment, Schema::shipped()).map(|_| ())
}

struct Reading<'a> {
    path: &'a Path,
    schema: &'a Schema,
    sources: Vec<Source>,
    warnings: Vec<String>,
}

impl Reading<'_> {
    /// The file with what it includes; overlays come after the first check.
    fn files(&mut self) -> Result<Value, Error> {
        let text = parse::read(self.path)?;
        let document = parse::parse(self.path, &text)?;
        let mut included = Vec::new();
        let document = include::resolve(self.path, document, &mut included)?;
        // The including file's keys come over what it includes.
        included.reverse();
        self.sources = included;
        self.sources.push(Source {
            path: self.path.to_owned(),
            text,
            mount: KeyPath::default(),
        });
        self.check(&document)?;
        let mut document = document;
        let overlays = merge::overlays(self.path)?;
        merge::apply(&mut document, &overlays)?;
        if !overlays.is_empty() {
            self.sources.extend(overlays);
            self.check(&document)?;
        }
        Ok(document)
    }

    /// The document with its references put in, the environment that answered
    /// them, and whether the result needs no further check.
    fn expanded(
        &mut self,
        written: &Value,
        environment: &Environment,
        policy: Missing,
    ) -> Result<(Value, Environment, bool), Error> {
        let mut value = written.clone();
        let missing = substitute::apply(&mut value, environment);
        let mut all = variables::overlay(&value, environment);
        all = dot_env::overlay(self.path, &all)?;
        if policy != Missing::KeptForOwner {
            all = self.with_login_shell(&value, all);
        }
        let has_references = value != *written || !missing.is_empty();
        if missing.is_empty() {
            return Ok((value, all, !has_references));
        }
        // Once more from what was written: an expanded value must not be
        // expanded again. First the variables, which may refer to others.
        value.clone_from(written);
        substitute::apply(&mut value, &all);
        all = variables::overlay(&value, &all);
        value.clone_from(written);
        let missing = substitute::apply(&mut value, &all);
        let refused = substitute::refused(missing, policy);
        if refused.is_empty() {
            Ok((value, all, false))
        } else {
            Err(self.invalid(refused))
        }
    }

    fn with_login_shell(&mut self, document: &Value, environment: Environment) -> Environment {
        let Some(request) = login_shell::request(document, &environment) else {
            return environment;
        };
        match login_shell::import(&request) {
            Ok(variables) => environment.with_fallback(variables),
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
                let cause = cause.unwrap_or_default();
                self.warnings
                    .push(format!("{error}{cause}; going on without its variables"));
                environment
            }
        }
    }

    fn check(&self, document: &Value) -> Result<(), Error> {
        let mut problems = self.schema.check(document);
        problems.extend(effect::restrictions(document));
        if problems.is_empty() {
            Ok(())
        } else {
            Err(self.invalid(problems))
        }
    }

    fn invalid(&self, mut problems: Vec<Problem>) -> Error {
        locate::place(&mut problems, &self.sources);
        Error::invalid(self.path, problems)
    }
}

/// What relative paths and `~` in the file are seen from.
fn places(path: &Path, environment: &Environment) -> Paths {
    let folder = path.parent().map(PathBuf::from).unwrap_or_default();
    Paths {
        home: environment.get("HOME").map(PathBuf::from),
        state: folder.clone(),
        runtime: folder,
        configuration: path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
