//! What a reply asks for beside its text: buttons and a reaction, as
//! `[[buttons: Yes | No]]` and `[[react:👍]]`. Agents are told of them where the
//! channel can do that (`words`). Code asks for nothing. What is written otherwise than
//! they are told, and is clear, is taken.

use openclaw_proto::outbox::Button;

use crate::code_block::Code;
use crate::decision::saying;

const BUTTONS: &str = "[[buttons:";
const REACTION: &str = "[[react:";
/// What it answers, in OpenClaw's words; that is configured here.
const REPLY: [&str; 2] = ["[[reply_to_current", "[[reply_to:"];
const END: &str = "]]";

/// Buttons of one row.
const ROW: usize = 8;
/// Buttons of one reply, as many as providers take.
const COUNT: usize = 100;
/// What begins an entry of a list.
const BULLETS: [&str; 3] = ["- ", "* ", "• "];
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
    let [current, other] = REPLY;
    let text = without(text, current, str::is_empty);
    let text = without(&text, other, |id| !id.is_empty());
    let text = without(&text, REACTION, |emoji| {
        let can_be = !emoji.is_empty() && emoji.len() <= EMOJI;
        if can_be {
            // The last one holds.
            emoji.clone_into(&mut asked.reaction);
        }
        can_be
    });
    let mut labels: Vec<Vec<String>> = Vec::new();
    asked.text = without(&text, BUTTONS, |inner| {
        let rows = rows(inner);
        let can_be = !rows.is_empty();
        labels.extend(rows);
        can_be
    });
    asked.add_buttons(&labels);
    asked
}

impl AskedFor {
    /// Adds buttons with these labels. What does not fit is said in the text.
    fn add_buttons(&mut self, labels: &[Vec<String>]) {
        let mut unsaid = Vec::new();
        let mut left = COUNT;
        for labels in labels.iter().flat_map(|row| row.chunks(ROW)) {
            let mut row = Vec::new();
            for label in labels {
                let button = saying(label).filter(|_| left > 0);
                if button.as_ref().is_none_or(|it| it.text != *label) {
                    unsaid.push(format!("- {label}"));
                }
                left -= usize::from(button.is_some());
                row.extend(button);
            }
            if !row.is_empty() {
                self.buttons.push(row);
            }
        }
        if !unsaid.is_empty() {
            let text = format!("{}\n\n{}", self.text, unsaid.join("\n"));
            self.text = text.trim().to_owned();
        }
    }
}

/// The labels that `inner` says: between bars, and a row on each line.
fn rows(inner: &str) -> Vec<Vec<String>> {
    let labels = |line: &str| -> Vec<String> {
        let line = line.trim();
        let entry = BULLETS.iter().find_map(|it| line.strip_prefix(it));
        let labels = entry.unwrap_or(line).split('|').map(str::trim);
        let labels = labels.filter(|label| !label.is_empty());
        labels.map(str::to_owned).collect()
    };
    let rows = inner.lines().map(labels);
    rows.filter(|row| !row.is_empty()).collect()
}

/// `text` without the directives that begin with `mark` and that `take` takes, which is
/// given what each says.
fn without(text: &str, mark: &str, mut take: impl FnMut(&str) -> bool) -> String {
    let code = Code::of(text);
    let mut kept = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices(mark) {
        let begin = at + mark.len();
        let Some(length) = text[begin..].find(END) else {
            break;
        };
        let inner = &text[begin..begin + length];
        // One that nothing ends goes on into the next.
        if at < from || code.has(at) || inner.contains("[[") || !take(inner.trim()) {
            continue;
        }
        let before = text[from..at].trim_end_matches([' ', '\t']);
        kept.push_str(before);
        from = begin + length + END.len();
        let is_word = |it: Option<char>| it.is_some_and(|it| !it.is_whitespace());
        if is_word(kept.chars().next_back()) && is_word(text[from..].chars().next()) {
            kept.push(' ');
        }
    }
    if from == 0 {
        return text.to_owned();
    }
    kept.push_str(&text[from..]);
    kept.trim().to_owned()
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
        for text in [
            "Write `[[buttons: Yes | No]]` at the end.",
            "So:\n```\n[[buttons: Yes | No]]\n[[react:👍]]\n```",
            "[[buttons: ]]",
            "[[react:]]",
            "[[buttons: a",
            "[[reply_to_currently]]",
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
    fn buttons_are_read_however_they_are_written() {
        let labels = |text: &str| -> Vec<Vec<String>> {
            let asked = asked_for(text);
            assert_eq!(asked.text, "Which?", "{text}");
            let row = |row: &Vec<Button>| row.iter().map(|it| it.text.clone()).collect();
            asked.buttons.iter().map(row).collect()
        };
        assert_eq!(labels("Which? [[buttons: A | B | ]]"), [["A", "B"]]);
        for text in [
            "Which?\n[[buttons:\nA\nB\n]]",
            "Which?\n[[buttons:\n- A\n- B]]",
            "[[buttons: A]] Which?\n[[buttons: B]]",
        ] {
            assert_eq!(labels(text), [["A"], ["B"]], "{text}");
        }
        let nine = labels("Which? [[buttons: 1|2|3|4|5|6|7|8|9]]");
        assert_eq!((nine[0].len(), nine[1].len()), (8, 1));
    }

    #[test]
    fn label_that_is_too_long_is_whole_in_the_text() {
        let long = "ä".repeat(70);
        let asked = asked_for(&format!("Which? [[buttons: No | {long}]]"));
        assert_eq!(asked.text, format!("Which?\n\n- {long}"));
        let button = &asked.buttons[0][1];
        assert!(button.text.ends_with("ä…") && button.data.len() <= 64);
        assert_eq!(button.data, format!("say:{}", button.text));
        let many = "a|".repeat(COUNT + 1);
        let asked = asked_for(&format!("[[buttons: {many}]]"));
        assert_eq!(asked.buttons.iter().map(Vec::len).sum::<usize>(), COUNT);
        assert_eq!(asked.text, "- a");
    }

    #[test]
    fn words_about_what_is_answered_are_no_text() {
        for text in [
            "[[reply_to_current]] Hello",
            "[[reply_to_current]]\nHello",
            "Hello [[reply_to: 12]]",
        ] {
            assert_eq!(asked_for(text).text, "Hello", "{text}");
        }
        assert_eq!(asked_for("a [[react:👍]]b").text, "a b");
        let shown = "Say `[[reply_to_current]]`.";
        assert_eq!(asked_for(shown).text, shown);
    }
}
