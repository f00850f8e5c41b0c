//! The settings with the credentials that only this daemon holds.

use openclaw_config::{Environment, Error, Settings};
use openclaw_daemon::credentials;

/// Reads the configuration and the credentials.
pub(crate) fn load(environment: &Environment) -> Result<Settings, Error> {
    openclaw_config::load(environment)?.with_credentials(environment, &credentials::inherit())
}
