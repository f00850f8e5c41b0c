//! What a program in the sandbox may ask for at the model's door.

use hyper::Uri;
use hyper::header::HeaderName;
use openclaw_config::secret::Secret;
use openclaw_model_api::relay::HeaderSecret;
use openclaw_model_api::wire::{Api, betas};

use super::*;

/// Where the model is behind the door.
const BASE: &str = "https://model.example:8443/base";
/// What the paths of OpenAI's API begin with at the door.
const MOUNT: &str = "/v1";
/// What opens the door, and what is sent on in its place.
const TOKEN: &str = "opens-this-door";
const CREDENTIAL: &str = "Bearer the-real-one";
/// What would choose another account, or how the body is read.
const NEVER_SENT: [&str; 14] = [
    "accept-encoding",
    "anthropic-organization",
    "anthropic-workspace-id",
    "chatgpt-account-id",
    "connection",
    "content-encoding",
    "content-length",
    "cookie",
    "host",
    "openai-organization",
    "openai-project",
    "proxy-authorization",
    "transfer-encoding",
    "x-api-key",
];

/// A line `API METHOD URI`, then lines `NAME: VALUE`. What is asked for is one of
/// the known places behind the configured URL, or nothing; of the headers those
/// go out that are known, with the configured credential alone; and without the
/// token nobody is let in.
pub fn model_door(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let mut words = first.trim_end().splitn(3, ' ');
    let relay = relay(words.next().unwrap_or_default());
    let (method, uri) = (words.next(), words.next());
    if let (Some(Ok(method)), Some(Ok(uri))) = (method.map(str::parse), uri.map(str::parse)) {
        check_route(&relay, &method, &uri);
    }
    let asked = headers_of(rest);
    check_headers(&relay, &asked);
    let _ = check_form(&asked);
    let door = ModelProxy::new(TOKEN.to_owned(), watch::channel(None).1);
    assert!(!door.is_known(&asked) || rest.contains(TOKEN));
}

fn relay(api: &str) -> Relay {
    let api = match api {
        "bedrock" => Api::Bedrock,
        "responses" => Api::Responses,
        "chat" => Api::Chat,
        _ => Api::Anthropic,
    };
    let credential = HeaderSecret(Secret::new(CREDENTIAL));
    Relay {
        api,
        base_url: BASE.to_owned(),
        mount: MOUNT.to_owned(),
        headers: vec![(AUTHORIZATION.to_string(), credential)],
        beta: api.is_messages().then(|| "oauth-2025-04-20".to_owned()),
    }
}

fn check_route(relay: &Relay, method: &Method, uri: &Uri) {
    let Some(route) = Route::of(relay, method, uri) else {
        return;
    };
    let target = match &route {
        Route::Probe => return assert_eq!(uri.path(), "/"),
        Route::Answer(target) | Route::Count(target) | Route::Models(target) => target,
    };
    let url = target.url(relay).expect("a path fits behind the base URL");
    let below = url.as_str().strip_prefix(BASE).expect("it is behind it");
    assert!(is_known(relay.api, method, below), "{method} {below}");
    let mount = if relay.api == Api::Responses {
        MOUNT
    } else {
        ""
    };
    let again: Uri = format!("{mount}{below}").parse().expect("a path");
    assert_eq!(Route::of(relay, method, &again), Some(route), "{again}");
}

/// Whether the API has such a place, by a second list of them.
fn is_known(api: Api, method: &Method, below: &str) -> bool {
    let (path, query) = below.split_once('?').unwrap_or((below, ""));
    match (api, method.as_str()) {
        (Api::Anthropic, "POST") => {
            ["/v1/messages", "/v1/messages/count_tokens"].contains(&path)
                && ["", "beta=true"].contains(&query)
        }
        (Api::Bedrock, "POST") => {
            let parts: Vec<&str> = path.split('/').collect();
            let [_, "model", name, "invoke" | "invoke-with-response-stream"] = parts[..] else {
                return false;
            };
            let plain = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
            let name = name.replacen("%2F", "", 1);
            query.is_empty() && !name.contains("..") && name.chars().all(plain)
        }
        (Api::Responses, "POST") => ["/responses", "/responses/compact"].contains(&below),
        (Api::Responses, "GET") => {
            let version = query.strip_prefix("client_version=").unwrap_or(query);
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            path == "/models" && version.chars().all(plain)
        }
        _ => false,
    }
}

fn headers_of(lines: &str) -> HeaderMap {
    let fields = lines.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
        Some((name, HeaderValue::from_str(value.trim()).ok()?))
    });
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(name, value);
    }
    headers
}

fn check_headers(relay: &Relay, asked: &HeaderMap) {
    let grants = Grants::default();
    let sent = headers::outgoing(relay, asked, &grants);
    let sent = sent.expect("what is configured can be sent");
    let credentials: Vec<_> = sent.get_all(AUTHORIZATION).iter().collect();
    assert_eq!(credentials, [CREDENTIAL]);
    for name in NEVER_SENT {
        assert!(sent.get(name).is_none(), "{name}");
    }
    for (name, value) in &sent {
        let is_configured = *name == AUTHORIZATION || name == "anthropic-beta";
        let mut given = asked.get_all(name).iter();
        assert!(is_configured || given.any(|it| it == value), "{name}");
    }
    let features = sent.get_all("anthropic-beta").iter();
    let features = features.flat_map(|list| list.to_str().expect("text").split(','));
    for feature in features {
        let is_own = relay.beta.as_deref() == Some(feature);
        assert!(is_own || betas::passes(feature, &grants), "{feature}");
    }
}
