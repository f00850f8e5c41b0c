//! From the files and the environment to validated settings.
//!
//! Three stages: the document ([`mod@document`], whose steps are in
//! `openclaw-config`), the keys with their types ([`keys`]), and settings
//! validated for one daemon. The environment is an input like the file is, so
//! that tests and daemons take the same path.

pub mod chosen;
pub mod defaults;
pub mod document;
pub mod file;
pub mod holder;
pub mod keys;
pub mod origin;
pub mod provider;
mod section;
mod settings;
#[cfg(test)]
mod tests;

use openclaw_config::substitute::Missing;
use openclaw_config::{Environment, Error, Paths};

pub use origin::Origin;
pub use settings::gateway::files::credential_files;
pub use settings::*;

/// Reads the configuration of the state directory that `environment` names.
///
/// A missing file is an empty configuration, and so is one that always was empty.
/// Errors name the file and where in it the problem is.
pub fn load(environment: &Environment) -> Result<Settings, Error> {
    load_from(environment, Origin::File)
}

/// Reads the configuration, or what stands in for it.
pub fn load_from(environment: &Environment, origin: Origin) -> Result<Settings, Error> {
    let paths = Paths::resolve(environment)?;
    if origin == Origin::File {
        refuse_emptied(&paths)?;
    }
    let paths = origin.paths(paths);
    let file = paths.configuration.clone();
    let document = document::load(&file, environment, Missing::KeptForOwner)?;
    let settings = Settings::of(paths, &document, environment);
    let mut settings = settings.map_err(|error| document.placed(&file, error))?;
    settings.take_names(&document);
    Ok(settings)
}

/// Reads the configuration or, where the file cannot be used, what daemons use in its place.
pub fn load_usable(environment: &Environment) -> Result<Settings, Error> {
    let error = match load(environment) {
        Err(error) if !error.is_beyond_file() => error,
        settled => return settled,
    };
    let paths = Paths::resolve(environment)?;
    [Origin::LastGood, Origin::Defaults]
        .into_iter()
        .filter(|origin| origin.exists(&paths))
        .find_map(|origin| load_from(&origin.environment(environment, &paths), origin).ok())
        .ok_or(error)
}

/// Refuses a file that is empty and was not before. Editors and shells empty a file before they
/// write it, and until then the defaults would hold, without the restrictions that it sets.
pub(crate) fn refuse_emptied(paths: &Paths) -> Result<(), Error> {
    let path = &paths.configuration;
    let is_emptied = paths.last_good().is_file()
        && path.is_file()
        && openclaw_config::parse::read(path).is_ok_and(|text| text.trim().is_empty());
    if !is_emptied {
        return Ok(());
    }
    let kept = paths.last_good();
    let message = format!(
        "the file is empty, and was not before; {{}} is a configuration without settings, and {} \
         has the one before",
        kept.display()
    );
    Err(Error::Syntax {
        path: path.clone(),
        line: 1,
        column: 1,
        message,
    })
}

/// The same, and keeps a file that is valid as the last good configuration.
/// For the gateway: one process writes a file.
pub fn load_and_keep(environment: &Environment, origin: Origin) -> Result<Settings, Error> {
    if origin != Origin::File {
        return load_from(environment, origin);
    }
    let paths = Paths::resolve(environment)?;
    refuse_emptied(&paths)?;
    let file = &paths.configuration;
    let document = document::load(file, environment, Missing::KeptForOwner)?;
    let settings = Settings::of(paths.clone(), &document, environment);
    let mut settings = settings.map_err(|error| document.placed(file, error))?;
    settings.take_names(&document);
    let told = settings.told_nowhere().into_iter();
    let told: Vec<_> = told.map(|(key, why)| format!("{key}: {why}")).collect();
    settings.warnings.extend(told);
    if let Err(error) = origin::keep(&paths, &document) {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        let cause = cause.unwrap_or_default();
        settings.warnings.push(format!("{error}: {cause}"));
    }
    Ok(settings)
}
