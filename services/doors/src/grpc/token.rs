//! The token of clients over TCP, for this machine's own tools.

use openclaw_daemon::failure;
use openclaw_proto::wire::gateway::{AccessTokenRequest, AccessTokenResponse};
use openclaw_settings::gateway::AuthMode;
use tonic::Status;

use crate::doors::Doors;

/// The secret, after another was made if that was asked for.
pub(super) fn answer(
    doors: &Doors,
    request: AccessTokenRequest,
) -> Result<AccessTokenResponse, Status> {
    if request.rotate {
        rotate(doors)?;
    }
    let secrets = doors.front.secrets();
    let mode = match secrets.mode {
        AuthMode::Token => "token",
        AuthMode::Password => "password",
        AuthMode::None => "none",
    };
    let token = secrets.reveal().unwrap_or_default();
    if token.is_empty() && !secrets.are_none_needed() {
        return Err(Status::internal(
            "there is no token: auth.json in the state directory can be neither read nor \
             written; the gateway's log says why",
        ));
    }
    Ok(AccessTokenResponse {
        mode: mode.to_owned(),
        token: token.to_owned(),
    })
}

fn rotate(doors: &Doors) -> Result<(), Status> {
    let settings = doors.front.settings();
    if settings.gateway.mode != AuthMode::Token || settings.gateway.token.is_some() {
        return Err(Status::failed_precondition(
            "the token is set by gateway.auth, OPENCLAW_GATEWAY_TOKEN or a credential: change it \
             there",
        ));
    }
    let rotated = doors.front.rotate();
    rotated.map_err(|error| Status::internal(failure::chain(&error)))
}
