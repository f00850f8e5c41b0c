//! Words in a line of a transcript: in the texts of its JSON, as they stand in it. A line may be
//! of tens of megabytes, so that nothing is kept of it but where the search is.

use std::collections::VecDeque;
use std::ops::Range;

use crate::literals::{Key, Literal, Literals};
use crate::text::Text;
use crate::words::{Search, Words};

/// Where the words are in a line.
#[derive(Debug)]
pub struct Match {
    range: Range<usize>,
    /// The text that they are in.
    text: Range<usize>,
    key: Key,
}

/// Where a search in a line is. What it has left behind may be changed meanwhile.
#[derive(Debug)]
struct Scan {
    /// None: the line is taken as text.
    literals: Option<Literals>,
    text: Option<(Literal, Search)>,
    /// Words that begin here or later are not of this part.
    until: usize,
    /// Where the last words ended.
    end: usize,
}

impl Scan {
    /// Of the part `part` of `line`. Only a whole line can be JSON; what is none, is text.
    fn new(line: &[u8], part: &Range<usize>) -> Self {
        let is_line = *part == (0..line.len());
        let is_json = is_line && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
        let whole = || Literal {
            range: 0..line.len(),
            key: Key::Other,
            is_said: true,
        };
        let text = (!is_json).then(|| (whole(), Search::from(Text::plain(line), part.start)));
        Self {
            literals: is_json.then(Literals::default),
            text,
            until: part.end,
            end: part.end,
        }
    }

    fn next(&mut self, line: &[u8], words: &Words) -> Option<Match> {
        loop {
            if let Some((literal, search)) = &mut self.text {
                let text = text_of(line, &literal.range, self.literals.is_some());
                let found = words.next(text, search);
                if let Some(found) = found.filter(|found| found.start < self.until) {
                    self.end = found.end.max(self.until);
                    return Some(Match {
                        range: found,
                        text: literal.range.clone(),
                        key: literal.key,
                    });
                }
            }
            self.text = None;
            let literal = self.literals.as_mut()?.next(line)?;
            if !literal.is_structure() {
                let search = Search::at(literal.range.start);
                self.text = Some((literal, search));
            }
        }
    }
}

/// The words in a line, one after the other.
#[derive(Debug)]
pub struct Matches<'a> {
    line: &'a [u8],
    words: &'a Words,
    scan: Scan,
}

impl Matches<'_> {
    /// Where the part ends: behind the last words that began in it.
    pub fn end(&self) -> usize {
        self.scan.end
    }
}

impl Iterator for Matches<'_> {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        self.scan.next(self.line, self.words)
    }
}

/// Where the words are in `line`. What is no JSON is taken as text.
pub fn found<'a>(line: &'a [u8], words: &'a Words) -> Matches<'a> {
    found_in(line, 0..line.len(), words)
}

/// Those that begin in `part` of `line`, a line that is too long to be had whole: what is
/// before the part and behind it says only where words begin and end.
pub(crate) fn found_in<'a>(line: &'a [u8], part: Range<usize>, words: &'a Words) -> Matches<'a> {
    let scan = Scan::new(line, &part);
    Matches { line, words, scan }
}

/// Puts stars in the place of the words; how often they were there.
pub fn cover(line: &mut [u8], words: &Words) -> usize {
    let all = 0..line.len();
    cover_in(line, all, words).0
}

/// Puts stars in the place of those that begin in `part`; how often they were there, and where
/// the part ends: behind the last of them.
pub(crate) fn cover_in(line: &mut [u8], part: Range<usize>, words: &Words) -> (usize, usize) {
    let mut scan = Scan::new(line, &part);
    let (mut count, mut was_signed) = (0, false);
    while let Some(found) = scan.next(line, words) {
        line[found.range].fill(b'*');
        was_signed |= found.key == Key::Signed;
        count += 1;
    }
    if was_signed {
        take_signatures(line);
    }
    (count, scan.end)
}

fn take_signatures(line: &mut [u8]) {
    let mut literals = Literals::default();
    while let Some(literal) = literals.next(line) {
        if literal.key == Key::Signature {
            line[literal.range].fill(b' ');
        }
    }
}

/// The characters around what was found, in one line.
pub fn around(line: &[u8], found: &Match, characters: usize) -> String {
    let is_json = found.text != (0..line.len());
    let text = text_of(line, &found.text, is_json);
    let mut shown = VecDeque::new();
    let mut left = characters;
    for (at, c) in text.from(found.text.start) {
        let is_before = at < found.range.start;
        if is_before && shown.len() == characters {
            shown.pop_front();
        }
        if at >= found.range.end {
            let Some(less) = left.checked_sub(1) else {
                break;
            };
            left = less;
        }
        // Between words there may be more white space than anybody would show.
        let is_more = |last: &char| last.is_whitespace() && c.is_whitespace();
        if is_before || !shown.back().is_some_and(is_more) {
            shown.push_back(c);
        }
    }
    let shown: String = shown.into_iter().collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text_of<'a>(line: &'a [u8], range: &Range<usize>, is_json: bool) -> Text<'a> {
    let bytes = &line[..range.end];
    if is_json {
        Text::escaped(bytes)
    } else {
        Text::plain(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn covered(line: &str, words: &str) -> (String, usize) {
        let mut bytes = line.as_bytes().to_vec();
        let count = cover(&mut bytes, &Words::new(words).unwrap());
        (String::from_utf8(bytes).unwrap(), count)
    }

    #[test]
    fn line_keeps_what_an_entry_is() {
        let line = r#"{"type":"message","id":"user","message":{"role":"user","content":[{"type":"text","text":"the user said user"}]}}"#;
        let (after, count) = covered(line, "user");
        assert_eq!(count, 2);
        assert_eq!(
            after,
            line.replace("the user said user", "the **** said ****")
        );
    }

    #[test]
    fn line_of_a_tool_call_is_covered_whatever_its_arguments_are_called() {
        let line = r#"{"content":[{"type":"toolCall","name":"write","arguments":{"name":"Ann Example","rows":[{"id":"Ann Example"}]}}]}"#;
        let (after, count) = covered(line, "ann example");
        assert_eq!(count, 2);
        assert!(!after.contains("Ann"), "{after}");
        assert!(after.contains(r#""name":"write""#), "{after}");
    }

    #[test]
    fn line_that_names_the_session_is_covered() {
        let line = r#"{"type":"session_info","id":"a","name":"the blue talk"}"#;
        assert_eq!(
            covered(line, "blue talk").0,
            line.replace("blue talk", "*********")
        );
    }

    #[test]
    fn line_with_escapes_is_covered_in_place() {
        let line = r#"{"text":"caf\u00e9\nnoir, \ud83d\ude00 CAFÉ  noir and \"café noir\""}"#;
        let (after, count) = covered(line, "café noir");
        assert_eq!(count, 3);
        assert_eq!(after.len(), line.len());
        let value: Value = serde_json::from_str(&after).unwrap();
        assert!(
            !value["text"]
                .as_str()
                .unwrap()
                .to_lowercase()
                .contains("noir")
        );
        assert!(value["text"].as_str().unwrap().contains('😀'));
    }

    #[test]
    fn line_of_signed_thinking_loses_its_signature() {
        let line = r#"{"content":[{"type":"thinking","thinking":"the secret is 4711","thinkingSignature":"abc"}]}"#;
        let (after, _) = covered(line, "secret");
        assert!(after.contains(r#""thinkingSignature":"   ""#), "{after}");
        let (same, count) = covered(line, "nothing");
        assert_eq!((same.as_str(), count), (line, 0));
    }

    #[test]
    fn line_that_is_no_json_is_text() {
        assert_eq!(
            covered(r#"{"text":"the secr"#, "the secr").0,
            r#"{"text":"********"#
        );
    }

    #[test]
    fn line_is_shown_around_the_words() {
        let line = br#"{"text":"before the blue\nflowerpot after"}"#;
        let words = Words::new("blue flowerpot").unwrap();
        let at = found(line, &words).next().unwrap();
        assert_eq!(around(line, &at, 4), "the blue flowerpot aft");
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            "[a-zé \\\\\"\n😀]{0,12}".prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-z]{1,9}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn line_stays_json_of_the_same_length_without_the_words(value in value(), at in "[a-z]{3}") {
            let line = json!({"said": value, "text": format!("x {at} y")}).to_string();
            let (after, count) = covered(&line, &at);
            prop_assert!(count >= 1);
            prop_assert_eq!(after.len(), line.len());
            prop_assert!(serde_json::from_str::<Value>(&after).is_ok());
            prop_assert_eq!(found(after.as_bytes(), &Words::new(&at).unwrap()).count(), 0);
        }
    }
}
