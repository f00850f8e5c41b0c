//! Requests of somebody who may come in.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request};

use super::problem::Problem;
use crate::doors::Doors;
use crate::front::{Denied, Peer};

/// Where the token is found.
const WAY_OUT: &str = "`openclawctl token` prints it";

/// As an argument of a handler: it is called only for requests that carry the gateway's token.
#[derive(Debug)]
pub(super) struct Authorized;

impl FromRequestParts<Arc<Doors>> for Authorized {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, doors: &Arc<Doors>) -> Result<Self, Problem> {
        let peer = peer(parts)?;
        let admitted = doors.front.admit(peer, bearer(&parts.headers));
        admitted.map_err(|denied| Problem::denied(denied, WAY_OUT))?;
        Ok(Self)
    }
}

/// Whether the request carries the token, for answers that say more then. A
/// wrong token counts as a failed attempt.
pub(super) fn is_authorized(doors: &Doors, parts: &Parts) -> bool {
    let presented = bearer(&parts.headers);
    presented.is_some() && peer(parts).is_ok_and(|peer| doors.front.admit(peer, presented).is_ok())
}

pub(super) fn peer(parts: &Parts) -> Result<&Peer, Problem> {
    // The listener puts it into every request.
    let peer = parts.extensions.get();
    peer.ok_or_else(|| Problem::denied(Denied::Missing, WAY_OUT))
}

/// Who sends the request.
pub(super) fn of_request<B>(request: &Request<B>) -> Result<&Peer, Problem> {
    let peer = request.extensions().get();
    peer.ok_or_else(|| Problem::denied(Denied::Missing, WAY_OUT))
}

/// The token of `Authorization: Bearer …` (RFC 6750, 2.1).
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim())
        .filter(|token| !token.is_empty())
}
