//! What may be asked for at the proxy: exact methods, paths and queries. A
//! request's own text is compared and never becomes a part of a URL: that is
//! written anew, from what was recognized.

use hyper::{Method, Uri};
use openclaw_model_api::relay::Relay;
use openclaw_model_api::wire::Api;
use reqwest::Url;

/// Characters of a model's name at Bedrock, and the most of them.
const MODEL_LENGTH: usize = 200;
/// Characters of a version of the program that asks for models.
const VERSION_LENGTH: usize = 32;

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// Whether anybody is there.
    Probe,
    /// An answer of the model.
    Answer(Target),
    /// How many tokens a request has.
    Count(Target),
    /// Which models there are.
    Models(Target),
}

/// A place of the API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Target {
    /// Begins with a slash; below the base URL.
    path: String,
    query: Option<String>,
    /// Where the path names it.
    pub(super) model: Option<String>,
}

impl Target {
    fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..Self::default()
        }
    }

    /// The URL of it behind `relay`. `None`: the configured base URL is none
    /// that a path can be put behind.
    pub(super) fn url(&self, relay: &Relay) -> Option<Url> {
        let base = Url::parse(relay.base_url.trim_end_matches('/')).ok()?;
        let path = format!("{}{}", base.path().trim_end_matches('/'), self.path);
        let mut url = base.clone();
        url.set_path(&path);
        url.set_query(self.query.as_deref());
        url.set_fragment(None);
        // Whatever a parser makes of it: the same place, and this very path.
        let parsed = Url::parse(url.as_str()).ok()?;
        let is_there = parsed.origin() == base.origin()
            && parsed.origin().is_tuple()
            && parsed.username() == base.username()
            && parsed.password() == base.password()
            && parsed.path() == path
            && parsed.query() == self.query.as_deref();
        is_there.then_some(parsed)
    }
}

impl Route {
    /// What `method` and `uri` ask for behind a proxy of `relay`'s kind.
    /// `None`: nothing that is there.
    pub(super) fn of(relay: &Relay, method: &Method, uri: &Uri) -> Option<Self> {
        // The form for proxies, which names another host.
        if uri.scheme().is_some() || uri.authority().is_some() {
            return None;
        }
        let (path, query) = (uri.path(), uri.query());
        if *method == Method::HEAD {
            return (path == "/" && query.is_none()).then_some(Self::Probe);
        }
        match relay.api {
            Api::Anthropic => messages(method, path, query),
            Api::Bedrock => bedrock(method, path, query),
            Api::Responses => responses(method, path.strip_prefix(relay.mount.as_str())?, query),
            // No program of a turn's speaks it at a proxy.
            Api::Chat => None,
        }
    }
}

fn messages(method: &Method, path: &str, query: Option<&str>) -> Option<Route> {
    let query = match query {
        None => None,
        Some("beta=true") => query.map(str::to_owned),
        Some(_) => return None,
    };
    let target = Target {
        query,
        ..Target::new(path)
    };
    match (method, path) {
        (&Method::POST, "/v1/messages") => Some(Route::Answer(target)),
        (&Method::POST, "/v1/messages/count_tokens") => Some(Route::Count(target)),
        _ => None,
    }
}

fn responses(method: &Method, path: &str, query: Option<&str>) -> Option<Route> {
    match (method, path, query) {
        (&Method::POST, "/responses" | "/responses/compact", None) => {
            Some(Route::Answer(Target::new(path)))
        }
        (&Method::GET, "/models", query) => {
            let target = Target {
                query: match query {
                    None => None,
                    Some(query) => Some(version(query)?),
                },
                ..Target::new(path)
            };
            Some(Route::Models(target))
        }
        _ => None,
    }
}

/// `client_version=0.169.0`.
fn version(query: &str) -> Option<String> {
    let version = query.strip_prefix("client_version=")?;
    let allowed = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-' | b'_');
    let is_one = (1..=VERSION_LENGTH).contains(&version.len()) && version.bytes().all(allowed);
    is_one.then(|| query.to_owned())
}

/// `/model/NAME/invoke`, and the same as a stream.
fn bedrock(method: &Method, path: &str, query: Option<&str>) -> Option<Route> {
    if *method != Method::POST || query.is_some() {
        return None;
    }
    let rest = path.strip_prefix("/model/")?;
    let (name, action) = rest.split_once('/')?;
    if !matches!(action, "invoke" | "invoke-with-response-stream") {
        return None;
    }
    let model = model(name)?;
    let written = model.replace('/', "%2F");
    Some(Route::Answer(Target {
        model: Some(model),
        ..Target::new(&format!("/model/{written}/{action}"))
    }))
}

/// A model's name as it stands in a path: colons may be written as `%3A`, and
/// the one slash in the name of an inference profile as `%2F`. Of Bedrock's models those
/// of Anthropic alone: what others are asked is another API, whose requests nobody judges.
fn model(written: &str) -> Option<String> {
    let name = written.replace("%3A", ":");
    let allowed = |text: &str| {
        let first = text
            .bytes()
            .next()
            .is_some_and(|c| c.is_ascii_alphanumeric());
        let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b':' | b'-');
        first && text.bytes().all(plain) && !text.contains("..")
    };
    if name.len() > MODEL_LENGTH {
        return None;
    }
    let Some((kind, profile)) = name.split_once("%2F") else {
        let is_ours = name.split('.').any(|part| part == "anthropic");
        return (is_ours && allowed(&name)).then_some(name);
    };
    let is_profile = kind.starts_with("arn:aws") && kind.ends_with("inference-profile");
    (is_profile && allowed(kind) && allowed(profile)).then(|| format!("{kind}/{profile}"))
}

#[cfg(test)]
mod tests;
