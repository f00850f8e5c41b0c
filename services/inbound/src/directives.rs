//! What a reply asks for beside its text: buttons and a reaction, as
//! `[[buttons: Yes | No]]` and `[[react:👍]]`. Agents are told of them where the
//! channel can do that (`words`). Code asks for nothing.

use openclaw_proto::outbox::Button;

use crate::code_block::Code;
use crate::decision::saying;

const BUTTONS: &str = "[[buttons:";
const REACTION: &str = "[[react:";
const END: &str = "]]";
/// Which message is answered the channel decides (`replyToMode`): these, which agents know
/// from OpenClaw, are taken out alone.
const ANSWERED: [&str; 2] = ["[[reply_to_current", "[[reply_to:"];

/// Bytes of one directive: all the buttons that there can be.
const DIRECTIVE: usize = 16 * 1024;
/// Buttons of one reply.
const COUNT: usize = 32;
/// Those beside each other.
const BESIDE: usize = 4;
/// Characters that stand beside each other.
const WIDTH: usize = 40;
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
    for mark in ANSWERED {
        text = without(&text, mark, |_| true);
    }
    text = without(&text, REACTION, |emoji| {
        let is_one = !emoji.is_empty() && emoji.len() <= EMOJI;
        if is_one {
            emoji.clone_into(&mut asked.reaction);
        }
        is_one
    });
    text = without(&text, BUTTONS, |labels| {
        let rows = rows(labels);
        let count: usize = asked.buttons.iter().chain(&rows).map(Vec::len).sum();
        let is_fine = !rows.is_empty() && count <= COUNT;
        if is_fine {
            asked.buttons.extend(rows);
        }
        is_fine
    });
    asked.text = text;
    asked
}

/// The rows of `labels`: each line is one, unless it is too wide for that.
fn rows(labels: &str) -> Vec<Vec<Button>> {
    let mut rows = Vec::new();
    for line in labels.lines() {
        let mut row: Vec<Button> = Vec::new();
        let mut width = 0;
        for button in line.split('|').filter_map(saying) {
            let wide = button.text.chars().count();
            if !row.is_empty() && (row.len() == BESIDE || width + wide > WIDTH) {
                rows.push(std::mem::take(&mut row));
                width = 0;
            }
            width += wide;
            row.push(button);
        }
        if !row.is_empty() {
            rows.push(row);
        }
    }
    rows
}

/// `text` without the directives that begin with `mark`, of which `take` is told in their
/// order what they say, and whether it takes them.
fn without(text: &str, mark: &str, mut take: impl FnMut(&str) -> bool) -> String {
    let code = Code::of(text);
    let mut kept = String::new();
    let mut end = 0;
    // Looked for once, and not again from each beginning on: there may be a million of those.
    let mut ends = text.match_indices(END).map(|(at, _)| at).peekable();
    for (at, _) in text.match_indices(mark) {
        let begin = at + mark.len();
        while ends.next_if(|it| *it < begin).is_some() {}
        let Some(after) = ends.peek() else { break };
        let inner = &text[begin..*after];
        if at >= end && inner.len() <= DIRECTIVE && !code.has(at) && take(inner.trim()) {
            kept.push_str(text[end..at].trim_end_matches([' ', '\t']));
            end = after + END.len();
        }
    }
    if end == 0 {
        return text.to_owned();
    }
    kept.push_str(&text[end..]);
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each beginning would be looked at up to the end otherwise, which takes minutes.
    #[test]
    fn directives_that_do_not_end_cost_no_more_than_their_own_length() {
        for mark in [REACTION, BUTTONS, ANSWERED[1]] {
            let open = mark.repeat(400_000);
            assert_eq!(asked_for(&open).text.len(), open.len());
            let asked = asked_for(&format!("{open}]]"));
            assert!(asked.text.len() + 2 * DIRECTIVE > open.len(), "{mark}");
        }
    }

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
        let many = format!("[[buttons: {}]]", "x|".repeat(COUNT + 1));
        for text in [
            "Write `[[buttons: Yes | No]]` at the end.",
            "So:\n```\n[[buttons: Yes | No]]\n[[react:👍]]\n```",
            "[[buttons: ]]",
            "[[react:]]",
            "[[buttons: a",
            many.as_str(),
            "plain",
        ] {
            let asked = asked_for(text);
            assert_eq!((asked.text.as_str(), asked.buttons.len()), (text, 0));
            assert_eq!(asked.reaction, "", "{text}");
        }
        let asked = asked_for("As `[[react:👎]]` says: [[react:👍]] `[[react:👎]]`");
        assert_eq!(asked.reaction, "👍");
    }

    #[test]
    fn directives_of_buttons_may_be_written_in_many_ways() {
        let shown = |text: &str| -> Vec<String> {
            let asked = asked_for(text);
            assert_eq!(asked.text, "So?", "{text}");
            let row = |row: &Vec<Button>| {
                let labels: Vec<_> = row.iter().map(|it| it.text.as_str()).collect();
                labels.join("|")
            };
            asked.buttons.iter().map(row).collect()
        };
        assert_eq!(shown("So? [[buttons: Yes | No |]]"), ["Yes|No"]);
        assert_eq!(shown("So?\n[[buttons:\nYes\nNo\n]]"), ["Yes", "No"]);
        let nine = "So? [[buttons: 1|2|3|4|5|6|7|8|9]]";
        assert_eq!(shown(nine), ["1|2|3|4", "5|6|7|8", "9"]);
        let two = "[[buttons: Yes]] So? [[buttons: No]]";
        assert_eq!(shown(two), ["Yes", "No"]);
        let long = "a label of which a provider would not take the bytes as a button's data";
        assert_eq!(
            shown(&format!("So? [[buttons: {long} | No]]")),
            [long, "No"]
        );
    }

    #[test]
    fn directives_of_openclaw_are_not_shown() {
        for text in [
            "[[reply_to_current]] Yes.",
            "[[reply_to: 12]]Yes.",
            "Yes. [[reply_to_current ]]",
        ] {
            assert_eq!(asked_for(text).text, "Yes.", "{text}");
        }
        let shown = "`[[reply_to_current]]` is a tag";
        assert_eq!(asked_for(shown).text, shown);
    }
}
