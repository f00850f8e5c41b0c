//! State directory, configuration pipeline and validated settings.
//!
//! Three stages: the document ([`mod@document`], whose steps are in
//! [`pipeline`]), fragments typed but optional ([`fragment`]), and settings
//! validated for one daemon ([`settings`]). The environment is an input like
//! the file is, so that tests and daemons take the same path.

pub mod auth;
pub mod document;
pub mod edit;
pub mod effect;
pub mod environment;
pub mod error;
pub mod file;
pub mod files;
pub mod fragment;
pub mod holder;
pub mod key;
mod locate;
pub mod lock_file;
pub mod login;
pub mod models_file;
pub mod nearest;
pub mod origin;
pub mod parse;
pub mod paths;
pub mod permissions;
pub mod pipeline;
pub mod price;
pub mod problem;
pub mod programs;
#[cfg(test)]
mod properties;
pub mod provider;
pub mod redact;
pub mod schema;
pub mod secret;
pub mod settings;
pub mod size;
pub mod state_lock;
pub mod substitute;
pub mod syntax;
pub mod write;

pub use environment::Environment;
pub use error::Error;
pub use key::KeyPath;
pub use origin::Origin;
pub use paths::Paths;
pub use problem::Problem;
pub use settings::{AgentSettings, Settings};

use substitute::Missing;

/// The origin of values that variables set.
pub const ENVIRONMENT: &str = "the environment";
/// The origin of values that the command line sets.
pub const COMMAND_LINE: &str = "the command line";

/// Reads the configuration of the state directory that `environment` names.
///
/// A missing or empty file is an empty configuration. Errors name the file and
/// where in it the problem is.
pub fn load(environment: &Environment) -> Result<Settings, Error> {
    load_from(environment, Origin::File)
}

/// Reads the configuration, or what stands in for it.
pub fn load_from(environment: &Environment, origin: Origin) -> Result<Settings, Error> {
    let paths = origin.paths(Paths::resolve(environment)?);
    let document = document::load(&paths.configuration, environment, Missing::KeptForOwner)?;
    let mut settings = Settings::assemble(paths, document.value, environment)?;
    settings.unused = effect::unused(&document.written);
    Ok(settings)
}

/// Reads the configuration or, where the file cannot be used, what daemons use
/// in its place.
pub fn load_usable(environment: &Environment) -> Result<Settings, Error> {
    let error = match load(environment) {
        Err(error) if !error.is_beyond_file() => error,
        settled => return settled,
    };
    let paths = Paths::resolve(environment)?;
    [Origin::LastGood, Origin::Defaults]
        .into_iter()
        .filter(|origin| origin.exists(&paths))
        .find_map(|origin| load_from(environment, origin).ok())
        .ok_or(error)
}

/// The same, and keeps a file that is valid as the last good configuration.
/// For the gateway: one process writes a file.
pub fn load_and_keep(environment: &Environment, origin: Origin) -> Result<Settings, Error> {
    if origin != Origin::File {
        return load_from(environment, origin);
    }
    let paths = Paths::resolve(environment)?;
    let file = &paths.configuration;
    let document = document::load(file, environment, Missing::KeptForOwner)?;
    let mut settings = Settings::assemble(paths.clone(), document.value.clone(), environment)?;
    settings.unused = effect::unused(&document.written);
    if let Err(error) = origin::keep(&paths, &document) {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        let cause = cause.unwrap_or_default();
        settings.warnings.push(format!("{error}: {cause}"));
    }
    Ok(settings)
}
