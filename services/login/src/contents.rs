//! What a login's file holds, as far as it is known. Only that is kept when the
//! login is adopted.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use openclaw_credentials::login::Login;
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};

/// Bytes of a login's file, which holds some tokens.
pub(crate) const LIMIT: u64 = 64 << 10;
/// Characters of a token or key; the longest are tokens with claims.
const SECRET_LENGTH: usize = 16 << 10;
/// Characters of an account's id.
const ACCOUNT_LENGTH: usize = 128;
/// Bytes of a secret's SHA-256 that are shown: enough to compare, and nothing
/// to find the secret with.
const FINGERPRINT_BYTES: usize = 6;

/// What lets one in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Key,
    Tokens,
}

impl Holds {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Key => "a key",
            Self::Tokens => "tokens of an account",
        }
    }
}

/// A login, read.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) holds: Holds,
    /// The beginning of the SHA-256 of what is sent, in hexadecimal.
    pub(crate) fingerprint: String,
    /// The account's id, as the file says.
    pub(crate) account: Option<String>,
    /// The account's mail address, as the file says.
    pub(crate) mail: Option<String>,
    /// When it ends, in milliseconds since 1970.
    pub(crate) expires_ms: Option<u64>,
    /// What is kept.
    pub(crate) document: Value,
}

/// Reads a login in the form of its CLI, or says what is wrong with it, without
/// a word of what it holds.
pub(crate) fn parse(login: Login, bytes: &[u8]) -> Result<Contents, String> {
    let document: Value = serde_json::from_slice(bytes)
        .map_err(|error| format!("it is no JSON: line {} is wrong", error.line()))?;
    let read = match login {
        Login::Claude => claude(&document),
        Login::Codex => codex(&document),
    };
    read.map_err(|problem| format!("it is no login of {}: {problem}", login.title()))
}

fn claude(document: &Value) -> Result<Contents, String> {
    let account = document.get("claudeAiOauth").and_then(Value::as_object);
    let account = account.ok_or("it has no claudeAiOauth")?;
    let access = secret(account, "accessToken")?.ok_or("it has no accessToken")?;
    let mut kept = Map::new();
    kept.insert("accessToken".to_owned(), json!(access));
    if let Some(refresh) = secret(account, "refreshToken")? {
        kept.insert("refreshToken".to_owned(), json!(refresh));
    }
    let expires_ms = match account.get("expiresAt") {
        None | Some(Value::Null) => None,
        Some(end) => Some(end.as_u64().ok_or("its expiresAt is no time")?),
    };
    kept.extend(expires_ms.map(|end| ("expiresAt".to_owned(), json!(end))));
    Ok(Contents {
        holds: Holds::Tokens,
        fingerprint: fingerprint(access),
        account: None,
        mail: None,
        expires_ms,
        document: json!({ "claudeAiOauth": kept }),
    })
}

fn codex(document: &Value) -> Result<Contents, String> {
    let fields = document.as_object().ok_or("it is no object")?;
    // The CLI takes the key before the tokens, and so do turns.
    if let Some(key) = secret(fields, "OPENAI_API_KEY")? {
        return Ok(Contents {
            holds: Holds::Key,
            fingerprint: fingerprint(key),
            account: None,
            mail: None,
            expires_ms: None,
            document: json!({ "OPENAI_API_KEY": key }),
        });
    }
    let tokens = fields.get("tokens").and_then(Value::as_object);
    let tokens = tokens.ok_or("it has neither a key nor tokens")?;
    let access = secret(tokens, "access_token")?.ok_or("it has no access_token")?;
    let account = account_id(tokens)?;
    let mut kept = Map::new();
    kept.insert("access_token".to_owned(), json!(access));
    if let Some(refresh) = secret(tokens, "refresh_token")? {
        kept.insert("refresh_token".to_owned(), json!(refresh));
    }
    kept.extend(account.map(|id| ("account_id".to_owned(), json!(id))));
    let claim = |token: &str, name: &str| claims(token)?.get(name).cloned();
    let mail = secret(tokens, "id_token")?.and_then(|token| claim(token, "email"));
    let ends = claim(access, "exp").and_then(|end| end.as_u64());
    Ok(Contents {
        holds: Holds::Tokens,
        fingerprint: fingerprint(access),
        account: account.map(str::to_owned),
        mail: mail.and_then(|mail| mail.as_str().map(str::to_owned)),
        expires_ms: ends.map(|end| end.saturating_mul(1000)),
        document: json!({ "tokens": kept }),
    })
}

/// A secret that can be sent in a header: visible ASCII and no space.
fn secret<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text))
            if !text.is_empty()
                && text.len() <= SECRET_LENGTH
                && text.bytes().all(|byte| byte.is_ascii_graphic()) =>
        {
            Ok(Some(text))
        }
        Some(_) => Err(format!("its {name} cannot be one")),
    }
}

fn account_id(tokens: &Map<String, Value>) -> Result<Option<&str>, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    match secret(tokens, "account_id")? {
        Some(id) if id.len() > ACCOUNT_LENGTH || !id.bytes().all(allowed) => {
            Err("its account_id cannot be one".to_owned())
        }
        id => Ok(id),
    }
}

/// What a token says of itself (RFC 7519); nobody has checked it.
fn claims(token: &str) -> Option<Value> {
    let claims = token.split('.').nth(1)?;
    let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?;
    serde_json::from_slice(&claims).ok()
}

fn fingerprint(secret: &str) -> String {
    let hash = digest(&SHA256, secret.as_bytes());
    let shown = hash.as_ref().iter().take(FINGERPRINT_BYTES);
    shown.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(login: Login, document: &Value) -> Result<Contents, String> {
        parse(login, document.to_string().as_bytes())
    }

    #[test]
    fn contents_only_what_is_known_is_kept() {
        let claude = json!({
            "id": "${OPENAI_API_KEY}", "provider": "${OPENAI_API_KEY}",
            "claudeAiOauth": {"accessToken": "at", "refreshToken": "rt", "expiresAt": 5,
                "scopes": ["x"], "subscriptionType": "max"},
        });
        let contents = parsed(Login::Claude, &claude).unwrap();
        let kept = json!({"accessToken": "at", "refreshToken": "rt", "expiresAt": 5});
        assert_eq!(contents.document, json!({"claudeAiOauth": kept}));
        let claims = BASE64_URL_SAFE_NO_PAD.encode(r#"{"exp":7,"email":"me@example.org"}"#);
        let token = format!("h.{claims}.s");
        let codex = json!({
            "OPENAI_API_KEY": null, "last_refresh": "now", "auth_mode": "x",
            "tokens": {"access_token": token, "id_token": token, "account_id": "a-1", "more": 1},
        });
        let contents = parsed(Login::Codex, &codex).unwrap();
        let kept = json!({"access_token": token, "account_id": "a-1"});
        assert_eq!(contents.document, json!({"tokens": kept}));
        assert_eq!(contents.mail.as_deref(), Some("me@example.org"));
        assert_eq!(contents.expires_ms, Some(7000));
    }

    #[test]
    fn contents_what_is_wrong_is_said_without_quoting_it() {
        for (login, document) in [
            (Login::Claude, json!({"id": "hidden"})),
            (
                Login::Claude,
                json!({"claudeAiOauth": {"accessToken": "hid den"}}),
            ),
            (
                Login::Claude,
                json!({"claudeAiOauth": {"accessToken": "hidden", "expiresAt": "hidden"}}),
            ),
            (Login::Codex, json!({"OPENAI_API_KEY": {"hidden": 1}})),
            (
                Login::Codex,
                json!({"tokens": {"access_token": "hidden", "account_id": "hidden\r\nx: y"}}),
            ),
            (Login::Codex, json!(["hidden"])),
        ] {
            let problem = parsed(login, &document).unwrap_err();
            assert!(!problem.contains("hid"), "{problem}");
        }
        let broken = parse(Login::Codex, b"hidden").unwrap_err();
        assert!(!broken.contains("hidden"), "{broken}");
    }
}
