//! Whether a request is meant for this port, and which web page it comes from.
//!
//! A page that the user visits can make his browser connect to the loopback, under a name of its
//! own that suddenly resolves to it (DNS rebinding), or with plain cross-site requests. The browser
//! says so in Host and Origin, which pages cannot write.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use axum::http::uri::Authority;
use openclaw_settings::Gateway;

use super::peer::Peer;

/// Why a request is not for this port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misdirected {
    /// There is no Host header, or one that is no host.
    #[error("the Host header is missing or malformed")]
    NoHost,
    /// The name is not one of ours.
    #[error(
        "requests addressed to {0:?} are not answered: use localhost or the address, or add the \
         name to gateway.allowedHosts"
    )]
    Host(String),
    /// A proxy that is not known.
    #[error(
        "the request was passed on by a proxy that is not in gateway.trustedProxies: its address \
         must be added there"
    )]
    Proxy,
    /// A web page of somebody else.
    #[error(
        "pages of {0:?} may not use the gateway: add it to gateway.controlUi.allowedOrigins if \
         they are to"
    )]
    Origin(String),
}

/// Who sends a request with `headers` over a connection from `via`. A foreign Origin is noted in
/// the peer and refused by whoever answers: WebSocket clients are told in the protocol's own words.
pub(crate) fn identify(
    headers: &HeaderMap,
    via: SocketAddr,
    settings: &Gateway,
) -> Result<Peer, Misdirected> {
    let mut peer = Peer::of(headers, via, &settings.trusted_proxies);
    let host = host_of(&peer.host).ok_or(Misdirected::NoHost)?;
    if !is_ours(&host, settings) {
        return Err(Misdirected::Host(peer.host));
    }
    if peer.forwarded && !settings.trusted_proxies.contains(&via.ip()) {
        return Err(Misdirected::Proxy);
    }
    peer.origin_ok = match &peer.origin {
        None => true,
        Some(origin) => is_allowed(origin, &peer.host, settings),
    };
    Ok(peer)
}

/// The host without its port, lowercase.
fn host_of(header: &str) -> Option<String> {
    let authority: Authority = header.parse().ok()?;
    if header.contains('@') {
        return None;
    }
    // What follows an address in brackets is taken for its end by the parser.
    let rest = header.strip_prefix(authority.host())?;
    let is_port = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    if !rest.is_empty() && !rest.strip_prefix(':').is_some_and(is_port) {
        return None;
    }
    let host = authority.host().trim_end_matches('.').to_lowercase();
    (!host.is_empty()).then_some(host)
}

/// A literal address cannot be rebound: the browser connects to it and to
/// nothing else. Of names, only those that resolve to the loopback everywhere
/// (RFC 6761, 6.3) and those that the user allows.
fn is_ours(host: &str, settings: &Gateway) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    literal.parse::<IpAddr>().is_ok()
        || host == "localhost"
        || host.ends_with(".localhost")
        || settings.allowed_hosts.iter().any(|allowed| allowed == host)
        || settings
            .allowed_origins
            .iter()
            .filter_map(|origin| origin.split_once("://"))
            .any(|(_, authority)| host_of(authority).as_deref() == Some(host))
}

/// Whether pages of `origin` may use the gateway at `host`: its own ones, and
/// those that the user allows.
fn is_allowed(origin: &str, host: &str, settings: &Gateway) -> bool {
    let origin = origin.trim_end_matches('/').to_lowercase();
    let own = ["http://", "https://"]
        .iter()
        .any(|scheme| origin.strip_prefix(scheme) == Some(host.to_lowercase().as_str()));
    own || settings
        .allowed_origins
        .iter()
        .any(|allowed| allowed == "*" || *allowed == origin)
}

#[cfg(fuzzing)]
pub mod fuzz;
#[cfg(test)]
mod tests;
