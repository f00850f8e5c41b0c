//! Documents are cut into parts, and parts into units.
//!
//! A *unit* is what is found: a passage of a text, or a message. A *part* is
//! what is indexed or forgotten at once: a run of units whose boundaries depend
//! on what is around them only, so that a change leaves the other parts as they
//! are. It is also the highest level of scores, above the unit and its
//! neighbours.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::document::{Body, Document, Kind, Message};
use openclaw_analysis::{self as analysis, Language};
use openclaw_passages as passages;

/// Roles are nobody's names: "which user said" does not ask for half of all
/// messages.
const ROLES: [&str; 5] = ["user", "assistant", "system", "tool", "toolresult"];

/// The most units of a part: of what is indexed anew when a message is added.
const UNITS: usize = 64;
/// One passage in so many ends a part, of those that are large or before a
/// heading; which ones, only their text decides, so that parts find back to
/// their boundaries behind a change.
const PASSAGES_MEAN: u64 = 8;
/// The same of small ones, which are better left with their neighbours.
const SMALL_MEAN: u64 = 32;
/// Passages from this size on are large, in tokens: they are understood alone.
const LARGE: usize = 100;
/// A silence that ends a part of a conversation: what comes after a few hours
/// is mostly about something else. In milliseconds.
const SILENCE_MS: i64 = 4 * 3_600_000;
/// The role of who answers.
const ASSISTANT: &str = "assistant";
/// Longer messages are cut into passages; in bytes, about 800 tokens.
const MESSAGE: usize = 3200;
/// Changes whenever the same document makes other terms, so that everything is
/// indexed anew; a step of the database's schema has all documents put again
/// then.
pub(crate) const ANALYSIS: u64 = 6;

/// What is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) text: String,
    /// What is searched with it and not shown: headings, the file's topic.
    pub(crate) context: String,
    pub(crate) kind: Kind,
    /// Empty when nobody is known.
    pub(crate) speaker: String,
    /// The message's id.
    pub(crate) message: Option<String>,
    /// Unix milliseconds; None: as the document.
    pub(crate) timestamp_ms: Option<i64>,
    /// First line, counted from the part's.
    pub(crate) line: u32,
    /// Last line, counted from the part's.
    pub(crate) last_line: u32,
}

/// What is indexed at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) units: Vec<Unit>,
    /// Its first line in the document, counted from 1; 0 when there is none.
    pub(crate) line: u32,
    pub(crate) language: Language,
    /// Whether a unit is understood with its neighbours, as in a conversation.
    pub(crate) flows: bool,
    /// Of everything that is indexed, and of nothing else.
    pub(crate) hash: u128,
}

impl Part {
    /// The text of a unit as a model is to understand it: under its headings, or
    /// after the name of who says it.
    pub(crate) fn meaning(&self, unit: usize) -> Option<String> {
        let unit = self.units.get(unit)?;
        let mut text = String::new();
        if !unit.context.is_empty() {
            text.push_str(&unit.context);
            text.push('\n');
        }
        if is_name(&unit.speaker) {
            text.push_str(&unit.speaker);
            text.push_str(": ");
        }
        text.push_str(&unit.text);
        Some(text)
    }

    /// The text of a unit with its neighbours; None where it is understood
    /// alone.
    pub(crate) fn window_meaning(&self, unit: usize) -> Option<String> {
        if !self.flows || self.units.len() < 2 {
            return None;
        }
        let near = unit.saturating_sub(1)..=unit + 1;
        let texts: Vec<String> = near.filter_map(|unit| self.meaning(unit)).collect();
        Some(texts.join("\n"))
    }
}

/// The parts of `document`, in order.
pub(crate) fn parts(document: &Document) -> Vec<Part> {
    match &document.body {
        Body::Text(text) => of_text(text, &document.topic, document.day_ms),
        Body::Messages(messages) => of_messages(messages),
    }
}

fn of_text(text: &str, topic: &str, day_ms: Option<i64>) -> Vec<Part> {
    let language = analysis::language_of(text);
    let mut parts = Vec::new();
    let mut open: Vec<Unit> = Vec::new();
    let mut size = 0;
    let mut passages = passages::cut(text).into_iter().peekable();
    while let Some(passage) = passages.next() {
        let shown = &text[passage.range];
        let mut context = passage.context;
        context.push(topic.to_owned());
        let line = narrow(passage.line);
        open.push(Unit {
            text: shown.to_owned(),
            context: context.join("\n").trim_end().to_owned(),
            kind: Kind::Note,
            speaker: String::new(),
            message: None,
            timestamp_ms: None,
            line,
            last_line: line + narrow(shown.matches('\n').count()),
        });
        size += passage.tokens;
        let ends = passages.peek().is_none_or(|next| next.begins);
        let mean = if ends || passage.tokens >= LARGE {
            PASSAGES_MEAN
        } else {
            SMALL_MEAN
        };
        if open.len() == UNITS || xxh3_64(shown.as_bytes()).is_multiple_of(mean) {
            let flows = size < LARGE * open.len();
            parts.push(close(&mut open, language, flows, day_ms));
            size = 0;
        }
    }
    if !open.is_empty() {
        let flows = size < LARGE * open.len();
        parts.push(close(&mut open, language, flows, day_ms));
    }
    parts
}

fn of_messages(messages: &[Message]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut open: Vec<Unit> = Vec::new();
    for message in messages {
        let units = of_message(message);
        let silence = |last: &Unit| {
            let last = last.timestamp_ms.unwrap_or(message.timestamp_ms);
            message.timestamp_ms.saturating_sub(last) >= SILENCE_MS
        };
        let ends = open.last().is_some_and(silence) || open.len() + units.len() > UNITS;
        if ends && !open.is_empty() {
            parts.push(close_conversation(&mut open));
        }
        for unit in units {
            open.push(unit);
            if open.len() == UNITS {
                parts.push(close_conversation(&mut open));
            }
        }
    }
    if !open.is_empty() {
        parts.push(close_conversation(&mut open));
    }
    parts
}

fn of_message(message: &Message) -> Vec<Unit> {
    let text = message.text.trim();
    let kind = kind(message);
    let unit = |text: &str| Unit {
        text: text.to_owned(),
        context: String::new(),
        kind,
        speaker: message.speaker.clone(),
        message: Some(message.id.clone()),
        timestamp_ms: Some(message.timestamp_ms),
        line: message.line,
        last_line: message.line,
    };
    if text.is_empty() {
        return Vec::new();
    }
    if text.len() <= MESSAGE {
        return vec![unit(text)];
    }
    let pages = passages::pages(text).into_iter();
    pages.map(|page| unit(&text[page])).collect()
}

fn kind(message: &Message) -> Kind {
    if message.is_echo {
        Kind::Echo
    } else if message.speaker.eq_ignore_ascii_case(ASSISTANT) {
        Kind::Answered
    } else if analysis::is_question(&message.text) {
        Kind::Asked
    } else {
        Kind::Told
    }
}

fn close_conversation(open: &mut Vec<Unit>) -> Part {
    let texts: Vec<&str> = open.iter().map(|unit| unit.text.as_str()).collect();
    let language = analysis::language_of(&texts.join("\n"));
    close(open, language, true, None)
}

fn close(open: &mut Vec<Unit>, language: Language, flows: bool, day_ms: Option<i64>) -> Part {
    let mut units = std::mem::take(open);
    let line = units.first().map_or(0, |unit| unit.line);
    for unit in &mut units {
        unit.line = unit.line.saturating_sub(line);
        unit.last_line = unit.last_line.saturating_sub(line);
    }
    let hash = hash(&units, language, flows, day_ms);
    Part {
        units,
        line,
        language,
        flows,
        hash,
    }
}

fn hash(units: &[Unit], language: Language, flows: bool, day_ms: Option<i64>) -> u128 {
    let mut hasher = Xxh3::new();
    let mut number = |number: i64| hasher.update(&number.to_le_bytes());
    number(ANALYSIS as i64);
    number(i64::from(flows));
    number(day_ms.unwrap_or(i64::MIN));
    hasher.update(language.code().as_bytes());
    for unit in units {
        for number in [
            unit.timestamp_ms.unwrap_or(i64::MIN),
            i64::from(unit.line),
            i64::from(unit.last_line),
            i64::from(unit.kind.number()),
        ] {
            hasher.update(&number.to_le_bytes());
        }
        let message = unit.message.as_deref().unwrap_or_default();
        for text in [&unit.text, &unit.context, &unit.speaker, message] {
            // With its length: "a" and "bc" are not "ab" and "c".
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
    }
    hasher.digest128()
}

/// Documents are limited to far less than what this cuts off.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Whether `speaker` is somebody in particular.
pub(crate) fn is_name(speaker: &str) -> bool {
    !speaker.is_empty() && !ROLES.iter().any(|role| speaker.eq_ignore_ascii_case(role))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn text(text: &str) -> Vec<Part> {
        of_text(text, "", None)
    }

    fn message(number: usize, text: &str) -> Message {
        Message {
            id: format!("m{number}"),
            speaker: "Ada".to_owned(),
            text: text.to_owned(),
            timestamp_ms: number as i64 * 60_000,
            line: number as u32 + 1,
            is_echo: false,
        }
    }

    #[test]
    fn change_leaves_the_parts_around_it() {
        let section = |number: usize| format!("## Part {number}\n\n{}\n", "word ".repeat(250));
        let before: Vec<String> = (0..120).map(section).collect();
        let mut after = before.clone();
        after.insert(60, format!("## New\n\n{}\n", "other ".repeat(250)));
        let hashes = |sections: &[String]| -> Vec<u128> {
            text(&sections.join("\n"))
                .iter()
                .map(|part| part.hash)
                .collect()
        };
        let old: HashSet<u128> = hashes(&before).into_iter().collect();
        let new = hashes(&after);
        let changed = new.iter().filter(|hash| !old.contains(hash)).count();
        assert!(new.len() > 8, "{}", new.len());
        assert!((1..=2).contains(&changed), "{changed}");
    }

    #[test]
    fn added_message_changes_the_last_part_only() {
        let mut messages: Vec<Message> = (0..200).map(|n| message(n, "hello there")).collect();
        let before = of_messages(&messages);
        assert_eq!(before.len(), 4);
        messages.push(message(200, "one more"));
        let after = of_messages(&messages);
        assert_eq!(before[..3], after[..3]);
        assert_ne!(before[3].hash, after[3].hash);
        messages.push(Message {
            timestamp_ms: 200 * 60_000 + SILENCE_MS,
            ..message(201, "good morning")
        });
        assert_eq!(of_messages(&messages).len(), 5);
    }

    #[test]
    fn units_know_their_lines_and_messages() {
        let parts = of_messages(&[message(4, "hi"), message(5, " "), message(6, "you")]);
        let units = &parts[0].units;
        assert_eq!((parts[0].line, units[0].line, units[1].line), (5, 0, 2));
        assert_eq!(units[1].message.as_deref(), Some("m6"));
        assert!(of_messages(&[message(0, "\n")]).is_empty());
        let long = "A sentence of some words. ".repeat(400);
        let parts = of_messages(&[message(0, &long)]);
        assert!(parts[0].units.len() > 3);
        assert!(
            parts[0]
                .units
                .iter()
                .all(|u| u.message.as_deref() == Some("m0"))
        );
    }

    proptest::proptest! {
        #[test]
        fn part_no_message_is_lost_and_no_part_too_large(
            sizes in proptest::collection::vec(0usize..9000, 0..90)
        ) {
            let messages: Vec<Message> = sizes.iter().enumerate()
                .map(|(number, &size)| message(number, &"word ".repeat(size / 5)))
                .collect();
            let parts = of_messages(&messages);
            proptest::prop_assert!(parts.iter().all(|part| (1..=UNITS).contains(&part.units.len())));
            let found: HashSet<&str> = parts.iter().flat_map(|part| &part.units)
                .filter_map(|unit| unit.message.as_deref()).collect();
            let said = messages.iter().filter(|m| !m.text.trim().is_empty()).count();
            proptest::prop_assert_eq!(found.len(), said);
        }
    }
}
