//! What a message is given unasked: no model is called, so it must be clear
//! from the words that a passage is about the same thing.

use openclaw_proto::memory::{Found, Hit, Question, Recall, Recalled};

use crate::store::Store;

/// Looked at, for those that the conversation holds already and those that are
/// too long.
const CANDIDATES: u32 = 8;
/// Of what the message's words weigh, the share that must be in a passage and
/// around it; weights are by rarity, so a name counts more than a verb.
const COVERAGE: f64 = 0.5;
/// A passage may also mean the same in other words: the cosine of the vectors
/// from which on that is likely.
const COSINE: f64 = 0.55;
/// With the cosine alone a part of the words must be there still.
const SOME_COVERAGE: f64 = 0.2;
/// As hits name them.
const SESSIONS: &str = "sessions";
const USER: &str = "user";
/// Characters of the message that are looked for. Long texts are pasted
/// material, and what they are about is said at the beginning.
const TEXT: usize = 2_000;
/// What the place and the frame of a passage cost in a prompt, in tokens.
const FRAME: usize = 24;

/// The question of a message.
pub(crate) fn question(agent_id: String, text: &str) -> Question {
    Question {
        agent_id,
        text: text.chars().take(TEXT).collect(),
        limit: CANDIDATES,
        ..Question::default()
    }
}

/// What of `found` is clearly about the message. Notes come before what was
/// said in passing: somebody thought them worth keeping.
pub(crate) fn select(found: Found, store: &Store) -> Recall {
    let about = found.hits.into_iter().filter(is_about);
    let (said, noted): (Vec<Hit>, Vec<Hit>) = about.partition(|hit| hit.source == SESSIONS);
    let said = said.into_iter().filter(|hit| !is_question(hit));
    let passages = noted.into_iter().chain(said).map(|hit| Recalled {
        tokens: estimate(&hit.snippet) + FRAME,
        hit,
    });
    Recall {
        passages: passages.collect(),
        limit: store.search.recalled as usize,
        tokens: store.search.recalled_tokens as usize,
    }
}

fn is_about(hit: &Hit) -> bool {
    let parts = hit.parts;
    parts.coverage >= COVERAGE || (parts.cosine >= COSINE && parts.coverage >= SOME_COVERAGE)
}

/// The same question, asked before, is what is most like a message and says
/// nothing of the answer.
fn is_question(hit: &Hit) -> bool {
    hit.speaker == USER && hit.snippet.trim_end().ends_with(['?', '？'])
}

/// What a text costs, rather too much than too little: the tokenizer's table
/// takes 20 MB, which a turn is not to cost. A token is a word or three letters
/// of it, a digit, a mark, or a character of a script without blanks.
pub(crate) fn estimate(text: &str) -> usize {
    let (mut tokens, mut letters) = (0, 0usize);
    for character in text.chars() {
        if character.is_ascii_alphabetic() {
            letters += 1;
            continue;
        }
        tokens += letters.div_ceil(3);
        letters = 0;
        tokens += match character {
            ' ' => 0,
            character if character.is_ascii() => 1,
            // Letters of alphabets are merged, others seldom.
            character if character < '\u{2e80}' => 1,
            _ => 2,
        };
    }
    tokens + letters.div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::Tokens;

    #[test]
    fn estimates_are_not_too_low() {
        let tokens = Tokens::load().unwrap();
        for text in [
            "The office router is a Turris Omnia with IP 192.168.77.1.",
            "- 09:05 Decided to use LoRa gateway number 3.\n  See <https://example.org/a?b=c>.",
            "Der Schlüssel liegt unter dem blauen Blumentopf, sagte Großmutter.",
            "鍵は青い植木鉢の下にあります。",
            "Ключ под синим горшком.",
            "{\"a\": [1, 2, 3], \"b\": null}",
            "fn main() { println!(\"{}\", 1 + 2); }",
            "",
        ] {
            let (real, estimated) = (tokens.count(text), estimate(text));
            assert!(estimated >= real, "{estimated} for {real}: {text}");
            assert!(estimated <= 3 * real + 2, "{estimated} for {real}: {text}");
        }
    }
}
