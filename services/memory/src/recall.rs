//! What a message is given unasked: what answers it, as far as its words tell.

use openclaw_proto::memory::{Hit, Question, Recall, Recalled};
use openclaw_proto::wire::memory::RecallRequest;

use crate::question::Recollection;
use crate::store::Store;

/// Looked at, for those that the conversation holds already and those that are
/// too long.
const CANDIDATES: u32 = 8;
/// Characters of the message that are looked for. Long texts are pasted
/// material, and what they are about is said at the beginning.
const TEXT: usize = 2_000;
/// What the place and the frame of a passage cost in a prompt, in tokens.
const FRAME: usize = 24;

/// The question of a message.
pub(crate) fn question(request: RecallRequest) -> Question {
    Question {
        agent_id: request.agent_id,
        text: request.text.chars().take(TEXT).collect(),
        limit: CANDIDATES,
        shared: request.shared,
        isolated: request.isolated,
        session_id: request.session_id,
        ..Question::default()
    }
}

/// What was found to answer, with what it costs.
pub(crate) fn priced(recollection: Recollection, store: &Store) -> Recall {
    let passage = |hit: Hit| Recalled {
        tokens: estimate(&hit.snippet) + FRAME,
        hit,
    };
    let all = |hits: Vec<Hit>| hits.into_iter().map(passage).collect();
    let Recollection { found, beside } = recollection;
    Recall {
        partial: found.partial,
        passages: all(found.hits),
        beside: all(beside),
        limit: store.search.recalled as usize,
        tokens: store.search.recalled_tokens as usize,
    }
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
