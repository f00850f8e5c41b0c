//! The settings with the secrets of the gateway's doors.

use openclaw_config::origin::Origin;
use openclaw_config::{Environment, Error, Settings};
use openclaw_daemon::credentials;

/// Reads the configuration and the secrets that only the gateway holds: the
/// access token, and those of the hooks and of the listener of seed 000.
pub fn load(environment: &Environment, origin: Origin) -> Result<Settings, Error> {
    openclaw_config::load_and_keep(environment, origin)?
        .with_gateway_secrets(environment, &credentials::inherit())
}
