//! Replies that say that there is nothing to say, as in OpenClaw: they are in
//! the transcript, and nobody is told.

/// A whole reply that says nothing.
pub const NO_REPLY: &str = "NO_REPLY";

/// What an agent that was woken answers when nobody needs to hear of it, as in
/// OpenClaw.
pub const HEARTBEAT_OK: &str = "HEARTBEAT_OK";

/// Why a model stopped that had nothing to say.
pub const STOP_REASON: &str = "silent";

/// Whether a whole reply says nothing: the token alone, also more than once or
/// with punctuation around it.
pub fn is_silent(text: &str) -> bool {
    let mut words = bare(text).split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| word.eq_ignore_ascii_case(NO_REPLY))
}

/// Whether nobody needs to hear of a whole reply.
pub fn is_for_nobody(text: &str) -> bool {
    is_silent(text) || text.trim() == HEARTBEAT_OK
}

/// What may be shown of a reply of which `text` came so far: nothing as long as it may
/// turn out to say nothing, and no line that is the token or may become it.
pub fn shown(text: &str) -> &str {
    if may_be_silent(text) || HEARTBEAT_OK.starts_with(text.trim()) {
        return "";
    }
    let told = without_token(text).trim_end();
    match told.rsplit_once('\n') {
        // Only marks around it are no beginning: they may end a block of code.
        Some((before, last)) if may_be_silent(last) && !bare(last).is_empty() => before.trim_end(),
        _ => told,
    }
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
    let text = bare(text);
    // Asked with each piece of a reply that comes, which may be megabytes without a space.
    let longest = text.chars().rev().take(NO_REPLY.len() + 1);
    let last = longest.take_while(|letter| !letter.is_whitespace());
    let (whole, last) = text.split_at(text.len() - last.map(char::len_utf8).sum::<usize>());
    let begins = NO_REPLY.get(..last.len());
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
    fn silence_nothing_of_a_token_is_shown_while_it_comes() {
        for whole in ["**NO_REPLY**", "NO_REPLY\nNO_REPLY", "HEARTBEAT_OK\n"] {
            for (end, _) in whole.char_indices() {
                assert_eq!(shown(&whole[..end]), "", "{:?}", &whole[..end]);
            }
            assert!(is_for_nobody(whole));
        }
        assert!(!is_for_nobody("HEARTBEAT_OK, so far") && !is_for_nobody(""));
        let before = "NO_REPLY\nIt rains.";
        let whole = format!("{before}\n\nNO_REPLY\n");
        for (end, _) in whole.char_indices().skip(before.len()) {
            assert_eq!(shown(&whole[..end]), "It rains.", "{:?}", &whole[..end]);
        }
        for whole in ["It rains.\nNO_REPLY may do", "It is so:\n```\na\n```"] {
            assert_eq!(shown(whole), whole);
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
