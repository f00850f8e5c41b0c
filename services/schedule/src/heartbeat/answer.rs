//! What an agent that was looked after has to say.

use openclaw_sessions::silence::{self, HEARTBEAT_OK as OK};

/// What somebody is to hear of an answer; None: nothing. With the token at its
/// beginning or its end, up to `most` characters beside it say nothing either.
pub(super) fn words(text: &str, most: usize) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || silence::is_silent(text) {
        return None;
    }
    let is_around =
        |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '~' | '.' | '!' | ':' | '-');
    let rest = text
        .trim_start_matches(is_around)
        .strip_prefix(OK)
        .filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        .map(|rest| rest.trim_start_matches(is_around))
        .or_else(|| {
            let before = text.trim_end_matches(is_around).strip_suffix(OK)?;
            let is_whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            is_whole.then(|| before.trim_end_matches(is_around))
        });
    match rest {
        None => Some(text.to_owned()),
        Some(rest) if rest.trim().chars().count() <= most => None,
        Some(rest) => Some(rest.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_none_where_nothing_is_to_be_heard() {
        for silent in [
            "",
            " ",
            "HEARTBEAT_OK",
            "**HEARTBEAT_OK**",
            "HEARTBEAT_OK.",
            "NO_REPLY",
            "HEARTBEAT_OK All is well.",
            "All is well. HEARTBEAT_OK",
        ] {
            assert_eq!(words(silent, 300), None, "{silent:?}");
        }
    }

    #[test]
    fn words_are_told_without_the_token() {
        let long = "The disk is full. ".repeat(20);
        let expected = Some(long.trim().to_owned());
        assert_eq!(words(&format!("HEARTBEAT_OK {long}"), 300), expected);
        assert_eq!(words("x HEARTBEAT_OK", 0), Some("x".to_owned()));
        for said in [
            "The disk is full.",
            "I say HEARTBEAT_OK sometimes",
            "HEARTBEAT_OKAY",
        ] {
            assert_eq!(words(said, 300), Some(said.to_owned()), "{said}");
        }
    }
}
