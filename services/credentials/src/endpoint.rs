//! Where the provider of a login gives new tokens for it.

/// How much earlier than the provider says OpenClaw has a token of Anthropic's
/// end.
const ANTHROPIC_SKEW_MS: u64 = 5 * 60 * 1000;

/// The body of a request for new tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A JSON object.
    Json,
    /// As RFC 6749 has it: `application/x-www-form-urlencoded`.
    Fields,
}

/// Who gives new tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The token endpoint (RFC 6749, 3.2).
    pub url: String,
    /// The program that the login was made with, as the provider knows it.
    pub client_id: String,
    /// The form of the request.
    pub form: Form,
    /// How much before the end that the provider names a token counts as ended.
    pub skew_ms: u64,
}

impl Endpoint {
    /// The endpoint of a provider's logins, as OpenClaw's own files have it.
    pub(crate) fn known(provider: &str) -> Option<Self> {
        let (url, client_id, form, skew_ms) = match provider {
            "anthropic" => (
                "https://platform.claude.com/v1/oauth/token",
                "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
                Form::Json,
                ANTHROPIC_SKEW_MS,
            ),
            "openai" | "openai-codex" => (
                "https://auth.openai.com/oauth/token",
                "app_EMoamEEZ73f0CkXaXp7hrann",
                Form::Fields,
                0,
            ),
            _ => return None,
        };
        Some(Self {
            url: url.to_owned(),
            client_id: client_id.to_owned(),
            form,
            skew_ms,
        })
    }

    /// What the profile itself says (`tokenUrl`, `clientId`), else what is known
    /// of its provider. A refresh token goes over TLS, or stays on this machine.
    pub(crate) fn of(
        provider: &str,
        url: Option<String>,
        client_id: Option<String>,
    ) -> Option<Self> {
        let known = Self::known(provider);
        let Some(url) = url else {
            return Some(Self {
                client_id: client_id.or(known.as_ref().map(|it| it.client_id.clone()))?,
                ..known?
            });
        };
        let is_private = url.starts_with("https://") || is_loopback(&url);
        is_private.then_some(())?;
        let (form, skew_ms) = known
            .as_ref()
            .map_or((Form::Fields, 0), |known| (known.form, known.skew_ms));
        Some(Self {
            url,
            client_id: client_id.or(known.map(|known| known.client_id))?,
            form,
            skew_ms,
        })
    }
}

fn is_loopback(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = |port: &str| port.chars().all(|c| c.is_ascii_digit());
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| {
        let after = authority.strip_prefix(host);
        after.is_some_and(|after| after.is_empty() || after.strip_prefix(':').is_some_and(is_port))
    })
}
