//! The settings with the secrets of the gateway's doors.

use openclaw_config::{Environment, Error};
use openclaw_daemon::credentials;
use openclaw_settings::Settings;
use openclaw_settings::origin::Origin;

/// Reads the configuration and the secrets that only the gateway holds: the
/// access token, and those of the hooks and of the listener of seed 000.
pub fn load(environment: &Environment, origin: Origin) -> Result<Settings, Error> {
    openclaw_settings::load_and_keep(environment, origin)?
        .with_gateway_secrets(environment, &credentials::inherit())
}
