//! Telling a URL what a job came to. A name is looked up here, and the address that
//! was looked at is the one that is connected to.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use openclaw_settings::{RunnerSettings, WebhookPolicy};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderName};
use reqwest::redirect::Policy;
use tokio::net::lookup_host;
use tokio::time::timeout;

/// How long a receiver may take, from its name to its answer.
const DEADLINE: Duration = Duration::from_secs(10);

/// How long is looked for a name when it is only said whether it may be told: whoever
/// adds a job waits.
const JUDGED_WITHIN: Duration = Duration::from_secs(3);

/// Bytes of what is told.
const BODY_LIMIT: usize = 256 * 1024;

/// By which a receiver tells what it has already.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Why a URL was not told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// It may not be.
    #[error("{0}")]
    Refused(String),
    /// Its name leads nowhere.
    #[error("look up {host}")]
    Name {
        host: String,
        #[source]
        source: std::io::Error,
    },
    /// It did not answer.
    #[error("post to {host}")]
    Post {
        host: String,
        #[source]
        source: reqwest::Error,
    },
    /// It did not take it.
    #[error("{host} answered {status}")]
    Answer { host: String, status: u16 },
    /// It took too long.
    #[error("{0} did not answer within {DEADLINE:?}")]
    Late(String),
}

/// Posts the JSON document `body` to `url`.
pub(crate) async fn post(
    settings: &RunnerSettings,
    url: &str,
    body: String,
    key: &str,
) -> Result<(), Error> {
    let url = parsed(url)?;
    if body.len() > BODY_LIMIT {
        let problem = format!("what is told has more than {BODY_LIMIT} bytes");
        return Err(Error::Refused(problem));
    }
    let host = url.host_str().unwrap_or_default().to_owned();
    let told = tell(settings, url, body, key);
    let told = timeout(DEADLINE, told).await;
    told.unwrap_or(Err(Error::Late(host)))
}

/// Whether anything may be posted to `url`.
pub(crate) async fn judge(settings: &RunnerSettings, url: &str) -> Result<(), Error> {
    let url = parsed(url)?;
    let host = url.host_str().unwrap_or_default().to_owned();
    let found = addresses(&url, &settings.stated.cron.webhook_ssrf_policy);
    let found = timeout(JUDGED_WITHIN, found).await;
    found.unwrap_or(Err(Error::Late(host))).map(drop)
}

async fn tell(settings: &RunnerSettings, url: Url, body: String, key: &str) -> Result<(), Error> {
    let host = url.host_str().unwrap_or_default().to_owned();
    let addresses = addresses(&url, &settings.stated.cron.webhook_ssrf_policy).await?;
    let failed = |source: reqwest::Error| Error::Post {
        host: host.clone(),
        // The URL may have in it what is nobody's to read.
        source: source.without_url(),
    };
    let client = reqwest::Client::builder()
        .redirect(Policy::none())
        .no_proxy()
        .timeout(DEADLINE)
        .resolve_to_addrs(&host, &addresses)
        .build()
        .map_err(failed)?;
    let mut request = client
        .post(url)
        .header(CONTENT_TYPE, "application/json")
        .header(KEY, key)
        .body(body);
    if let Some(token) = &settings.webhook_token {
        request = request.bearer_auth(token.reveal());
    }
    let status = request.send().await.map_err(failed)?.status();
    if status.is_success() {
        return Ok(());
    }
    let status = status.as_u16();
    Err(Error::Answer { host, status })
}

fn parsed(url: &str) -> Result<Url, Error> {
    let refused = |problem: &str| Error::Refused(format!("the URL {problem}"));
    let url = Url::parse(url).map_err(|error| refused(&format!("is none: {error}")))?;
    if !["http", "https"].contains(&url.scheme()) {
        return Err(refused("must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused(
            "must have no user and no password; cron.webhookToken is for that",
        ));
    }
    if url.host_str().is_none() {
        return Err(refused("has no host"));
    }
    Ok(url)
}

/// The allowed addresses of the host of `url`.
async fn addresses(url: &Url, policy: &WebhookPolicy) -> Result<Vec<SocketAddr>, Error> {
    let host = url.host_str().unwrap_or_default();
    let is_in = |list: &[String]| list.iter().any(|it| it.eq_ignore_ascii_case(host));
    if is_in(&policy.blocked_hostnames) {
        let problem = format!("{host} is in cron.webhookSsrfPolicy.blockedHostnames");
        return Err(Error::Refused(problem));
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().unwrap_or(443);
    let found = lookup_host((bare, port)).await;
    let found: Vec<SocketAddr> = found
        .map_err(|source| Error::Name {
            host: host.to_owned(),
            source,
        })?
        .collect();
    if policy.dangerously_allow_private_network || is_in(&policy.allowed_hostnames) {
        return Ok(found);
    }
    let (public, others): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|it| openclaw_proxy::is_public(it.ip()));
    match (public.is_empty(), others.first()) {
        (false, _) => Ok(public),
        (true, Some(address)) => Err(Error::Refused(own(host, address.ip()))),
        (true, None) => Err(Error::Refused(format!("{host} is nowhere"))),
    }
}

fn own(host: &str, address: IpAddr) -> String {
    format!(
        "{host} is {address}, an address of this machine or its networks; to tell it all the \
         same: openclawctl config set cron.webhookSsrfPolicy.allowedHostnames '[\"{host}\"]'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn allowed(url: &str, policy: &WebhookPolicy) -> Result<(), String> {
        let url = parsed(url).map_err(|error| error.to_string())?;
        let found = addresses(&url, policy).await;
        found.map(drop).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn webhook_leads_to_the_public_internet_alone() {
        let strict = WebhookPolicy::default();
        for url in [
            "http://127.0.0.1:9/x",
            "http://localhost/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://0.0.0.0/",
            "http://10.1.2.3/",
            "http://192.168.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://[fd00:ec2::254]/",
            "http://[fe80::1]/",
            "http://2130706433/",
            "http://0x7f.1/",
        ] {
            let refused = allowed(url, &strict).await.unwrap_err();
            assert!(refused.contains("allowedHostnames"), "{url}: {refused}");
        }
        allowed("https://1.1.1.1/hook", &strict).await.unwrap();
        let named = WebhookPolicy {
            allowed_hostnames: vec!["127.0.0.1".to_owned()],
            ..WebhookPolicy::default()
        };
        allowed("http://127.0.0.1:9/x", &named).await.unwrap();
        allowed("http://10.0.0.1/", &named).await.unwrap_err();
        let blocked = WebhookPolicy {
            blocked_hostnames: vec!["1.1.1.1".to_owned()],
            dangerously_allow_private_network: true,
            ..WebhookPolicy::default()
        };
        allowed("https://1.1.1.1/", &blocked).await.unwrap_err();
        allowed("http://10.0.0.1/", &blocked).await.unwrap();
    }

    #[test]
    fn webhook_is_a_plain_url() {
        for url in [
            "ftp://example.org",
            "https://u:p@example.org/",
            "x",
            "file:///etc/passwd",
        ] {
            parsed(url).unwrap_err();
        }
        parsed("https://example.org/hook?a=b").unwrap();
    }
}
