//! Heads of requests to the TCP port.

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderName, HeaderValue};
use serde_json::json;

use super::*;

/// Where the proxy is that is believed; another one is not.
const PROXY: &str = "192.0.2.7";
/// What a user has allowed.
const HOST_ALLOWED: &str = "claw.example";
const ORIGIN_ALLOWED: &str = "https://ui.example";

/// Lines `NAME: VALUE`, from a proxy that is known when they begin with a byte of
/// 0, else from this machine. What gets in is addressed to a name of ours; no
/// page gets in but one of our own name or an allowed one; and whom a client says
/// to be is believed of the known proxy alone.
pub fn front_head(bytes: &[u8]) {
    let (from, lines) = match bytes.strip_prefix(b"\0") {
        Some(lines) => (PROXY, lines),
        None => ("127.0.0.1", bytes),
    };
    let from: IpAddr = from.parse().expect("an address");
    let headers = headers_of(lines);
    let Ok(peer) = identify(&headers, SocketAddr::new(from, 5000), &settings()) else {
        return;
    };
    assert_eq!(headers.get_all(HOST).iter().count(), 1);
    assert!(is_name_of_ours(&peer.host), "{}", peer.host);
    assert!(peer.addr.ip() == from || (from.to_string() == PROXY && peer.forwarded));
    let origins: Vec<_> = headers.get_all(ORIGIN).iter().collect();
    match (peer.origin_ok, origins.as_slice()) {
        (false, origins) => assert!(!origins.is_empty() && !peer.is_local_program()),
        (true, []) => assert_eq!(peer.origin, None),
        (true, [origin]) => assert!(is_page_of_ours(origin, &peer.host), "{origin:?}"),
        (true, _) => panic!("one of several origins is believed"),
    }
    assert!(!peer.is_local_program() || (from.is_loopback() && !peer.forwarded));
}

fn settings() -> Gateway {
    let section = json!({
        "allowedHosts": [HOST_ALLOWED],
        "trustedProxies": [PROXY],
        "controlUi": {"allowedOrigins": [ORIGIN_ALLOWED]},
    });
    let section = serde_json::from_value(section).expect("a section");
    Gateway::resolve(&section, &Default::default(), "f").expect("settings")
}

fn headers_of(lines: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            continue;
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (
            HeaderName::from_bytes(name.trim_ascii()),
            HeaderValue::from_bytes(value),
        ) {
            headers.append(name, value);
        }
    }
    headers
}

/// By a second reading of a host: its port cut off as digits behind a colon.
fn is_name_of_ours(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host.as_str(),
    };
    let name = name.trim_end_matches('.');
    let literal = name.trim_start_matches('[').trim_end_matches(']');
    let names = ["localhost", HOST_ALLOWED, "ui.example"];
    literal.parse::<IpAddr>().is_ok() || names.contains(&name) || name.ends_with(".localhost")
}

fn is_page_of_ours(origin: &HeaderValue, host: &str) -> bool {
    let origin = String::from_utf8_lossy(origin.as_bytes()).to_lowercase();
    let origin = origin.trim_end_matches('/');
    let own = origin.split_once("://").map(|(_, authority)| authority);
    origin == ORIGIN_ALLOWED || own == Some(host.to_lowercase().as_str())
}
