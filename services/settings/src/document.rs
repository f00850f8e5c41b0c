//! The configuration as one document: every step of [`openclaw_config::pipeline`].

use std::path::{Path, PathBuf};

use openclaw_config::environment::Environment;
use openclaw_config::error::Error;
use openclaw_config::key::KeyPath;
use openclaw_config::locate;
use openclaw_config::parse;
use openclaw_config::paths::Paths;
use openclaw_config::pipeline::include::{self, Source};
use openclaw_config::pipeline::overrides::Given;
use openclaw_config::pipeline::{
    alias, dot_env, login_shell, merge, normalize, overrides, variables,
};
use openclaw_config::problem::Problem;
use openclaw_config::schema::Schema;
use openclaw_config::substitute::{self, Missing};
use openclaw_effect::{self as effect, Unused};
use serde_json::Value;

/// The configuration from the files and the environment together.
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
    /// Failures that are not fatal.
    pub warnings: Vec<String>,
    /// The values that override the files.
    given: Vec<Given>,
}

impl Document {
    /// The keys that have no effect, those of the files and those that came over them.
    pub fn unused(&self) -> Vec<Unused> {
        let mut all = effect::unused(&self.written);
        let of_given = self
            .given
            .iter()
            .flat_map(|given| unused(given, &self.value));
        for unused in of_given {
            match all.iter_mut().find(|it| it.reason == unused.reason) {
                Some(same) => same.keys.extend(unused.keys),
                None => all.push(unused),
            }
        }
        all
    }

    /// Probable mistakes, each a line with its place.
    pub fn doubts(&self) -> Vec<String> {
        self.lines(effect::doubts(&self.value))
    }

    /// The problems as lines, each by the key that the files have, with its place.
    pub fn lines(&self, mut problems: Vec<Problem>) -> Vec<String> {
        self.name_as_written(&mut problems);
        locate::place(&mut problems, &self.sources);
        problems.iter().map(Problem::placed).collect()
    }

    /// Names the keys of `problems` as the files have them.
    pub(crate) fn name_as_written(&self, problems: &mut [Problem]) {
        for problem in problems {
            problem.path = self.as_written(&problem.path);
        }
    }

    /// A key as the files have it.
    pub(crate) fn as_written(&self, path: &KeyPath) -> KeyPath {
        alias::as_written(path, &self.value, &self.written)
    }

    /// The error with the place where what is wrong was written: in a file, or in
    /// what came over it.
    pub fn placed(&self, path: &Path, error: Error) -> Error {
        let Error::Value {
            origin,
            key,
            problem,
        } = &error
        else {
            return error;
        };
        let Ok(key) = KeyPath::parse(key) else {
            return error;
        };
        if *origin != path.display().to_string() {
            return error;
        }
        let mut problems = vec![Problem::other(key, problem)];
        if let Some(error) = of_given(&problems, &self.given) {
            return error;
        }
        self.name_as_written(&mut problems);
        locate::place(&mut problems, &self.sources);
        Error::invalid(path, problems)
    }
}

/// What `given` sets that has no effect, by the name that it was given.
fn unused(given: &Given, value: &Value) -> Vec<Unused> {
    let mut alone = Value::Object(serde_json::Map::new());
    for place in &given.places {
        if let Some(value) = place.get(value) {
            place.put(&mut alone, value.clone());
        }
    }
    let mut unused = effect::unused(&alone);
    for unused in &mut unused {
        unused.keys = vec![given.name.clone()];
    }
    unused
}

/// The first problem that came with a variable or the command line.
fn of_given(problems: &[Problem], given: &[Given]) -> Option<Error> {
    problems.iter().find_map(|problem| {
        let is_it = |place: &KeyPath| {
            let (path, place) = (&problem.path, place);
            path.starts_with(place) || place.starts_with(path)
        };
        // Of two for the same key the later one counts.
        let mut given = given.iter().rev();
        let given = given.find(|given| given.places.iter().any(is_it))?;
        Some(Error::Value {
            origin: given.origin.to_owned(),
            key: given.name.clone(),
            problem: problem.text(),
        })
    })
}

/// The settings of the files alone as they are written, also of files that cannot be used.
pub fn written(path: &Path) -> Result<Value, Error> {
    let document = parse::parse(path, &parse::read(path)?)?;
    let mut document = include::resolve(path, document, &mut Vec::new())?;
    merge::apply(&mut document, &merge::overlays(path)?)?;
    Ok(document)
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
    let given = overrides::put_all(&mut value, &environment, schema)?;
    if !given.is_empty() || !is_checked {
        let problems = reading.problems(&value);
        if let Some(error) = of_given(&problems, &given) {
            return Err(error);
        }
        reading.refuse(problems)?;
    }
    Ok(Document {
        value,
        written,
        environment,
        sources: reading.sources,
        warnings: reading.warnings,
        given,
    })
}

/// Checks what the environment and the command line set, whatever the file says.
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
        let mut missing = substitute::apply(&mut value, &all);
        if !missing.is_empty() {
            let unused = effect::unused(written);
            let keys = unused.iter().flat_map(|it| &it.keys);
            let keys: Vec<KeyPath> = keys.filter_map(|key| KeyPath::parse(key).ok()).collect();
            // A reference to a secret is a value, though it is written as an object; a list is one.
            let is_in =
                |path: &KeyPath, key: &KeyPath| key.starts_with(path) || path.starts_with(key);
            missing.retain(|problem| !keys.iter().any(|key| is_in(&problem.path, key)));
        }
        let (refused, mut without) = substitute::refused(missing, policy);
        if !refused.is_empty() {
            return Err(self.invalid(refused));
        }
        // Another daemon may know what this one does not.
        if policy == Missing::Refused {
            locate::place(&mut without, &self.sources);
            let told = without
                .iter()
                .map(|it| format!("{}; it is done without", it.placed()));
            self.warnings.extend(told);
        }
        Ok((value, all, false))
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
        self.refuse(self.problems(document))
    }

    fn problems(&self, document: &Value) -> Vec<Problem> {
        let mut problems = self.schema.check(document);
        problems.extend(effect::restrictions(document));
        problems
    }

    fn refuse(&self, problems: Vec<Problem>) -> Result<(), Error> {
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

/// The folders from which relative paths and `~` in the file start.
fn places(path: &Path, environment: &Environment) -> Paths {
    let folder = path.parent().map(PathBuf::from).unwrap_or_default();
    Paths {
        home: environment.get("HOME").map(PathBuf::from),
        state: folder.clone(),
        agent_places: folder.clone(),
        runtime: folder,
        configuration: path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
