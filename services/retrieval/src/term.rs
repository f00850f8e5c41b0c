//! Terms as the index knows them: by hashes.
//!
//! Of 64 bits, so that among a million terms two are the same with a
//! probability of one in 30 million, and what would follow is one wrong hit. A
//! dictionary of numbers is a quarter of one of words.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::analysis::calendar::{self, Mark};
use crate::analysis::{self, Language};
use crate::part::{Part, Unit};

/// A term of a text.
pub(crate) type Key = u64;

/// Keeps those who speak apart from those spoken of.
const SPEAKERS: u64 = 0x5350_4541_4b45_5253;
/// Keeps when something was said apart from what was said.
const DATES: u64 = 0x0044_4154_4553_2121;
/// Roles are nobody's names: "which user said" does not ask for half of all
/// messages.
const ROLES: [&str; 5] = ["user", "assistant", "system", "tool", "toolresult"];

/// The key of a term.
pub(crate) fn key(term: &str) -> Key {
    xxh3_64(term.as_bytes())
}

/// The key of a term of a speaker's name.
pub(crate) fn speaker_key(term: &str) -> Key {
    xxh3_64_with_seed(term.as_bytes(), SPEAKERS)
}

/// The key of a part of a date.
pub(crate) fn date_key(mark: Mark) -> Key {
    xxh3_64_with_seed(format!("{mark:?}").as_bytes(), DATES)
}

/// What one unit is found by.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// All that can be searched for, as often as it is there.
    pub(crate) keys: Vec<Key>,
    /// Of the speaker's name.
    pub(crate) speakers: Vec<Key>,
}

/// The terms of `unit`, a unit of `part`. Texts without a time of their own are
/// dated by `day_ms`.
pub(crate) fn of(unit: &Unit, part: &Part, day_ms: Option<i64>) -> Terms {
    let mut terms = Terms::default();
    let language = part.language;
    let mut add = |text: &str| analysis::terms(text, language, |term| terms.keys.push(key(term)));
    add(&unit.context);
    add(&unit.text);
    if is_name(&unit.speaker) {
        add(&unit.speaker);
        let sink = |term: &str| terms.speakers.push(speaker_key(term));
        // As the question is read, whatever the language.
        analysis::terms(&unit.speaker, Language::English, sink);
    }
    let marks = unit.timestamp_ms.or(day_ms).and_then(calendar::marks);
    terms.keys.extend(marks.into_iter().flatten().map(date_key));
    terms
}

/// Whether `speaker` is somebody in particular.
pub(crate) fn is_name(speaker: &str) -> bool {
    !speaker.is_empty() && !ROLES.iter().any(|role| speaker.eq_ignore_ascii_case(role))
}
