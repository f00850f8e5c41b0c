//! Whether a text says where something is, and whether the provider may fetch it.

use reqwest::Url;

use super::super::{Grants, Unfit};

/// Characters of the name of a scheme: `https`.
const SCHEME: usize = 40;
/// Schemes that need no slashes for a place to be meant.
const SCHEMES: [&str; 10] = [
    "azureblob",
    "file",
    "ftp",
    "gs",
    "http",
    "https",
    "oss",
    "s3",
    "ws",
    "wss",
];

/// As [`fetch`], where it is data unless it names a place. What data is written in has no
/// colon (RFC 4648).
pub(super) fn fetch_place(text: &str, grants: &Grants) -> Result<(), Unfit> {
    let beginning = beginning(text);
    if scheme(&beginning).is_some() || has_slashes(&beginning) {
        fetch(text, grants)
    } else {
        Ok(())
    }
}

/// As [`fetch`], where it is no address unless it begins as one.
pub(super) fn fetch_address(text: &str, grants: &Grants) -> Result<(), Unfit> {
    let beginning = beginning(text);
    let is_address = scheme(&beginning).map_or_else(
        || has_slashes(&beginning),
        |scheme| SCHEMES.contains(&scheme) || beginning.contains("://"),
    );
    if is_address {
        fetch(text, grants)
    } else {
        Ok(())
    }
}

/// The beginning of a text as programs that fetch read it: without what stands before it and
/// is not seen, nor what is taken out within (WHATWG URL, 4.4), in small letters.
fn beginning(text: &str) -> String {
    let is_seen = |c: &char| {
        !(c.is_whitespace()
            || c.is_control()
            || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}'))
    };
    let seen = text.chars().filter(is_seen);
    seen.take(SCHEME + 3)
        .map(|c| {
            if c == '\\' {
                '/'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}

/// The scheme that it begins with (RFC 3986, 3.1).
fn scheme(beginning: &str) -> Option<&str> {
    let (scheme, _) = beginning.split_once(':')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let begins = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (begins && scheme.chars().all(plain)).then_some(scheme)
}

/// A place without its scheme. Data may begin so as well: sound of one kind does.
fn has_slashes(text: &str) -> bool {
    let is_data = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
    text.starts_with("//") && !text.chars().all(is_data)
}

/// Whether the provider may fetch this. Data that stands in the URL itself is
/// not fetched.
pub(super) fn fetch(url: &str, grants: &Grants) -> Result<(), Unfit> {
    if scheme(&beginning(url)) == Some("data") {
        return Ok(());
    }
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(Url::host_str).unwrap_or_default();
    let is_plain = parsed.as_ref().is_some_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
    });
    let port = parsed.as_ref().and_then(Url::port_or_known_default);
    match port {
        Some(port) if is_plain && grants.has_host(host, port) => Ok(()),
        _ => Err(Unfit::Host {
            host: if host.is_empty() { "this URL" } else { host }.to_owned(),
        }),
    }
}
