//! Replies that say that there is nothing to say, as in OpenClaw: they are in
//! the transcript, and nobody is told.

/// A whole reply that says nothing.
pub const NO_REPLY: &str = "NO_REPLY";

/// Why a model stopped that had nothing to say.
pub const STOP_REASON: &str = "silent";

/// Whether a whole reply says nothing: the token alone, also more than once or
/// with punctuation around it.
pub fn is_silent(text: &str) -> bool {
    let mut words = bare(text).split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| word.eq_ignore_ascii_case(NO_REPLY))
}

/// `text` without the token on its first and its last lines, where it says something else:
/// that is told, and the token is nobody's.
pub fn without_token(text: &str) -> &str {
    if is_silent(text) {
        return text;
    }
    let mut rest = text.trim();
    while let Some((_, after)) = rest.split_once('\n').filter(|(line, _)| is_silent(line)) {
        rest = after.trim_start();
    }
    while let Some((before, _)) = rest.rsplit_once('\n').filter(|(_, line)| is_silent(line)) {
        rest = before.trim_end();
    }
    if rest.len() == text.trim().len() {
        text
    } else {
        rest
    }
}

/// Why a model stopped, in OpenClaw's words, which have none for silence.
pub fn told(stop_reason: &str) -> &str {
    match stop_reason {
        STOP_REASON => "stop",
        other => other,
    }
}

/// Whether a reply that begins with `text` may turn out to say nothing.
pub fn may_be_silent(text: &str) -> bool {
    let last = bare(text).split_whitespace().last().unwrap_or_default();
    let begins = NO_REPLY.get(..last.len());
    let whole = bare(text).strip_suffix(last).unwrap_or_default();
    begins.is_some_and(|begins| begins.eq_ignore_ascii_case(last))
        && (whole.trim().is_empty() || is_silent(whole))
}

/// The text without spaces and punctuation around it. What may be the middle of
/// the token is none.
fn bare(text: &str) -> &str {
    let is_around = |c: char| c.is_whitespace() || (c.is_ascii_punctuation() && c != '_');
    text.trim_matches(is_around)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_the_token_and_nothing_else() {
        for silent in [
            "NO_REPLY",
            " no_reply\n",
            "**NO_REPLY**",
            "NO_REPLY NO_REPLY.",
        ] {
            assert!(is_silent(silent), "{silent:?}");
        }
        for said in [
            "",
            "...",
            "NO_REPLY, really",
            "I say NO_REPLY",
            "NO_REPLYING",
            "NO",
        ] {
            assert!(!is_silent(said), "{said:?}");
        }
    }

    #[test]
    fn silence_is_seen_in_any_piece_of_the_token() {
        let whole = " **NO_REPLY** NO_REPLY.\n";
        for (end, _) in whole.char_indices().skip(1) {
            assert!(may_be_silent(&whole[..end]), "{:?}", &whole[..end]);
        }
        for said in ["Not", "NO, ", "NO way", "NO_REPLY to", "Hello"] {
            let said = format!("{said}x");
            assert!(!may_be_silent(&said), "{said:?}");
        }
    }

    #[test]
    fn token_beside_words_is_not_told() {
        for text in [
            "NO_REPLY\n\nIt rains.",
            "**NO_REPLY**\nIt rains.\n",
            "It rains.\n\nno_reply",
            "It rains.\n\nno_reply\n",
            "NO_REPLY\nNO_REPLY\nIt rains.\nNO_REPLY",
        ] {
            assert_eq!(without_token(text), "It rains.", "{text:?}");
        }
        for text in [
            "NO_REPLY",
            " I say NO_REPLY \n",
            "a\nNO_REPLY\nb",
            "NO_REPLY is a token",
            "No NO_REPLY",
            "",
        ] {
            assert_eq!(without_token(text), text);
        }
    }
}
