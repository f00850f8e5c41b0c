//! The gateway's TCP sockets.

use std::net::SocketAddr;

use openclaw_config::Settings;

use super::check::Check;
use crate::status::Suite;

/// Whether the gateway listens where the configuration says. Nothing when it
/// does not answer at all.
pub(super) fn opened(settings: &Settings, suite: &Suite) -> Option<Check> {
    const NAME: &str = "port";
    let wanted = SocketAddr::new(settings.gateway.address, settings.gateway.port);
    let listeners = &suite.gateway.given()?.listeners;
    let found: Vec<&str> = listeners
        .iter()
        .filter(|listener| listener.name == "http")
        .map(|listener| listener.address.as_str())
        .collect();
    Some(match found.as_slice() {
        [] => Check::warn(
            NAME,
            format!(
                "no WebSocket and no HTTP: {wanted} was not opened, something else may have it"
            ),
            "systemctl --user status openclaw-gateway.socket says why; gateway.port chooses another",
        ),
        all if wanted.port() == 0 || all.contains(&wanted.to_string().as_str()) => {
            Check::ok(NAME, format!("WebSocket and HTTP at {}", all.join(" and ")))
        }
        all => Check::warn(
            NAME,
            format!(
                "the gateway listens at {}, configured is {wanted}",
                all.join(" and ")
            ),
            "openclawctl sockets, then restart openclaw.target (or openclawctl run)",
        ),
    })
}
