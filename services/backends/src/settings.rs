//! The settings with the credentials that only this daemon holds.

use openclaw_config::{Environment, Error};
use openclaw_daemon::credentials;
use openclaw_settings::{Origin, RunnerSettings};

use crate::tools;

/// Reads the configuration and the credentials.
pub fn load(environment: &Environment, origin: Origin) -> Result<RunnerSettings, Error> {
    let mut settings = openclaw_settings::load_from(environment, origin)?
        .with_credentials(environment, &credentials::inherit())?;
    let warnings = tools::warnings(&settings);
    let doubts = settings.base.doubts.clone();
    settings.warnings.extend(doubts.into_iter().chain(warnings));
    Ok(settings)
}
