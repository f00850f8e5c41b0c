//! Who is at the other end of a request.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

use super::Admission;

/// Headers that a proxy adds. A program that connects by itself sends none.
const FORWARDING: [&str; 5] = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

/// Who is at the other end of a request.
#[derive(Debug, Clone)]
pub struct Peer {
    /// The client's address; behind a trusted proxy the one that it says.
    pub addr: SocketAddr,
    /// The Host header, as it was sent.
    pub host: String,
    /// The Origin header: a browser sends it for a page.
    pub origin: Option<String>,
    /// No Origin, the port's own, or an allowed one.
    pub origin_ok: bool,
    /// Whether a proxy passed it on.
    pub forwarded: bool,
    /// Of the connection that the request came on.
    pub admission: Admission,
}

impl Peer {
    /// By the request's headers. `origin_ok` is left for the guard to say.
    pub(super) fn of(headers: &HeaderMap, addr: SocketAddr, trusted: &[IpAddr]) -> Self {
        let forwarded = FORWARDING.iter().any(|name| headers.contains_key(*name));
        let behind = if forwarded && trusted.contains(&addr.ip()) {
            client(headers, trusted)
        } else {
            None
        };
        Self {
            addr: behind.map_or(addr, |ip| SocketAddr::new(ip, addr.port())),
            host: text(headers, HOST.as_str()).unwrap_or_default(),
            origin: text(headers, ORIGIN.as_str()),
            origin_ok: false,
            forwarded,
            admission: Admission::default(),
        }
    }

    /// Whether it is a program of this machine that connected by itself.
    pub(crate) fn is_local_program(&self) -> bool {
        self.addr.ip().is_loopback() && self.origin.is_none() && !self.forwarded
    }
}

/// The last address of X-Forwarded-For that is no proxy of ours: what stands before it anybody can
/// write. So there is none where the last one cannot be read.
fn client(headers: &HeaderMap, trusted: &[IpAddr]) -> Option<IpAddr> {
    let values = headers.get_all("x-forwarded-for").iter();
    let all: Vec<Option<IpAddr>> = values
        .map(|value| value.to_str().unwrap_or_default())
        .flat_map(|value| value.split(','))
        .map(|part| part.trim().parse().ok())
        .collect();
    let is_ours = |address: &IpAddr| trusted.contains(address);
    let mut last = all.into_iter().rev();
    last.find(|address| !address.as_ref().is_some_and(is_ours))?
}

/// A header's value; two of one kind are none that can be trusted.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    let text = match values.next() {
        None => String::from_utf8_lossy(first.as_bytes()).into_owned(),
        Some(_) => "(several)".to_owned(),
    };
    Some(text)
}
