//! State directory, configuration pipeline and validated settings.
//!
//! Three stages: the document as written ([`document`]), fragments typed but
//! optional ([`fragment`]), and settings validated for one daemon
//! ([`settings`]). The environment is an input like the file is, so that tests
//! and daemons take the same path.

pub mod document;
pub mod environment;
pub mod error;
pub mod fragment;
pub mod nearest;
pub mod paths;
pub mod programs;
pub mod provider;
pub mod secret;
pub mod settings;
pub mod substitute;

pub use environment::Environment;
pub use error::Error;
pub use paths::Paths;
pub use settings::{AgentSettings, Settings};

use substitute::Missing;

/// Reads the configuration of the state directory that `environment` names.
///
/// A missing or empty file is an empty configuration. Errors name the file and
/// where in it the problem is.
pub fn load(environment: &Environment) -> Result<Settings, Error> {
    let paths = Paths::resolve(environment)?;
    let document = document::read(&paths.configuration, environment, Missing::KeptForOwner)?;
    Settings::assemble(paths, document, environment)
}
