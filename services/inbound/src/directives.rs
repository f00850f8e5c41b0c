//! What a reply asks for beside its text: buttons and a reaction, as
//! `[[buttons: Yes | No]]` and `[[react:👍]]`. Agents are told of them where the
//! channel can do that (`words`). Code asks for nothing.

use openclaw_proto::outbox::Button;

use crate::code_block::Code;
use crate::decision::saying;

const BUTTONS: &str = "[[buttons:";
const REACTION: &str = "[[react:";
const END: &str = "]]";

/// Buttons of one reply.
const COUNT: usize = 8;
/// Bytes of an emoji; families with skin tones have some 40.
const EMOJI: usize = 64;

/// A reply without what it asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AskedFor {
    /// What stays.
    pub text: String,
    /// Rows of buttons that say what they show.
    pub buttons: Vec<Vec<Button>>,
    /// Empty: none.
    pub reaction: String,
}

/// Takes out of `text` what is asked for. What cannot be done stays in it.
pub fn asked_for(text: &str) -> AskedFor {
    let mut asked = AskedFor::default();
    let mut text = text.to_owned();
    if let Some((rest, emoji)) = without(&text, REACTION)
        && emoji.len() <= EMOJI
        && !emoji.is_empty()
    {
        (text, asked.reaction) = (rest, emoji);
    }
    if let Some((rest, labels)) = without(&text, BUTTONS) {
        let row: Option<Vec<Button>> = labels.split('|').map(saying).collect();
        if let Some(row) = row.filter(|row| row.len() <= COUNT) {
            (text, asked.buttons) = (rest, vec![row]);
        }
    }
    asked.text = text;
    asked
}

/// `text` without the last directive that begins with `mark`, and what that says.
fn without(text: &str, mark: &str) -> Option<(String, String)> {
    let code = Code::of(text);
    let (at, _) = text.rmatch_indices(mark).find(|(at, _)| !code.has(*at))?;
    let (before, rest) = (&text[..at], &text[at + mark.len()..]);
    let (inner, after) = rest.split_once(END)?;
    let joined = format!("{}{after}", before.trim_end_matches([' ', '\t']));
    Some((joined.trim().to_owned(), inner.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_taken_out_of_the_text() {
        let asked = asked_for("Shall I? [[react:👍]]\n\n[[buttons: Yes | No, thank you]]");
        assert_eq!(
            (asked.text.as_str(), asked.reaction.as_str()),
            ("Shall I?", "👍")
        );
        let labels: Vec<_> = asked.buttons[0].iter().map(|it| it.text.as_str()).collect();
        assert_eq!(labels, ["Yes", "No, thank you"]);
        assert_eq!(asked.buttons[0][0].data, "say:Yes");
        assert_eq!(asked_for("[[react:👍]]").text, "");
    }

    #[test]
    fn directives_that_cannot_be_stay_in_the_text() {
        let long = format!("[[buttons: {}]]", "x".repeat(70));
        for text in [
            "Write `[[buttons: Yes | No]]` at the end.",
            "So:\n```\n[[buttons: Yes | No]]\n[[react:👍]]\n```",
            "[[buttons: ]]",
            "[[react:]]",
            "[[buttons: a",
            long.as_str(),
            "plain",
        ] {
            let asked = asked_for(text);
            assert_eq!((asked.text.as_str(), asked.buttons.len()), (text, 0));
            assert_eq!(asked.reaction, "", "{text}");
        }
        let asked = asked_for("As `[[react:👎]]` says: [[react:👍]] `[[react:👎]]`");
        assert_eq!(asked.reaction, "👍");
    }
}
