//! How a question is written.

use std::collections::{HashMap, HashSet};

use openclaw_analysis::{self as analysis, Language, Sought};

/// How the words of a question are written, all in lower case.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// With a capital inside a sentence; in German that says nothing.
    pub(super) names: HashSet<String>,
    /// Next to another with a capital: first and last name are one name.
    pub(super) joined: HashSet<String>,
    /// With one where nouns have one.
    pub(super) nouns: HashSet<String>,
    /// Without it there.
    pub(super) small: HashSet<String>,
    /// After "which": what kind of thing an answer is.
    pub(super) kinds: HashSet<String>,
    /// What is to be told: "colour".
    pub(super) sought: HashSet<String>,
    /// Before another word that says something,
    pub(super) modifiers: HashSet<String>,
    /// and that word.
    pub(super) heads: HashMap<String, String>,
    /// Whether it asks for somebody, or for a place.
    is_who_or_where: bool,
    /// After "who": what somebody does.
    deed: Option<String>,
    /// Of a phrase that only says that something is: "takes place".
    pub(super) idle: HashSet<String>,
    /// By their place verbs: after "qui", after "cuándo".
    pub(super) verbs: HashSet<String>,
    /// "At home", and nowhere else.
    is_home: bool,
}

/// What is asked about, where it is said that it is what is at home.
const AT_HOME: [&str; 5] = ["at home", "zu hause", "daheim", "à la maison", "en casa"];

/// Before what somebody does.
const WHO: [&str; 4] = ["who", "wer", "qui", "quién"];
/// Before what somebody does, in French and Spanish.
const BEFORE_VERBS: (&[&str], &[&str]) = (
    &[
        "qui", "où", "quand", "comment", "combien", "se", "s", "pourquoi", "ne", "n", "on", "peut",
        "faut", "doit", "encore",
    ],
    &[
        "quién", "quiénes", "dónde", "cuándo", "cómo", "cuánto", "se", "no", "adónde", "puede",
        "debe", "hay",
    ],
);
/// Before how much of something it is: "how hot".
const HOW: [&str; 2] = ["how", "wie"];
/// To be somewhere for long: where somebody works is not where they live.
const STAYING: &str = "live lives living lived wohnt wohnen wohne habite habitent habiter vit vive viven vivo work works working \
    arbeitet arbeiten travaille travaillent trabaja trabajan study studies studiert étudie estudia";

/// Phrases that only say that something is, and their words that others have too.
const IDLE: [(&str, &[&str]); 13] = [
    ("take place", &["take", "place"]),
    ("takes place", &["takes", "place"]),
    ("taking place", &["taking", "place"]),
    ("took place", &["took", "place"]),
    (" a lieu", &["lieu"]),
    ("aura lieu", &["aura", "lieu"]),
    ("a-t-il lieu", &["lieu"]),
    ("a-t-elle lieu", &["lieu"]),
    ("statt", &["findet", "finden", "statt"]),
    ("tiene lugar", &["tiene", "lugar"]),
    ("tendrá lugar", &["tendrá", "lugar"]),
    ("se celebra", &["celebra"]),
    ("se passe", &["passe"]),
];

/// Before the name of somebody.
const TITLES: [&str; 9] = [
    "frau", "herr", "herrn", "dr", "prof", "mag", "tante", "onkel", "familie",
];

/// What the kind of thing comes after that is asked for.
const WHICH: [&str; 17] = [
    "which", "what", "welche", "welcher", "welches", "welchen", "welchem", "quel", "quelle",
    "quels", "quelles", "qué", "cuál", "cuáles", "was", "que", "whose",
];

/// What each word of a name counts that has two.
const JOINED: f32 = 0.6;
/// What a word counts that is no noun where that can be seen.
const SMALL: f32 = 0.5;

impl Written {
    pub(super) fn new(text: &str, language: Language) -> Self {
        let is_german = language == Language::German;
        let wants = analysis::sought(text);
        let lower = text.to_lowercase();
        let mut written = Self {
            sought: analysis::sought_words(text).into_iter().collect(),
            is_who_or_where: wants.has(Sought::PLACE) || wants.has(Sought::PERSON),
            is_home: AT_HOME.iter().any(|home| lower.contains(home)),
            ..Self::default()
        };
        for (_, words) in IDLE.iter().filter(|(phrase, _)| lower.contains(phrase)) {
            written
                .idle
                .extend(words.iter().map(|word| (*word).to_owned()));
        }
        written.read_pairs(&lower, language);
        let mut begins = true;
        let mut before: Option<String> = None;
        let mut title = false;
        for word in text.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let bare = bare.split(['\'', '’', '-']).next().unwrap_or_default();
            let lower = bare.to_lowercase();
            let is_titled = std::mem::replace(&mut title, TITLES.contains(&lower.as_str()));
            let is_capital = bare.starts_with(char::is_uppercase) && !begins;
            let mut is_joined = false;
            if is_capital {
                if is_german {
                    written.nouns.insert(lower.clone());
                }
                if !is_german || is_titled {
                    written.names.insert(lower.clone());
                }
                if let Some(before) = before.take() {
                    written.joined.extend([before, lower.clone()]);
                    is_joined = true;
                }
            } else if is_german && !begins {
                written.small.insert(lower.clone());
            }
            let ends = word.ends_with([',', ';', '.', '!', '?', ':']);
            before = (is_capital && !is_joined && !ends).then_some(lower);
            begins = word.ends_with(['.', '!', '?', ':']) || bare.is_empty();
        }
        // Who writes no capitals at all says nothing with it.
        if !text.chars().skip(1).any(char::is_uppercase) {
            written.small.clear();
        }
        written
    }

    /// What words are by the one before them, in lower case.
    fn read_pairs(&mut self, lower: &str, language: Language) {
        let mut before: Option<&str> = None;
        for word in lower.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let bare = bare.split(['\'', '’', '-']).next().unwrap_or_default();
            if let Some(before) = before {
                self.read_pair(before, bare, language);
            }
            let ends = word.ends_with([',', ';', '.', '!', '?', ':']);
            before = (!ends).then_some(bare);
        }
    }

    fn read_pair(&mut self, before: &str, word: &str, language: Language) {
        if WHICH.contains(&before) {
            self.kinds.insert(word.to_owned());
        }
        if HOW.contains(&before) {
            self.sought.insert(word.to_owned());
        }
        if WHO.contains(&before) {
            self.deed = Some(word.to_owned());
        }
        let is_verb = match language {
            Language::French => BEFORE_VERBS.0.contains(&before),
            Language::Spanish => BEFORE_VERBS.1.contains(&before),
            _ => false,
        };
        if is_verb {
            self.verbs.insert(word.to_owned());
        }
        // Other languages write such words as one, or behind.
        let says = |word: &str| !analysis::is_stop_word(word, language);
        if language == Language::English && says(before) && says(word) {
            self.modifiers.insert(before.to_owned());
        }
        let is_general = |word: &str| analysis::lexicon::is_frame(word);
        if self.modifiers.contains(before) && !is_general(before) && !is_general(word) {
            self.heads.insert(before.to_owned(), word.to_owned());
        }
    }

    /// Whether `word` says little of what is asked for where it is missing. What
    /// is known by other words is missing without all of them.
    pub(super) fn is_doing(&self, word: &str, language: Language, has_others: bool) -> bool {
        // "Who painted it" is not told by who has tiled it.
        let is_deed = has_others && self.deed.as_deref() == Some(word);
        (analysis::is_doing(word, language) && !is_deed)
            || (self.verbs.contains(word) && !is_deed && !self.sought.contains(word))
            || self.small.contains(word)
            || (self.kinds.contains(word) && !has_others)
    }

    /// Whether nothing is told of what is asked for without `word`.
    pub(super) fn is_needed(&self, word: &str) -> bool {
        let is_of_home = || {
            let mut last = AT_HOME
                .iter()
                .filter_map(|home| home.split(' ').next_back());
            last.any(|home| home == word)
        };
        (self.is_who_or_where && STAYING.split_whitespace().any(|it| it == word))
            || (self.is_home && is_of_home())
    }

    pub(super) fn factor(&self, word: &str) -> f32 {
        if self.joined.contains(word) {
            JOINED
        } else if self.small.contains(word) {
            SMALL
        } else {
            1.0
        }
    }
}
