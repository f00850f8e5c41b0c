//! Texts that hold a secret whatever their key is called: addresses with a password
//! or a key in them.

use super::is_reference;

/// Parameters of an address that are secrets (OpenClaw's `isSensitiveUrlQueryParamName`).
const PARAMETERS: [&str; 8] = [
    "auth",
    "authorization",
    "code",
    "jwt",
    "pass",
    "passwd",
    "session",
    "sig",
];

/// Ends of names of parameters that are secrets.
const ENDS: [&str; 7] = [
    "credential",
    "guid",
    "key",
    "password",
    "secret",
    "signature",
    "token",
];

/// What an address has before the token of a bot of Telegram.
const BOT: &str = "/bot";

/// Whether a text has an address with a secret in it. References to variables are none.
pub(super) fn has_secret_url(text: &str) -> bool {
    let words = text.split(|c: char| c.is_whitespace() || "\"'<>".contains(c));
    words
        .filter_map(|word| word.split_once("://"))
        .any(|(_, rest)| is_secret_url(rest))
}

fn is_secret_url(rest: &str) -> bool {
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    let is_open = |user: &str| {
        let password = user.split_once(':').map_or(user, |(_, password)| password);
        is_said(password)
    };
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let is_bot = path.split_once(BOT).is_some_and(|(_, token)| {
        let digits = token.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        digits > 5 && token[digits..].starts_with([':', '%'])
    });
    let parameters = rest.split(['?', '&', '#', ';']).skip(1);
    let mut parameters = parameters.filter_map(|it| it.split_once('='));
    user.is_some_and(is_open)
        || is_bot
        || parameters.any(|(name, value)| is_secret_parameter(name) && is_said(value))
}

/// Names that are written with percent signs hide what they are.
fn is_secret_parameter(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains('%') || PARAMETERS.contains(&name.as_str()) || ends(&name)
}

fn ends(name: &str) -> bool {
    ENDS.iter().any(|end| name.ends_with(end))
}

pub(super) fn is_said(text: &str) -> bool {
    !text.is_empty() && !is_reference(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_secrets_are_told() {
        for (text, is_secret) in [
            ("https://me:word@example.org/x", true),
            ("https://word@example.org", true),
            ("socks5://u:p@127.0.0.1:1080", true),
            ("see https://a.b/x?api-key=1 there", true),
            ("https://a.b/x?a=1&access_token=2", true),
            ("https://a.b/x?guid=2", true),
            ("https://a.b/x#id_token=2", true),
            ("https://a.b/x?SIG=2", true),
            ("https://a.b/x?%6bey=2", true),
            ("https://api.telegram.org/bot123456:AAAA/x", true),
            ("https://me:${WORD}@example.org/x", false),
            ("https://a.b/x?key=${KEY}", false),
            ("https://a.b/x?key=", false),
            ("https://a.b/x?page=2", false),
            ("https://a.b/a@b", false),
            ("https://a.b/bottom/bot12", false),
            ("me@example.org", false),
            ("key=5", false),
        ] {
            assert_eq!(has_secret_url(text), is_secret, "{text}");
        }
    }
}
