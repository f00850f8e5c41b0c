//! Changing the configuration file: one writer at a time, comments kept, and
//! never to something that is not valid.

use std::fs::{self, File as StdFile};
use std::io;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use openclaw_config::backup as kept;
use openclaw_config::edit;
use openclaw_config::environment::Environment;
use openclaw_config::error::Error;
use openclaw_config::key::KeyPath;
use openclaw_config::parse;
use openclaw_config::paths::Paths;
use openclaw_config::pipeline::include::Source;
use openclaw_config::pipeline::{include, merge};
use openclaw_config::problem::Problem;
use openclaw_config::redact;
use openclaw_config::schema::Schema;
use openclaw_config::substitute::Missing;
use openclaw_config::{locate, lock_file, write};
use openclaw_effect::{self as effect, Unused};
use serde_json::Value;

use crate::document;
use crate::keys;
use crate::settings::{Settings, tools};

/// The configuration file, to change. Others that want to change it wait.
#[derive(Debug)]
pub struct File {
    paths: Paths,
    text: String,
    original: String,
    _lock: Flock<StdFile>,
}

impl File {
    /// Opens the file, which need not be there, and keeps other writers out.
    pub fn open(paths: &Paths) -> Result<Self, Error> {
        let path = &paths.configuration;
        let failed = |source: io::Error| Error::Write {
            path: path.clone(),
            source,
        };
        let lock = lock(path).map_err(failed)?;
        let text = parse::read(path)?;
        Ok(Self {
            paths: paths.clone(),
            original: text.clone(),
            text,
            _lock: lock,
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.paths.configuration
    }

    /// The text as it would be written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether anything has changed.
    pub fn is_changed(&self) -> bool {
        self.text != self.original
    }

    /// The document of the text, without includes and references.
    pub fn document(&self) -> Result<Value, Error> {
        parse::parse(self.path(), &self.text)
    }

    /// Sets one value. A value that was shown as a secret stays what it was.
    pub fn set(&mut self, path: &KeyPath, mut value: Value) -> Result<(), Error> {
        self.is_not_emptied()?;
        let mut expected = self.document()?;
        redact::restore(path, &mut value, &expected).map_err(|path| self.not_a_secret(path))?;
        let begun = edit::with_list(
            path,
            value,
            (&expected, |it: &KeyPath| Schema::shipped().is_list(it)),
        );
        let (path, value) = &begun.map_err(|error| self.not_edited(error))?;
        let text = edit::set(&self.text, path, value).map_err(|error| self.not_edited(error))?;
        path.put(&mut expected, value.clone());
        self.take_over(text, &expected)
    }

    /// Takes one value away.
    pub fn unset(&mut self, path: &KeyPath) -> Result<(), Error> {
        self.is_not_emptied()?;
        let mut expected = self.document()?;
        let text = edit::unset(&self.text, path).map_err(|error| self.not_edited(error))?;
        path.take(&mut expected);
        self.take_over(text, &expected)
    }

    /// One key in a file that was emptied would make a configuration of that key alone.
    fn is_not_emptied(&self) -> Result<(), Error> {
        if self.is_changed() {
            return Ok(());
        }
        crate::refuse_emptied(&self.paths)
    }

    /// Applies a merge patch (RFC 7396) and keeps what it does not touch as it is written.
    pub fn patch(&mut self, patch: &Value) -> Result<(), Error> {
        let before = self.document()?;
        let mut after = before.clone();
        let mut patch = patch.clone();
        redact::restore(&KeyPath::default(), &mut patch, &before)
            .map_err(|path| self.not_a_secret(path))?;
        merge::patch(&mut after, patch);
        self.change(&KeyPath::default(), &before, &after)
    }

    /// Another text, as an editor leaves it.
    pub fn replace(&mut self, text: String) -> Result<(), Error> {
        parse::parse(self.path(), &text)?;
        self.text = text;
        Ok(())
    }

    /// Writes what is different, value by value.
    fn change(&mut self, path: &KeyPath, before: &Value, after: &Value) -> Result<(), Error> {
        let (Value::Object(old), Value::Object(new)) = (before, after) else {
            return if before == after {
                Ok(())
            } else {
                self.set(path, after.clone())
            };
        };
        for key in old.keys().filter(|key| !new.contains_key(*key)) {
            self.unset(&path.child(key))?;
        }
        for (key, value) in new {
            let path = path.child(key);
            match old.get(key) {
                Some(below) => self.change(&path, below, value)?,
                None => self.set(&path, value.clone())?,
            }
        }
        Ok(())
    }

    /// The editor works on text and must do what was asked for.
    fn take_over(&mut self, text: String, expected: &Value) -> Result<(), Error> {
        if parse::parse(self.path(), &text)? != *expected {
            let problem = "cannot be changed without touching the rest; use `config edit`";
            return Err(Error::invalid(
                self.path(),
                vec![Problem::other(KeyPath::default(), problem)],
            ));
        }
        self.text = text;
        Ok(())
    }

    fn not_edited(&self, why: edit::Error) -> Error {
        Error::Edit {
            path: self.path().to_owned(),
            why,
        }
    }

    fn not_a_secret(&self, path: KeyPath) -> Error {
        let problem = format!(
            "is {}, which stands for a secret that is not there",
            redact::REDACTED
        );
        Error::invalid(self.path(), vec![Problem::other(path, problem)])
    }

    /// New problems, and problems that exist anyway.
    pub fn problems(&self, environment: &Environment) -> Result<Problems, Error> {
        let before = match parse::parse(self.path(), &self.original) {
            Ok(_) => self.wrong_with(&self.original, environment)?,
            // Of a text that is no JSON5 nothing is known.
            Err(_) => Vec::new(),
        };
        let (old, new) = self
            .wrong_with(&self.text, environment)?
            .into_iter()
            .partition(|problem| {
                before
                    .iter()
                    .any(|old| old.path == problem.path && old.kind == problem.kind)
            });
        Ok(Problems { new, old })
    }

    fn wrong_with(&self, text: &str, environment: &Environment) -> Result<Vec<Problem>, Error> {
        let document = parse::parse(self.path(), text)?;
        let mut sources = Vec::new();
        let document = include::resolve(self.path(), document, &mut sources)?;
        sources.push(Source {
            path: self.path().to_owned(),
            text: text.to_owned(),
            mount: KeyPath::default(),
        });
        let mut problems = Schema::shipped().check(&document);
        problems.extend(effect::restrictions(&document));
        if problems.is_empty() {
            problems.extend(effect::faults(&document));
            problems.extend(self.beyond_schema(document, &sources, environment));
        }
        locate::place(&mut problems, &sources);
        problems.extend(locate::twice(&sources));
        Ok(problems)
    }

    /// Problems that no schema finds, such as a malformed URL.
    fn beyond_schema(
        &self,
        mut document: Value,
        sources: &[Source],
        environment: &Environment,
    ) -> Option<Problem> {
        openclaw_config::pipeline::alias::apply(&mut document);
        let fragment = keys::typed(self.path(), &document).ok();
        let settings = Settings::assemble(self.paths.clone(), document, environment);
        match settings.and_then(|settings| settings.with_sources(sources)) {
            Err(Error::Value {
                origin,
                key,
                problem,
            }) if origin != openclaw_config::ENVIRONMENT => {
                let path = KeyPath::parse(&key).unwrap_or_default();
                Some(Problem::other(path, problem))
            }
            _ => {
                let (path, problem) = tools::elsewhere(&fragment?.mcp, &self.paths)?;
                Some(Problem::other(path, problem))
            }
        }
    }

    /// Writes the text. The text before it is kept beside the file (`.bak`), of
    /// secrets only those that the file still has: one that was taken out or
    /// replaced is not to be read anywhere any more.
    pub fn save(&mut self) -> Result<(), Error> {
        let path = self.paths.configuration.clone();
        let failed = |path: &Path| {
            let path = path.to_owned();
            |source| Error::Write { path, source }
        };
        let backup = backup(&path);
        let kept = kept::text(&self.original, &self.text);
        match &kept.text {
            Some(text) => write::atomic(&backup, text.as_bytes()).map_err(failed(&backup))?,
            // An older one would be no copy of the file before the change.
            None => remove(&backup).map_err(failed(&backup))?,
        }
        // The gateway keeps another as soon as it has read the new file.
        let last_good = self.paths.last_good();
        if kept.has_removed(&parse::read(&last_good).unwrap_or_default()) {
            remove(&last_good).map_err(failed(&last_good))?;
        }
        write::atomic(&path, self.text.as_bytes()).map_err(failed(&path))?;
        self.original.clone_from(&self.text);
        Ok(())
    }
}

/// The problems of a changed text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    /// With the change.
    pub new: Vec<Problem>,
    /// Already before.
    pub old: Vec<Problem>,
}

/// Parts of a valid configuration that cannot take effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// Failures that are not fatal.
    pub warnings: Vec<String>,
    /// Keys that have no effect.
    pub unused: Vec<Unused>,
    /// Values with which a part of the suite stays off, or that another one hides.
    pub faults: Vec<Problem>,
}

impl Findings {
    /// The problems of a file that cannot be used.
    pub fn of_invalid(paths: &Paths) -> Self {
        Self {
            unused: unused(paths),
            ..Self::default()
        }
    }
}

/// Everything that is wrong with the configuration as it is, also what only
/// shows with the environment.
pub fn validate(paths: &Paths, environment: &Environment) -> Result<Findings, Error> {
    crate::refuse_emptied(paths)?;
    let path = &paths.configuration;
    let document = document::load(path, environment, Missing::Refused)?;
    let settings = Settings::of(paths.clone(), &document, environment)
        .and_then(|settings| settings.with_credentials(environment, &Default::default()))
        .map_err(|error| document.placed(path, error))?;
    let notes = settings.base.doubts.clone();
    let notes = notes.into_iter().chain(settings.order_problems.clone());
    let absent = settings.absent().into_iter();
    let absent = absent.chain(settings.told_nowhere());
    let absent = absent.chain(effect::absent_token_files(paths, &document.value));
    let absent = absent.map(|(path, problem)| Problem::other(path, problem));
    let absent: Vec<_> = settings.unknown_models().chain(absent).collect();
    // Of a variable that is not set the document's warnings tell.
    let is_beside_variables = |(path, _): &(KeyPath, String)| {
        let parts = path.parts();
        !(parts.first().is_some_and(|it| it == "mcp") && parts.get(3).is_some_and(|it| it == "env"))
    };
    let problems = settings
        .mcp_problems
        .into_iter()
        .filter(is_beside_variables);
    let mut problems: Vec<_> = problems
        .map(|(path, problem)| Problem::other(path, problem))
        .collect();
    if problems.is_empty() {
        let mut warnings = document.warnings.clone();
        warnings.extend(document.doubts());
        warnings.extend(notes);
        warnings.extend(settings.base.provider_faults.into_values());
        // What is missing today may be there tomorrow: it makes no file invalid.
        warnings.extend(document.lines(absent));
        let mut faults = settings.base.faults;
        document.name_as_written(&mut faults);
        locate::place(&mut faults, &document.sources);
        faults.extend(locate::twice(&document.sources));
        return Ok(Findings {
            warnings,
            unused: document.unused(),
            faults,
        });
    }
    locate::place(&mut problems, &document.sources);
    Err(Error::invalid(&paths.configuration, problems))
}

/// The keys of the files that have no effect, also of files that cannot be used.
fn unused(paths: &Paths) -> Vec<Unused> {
    let written = document::written(&paths.configuration);
    written.map_or_else(|_| Vec::new(), |written| effect::unused(&written))
}

/// The file before the last change.
pub fn backup(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".bak");
    PathBuf::from(name)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Locks a file of its own: the configuration itself is replaced by every
/// write, and a lock on it would be one on the old file.
fn lock(path: &Path) -> io::Result<Flock<StdFile>> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let file = lock_file::open(Path::new(&name))?;
    Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| errno.into())
}

#[cfg(test)]
mod tests;
