//! What people say that asks nothing of memory: greetings, thanks, and what the
//! assistant is asked about itself.

mod phrases;
mod reply;

use super::language::Language;
use phrases::{FILLERS, PHRASES};

pub(super) use reply::reply;

/// Bytes of a message that is looked at; what is longer is about something.
const LIMIT: usize = 200;
/// Words beside a greeting that may be a name: "hello Ada Lovelace".
const NAME: usize = 2;

/// What a message does. Of several the last one here is answered: whoever
/// greets and asks wants the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// "ok".
    Assent,
    /// "hello".
    Greeting,
    /// "thanks".
    Thanks,
    /// "goodbye".
    Farewell,
    /// "how are you?".
    Welfare,
    /// "who are you?".
    Identity,
    /// "what can you do?".
    Abilities,
}

/// A message that is small talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SmallTalk {
    pub(super) kind: Kind,
    pub(super) language: Language,
}

impl SmallTalk {
    /// `None` for a message that is about something. `is_known`: memory has
    /// something that fits it; then a word that may be a name is taken for what
    /// is asked about.
    pub(super) fn of(text: &str, is_known: bool) -> Option<Self> {
        if text.len() > LIMIT {
            return None;
        }
        let (words, known) = (words(text), Known::new());
        let mut rest = words.as_slice();
        let (mut found, mut unknown): (Option<Self>, usize) = (None, 0);
        while let Some((word, after)) = rest.split_first() {
            if let Some((said, length)) = known.phrase(rest) {
                rest = &rest[length..];
                found = Some(found.filter(|it| it.kind > said.kind).unwrap_or(said));
            } else {
                unknown += usize::from(!known.fillers.contains(word));
                rest = after;
            }
        }
        let may_be_named = |said: &Self| {
            let is_addressed = matches!(said.kind, Kind::Greeting | Kind::Thanks | Kind::Farewell);
            is_addressed && unknown <= NAME && !is_known && !text.contains(['?', '？', '¿'])
        };
        found.filter(|said| unknown == 0 || may_be_named(said))
    }
}

/// The phrases and fillers, as they are compared.
struct Known {
    phrases: Vec<(SmallTalk, Vec<String>)>,
    fillers: Vec<String>,
}

impl Known {
    fn new() -> Self {
        let said = PHRASES.iter().flat_map(|&(kind, said)| {
            let said = said.iter();
            said.map(move |&(language, phrases)| (SmallTalk { kind, language }, phrases))
        });
        let phrases = said
            .flat_map(|(said, phrases)| phrases.iter().map(move |phrase| (said, words(phrase))));
        Self {
            phrases: phrases.collect(),
            fillers: FILLERS.iter().flat_map(|filler| words(filler)).collect(),
        }
    }

    /// The longest phrase that `words` begin with, and how many of them it is.
    fn phrase(&self, words: &[String]) -> Option<(SmallTalk, usize)> {
        let fitting = self.phrases.iter();
        let fitting = fitting.filter(|(_, phrase)| words.starts_with(phrase));
        fitting
            .map(|(said, phrase)| (*said, phrase.len()))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })
    }
}

/// The words of `text` as they are compared: in lower case, without marks and
/// accents, and each letter once where it is drawn out ("heyyy").
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            '👋' => words.extend(["hi".to_owned(), String::new()]),
            '🙏' => words.extend(["thanks".to_owned(), String::new()]),
            '👍' | '👌' => words.extend(["ok".to_owned(), String::new()]),
            // "what's" is one word; the others are accents that follow a letter.
            '\'' | '’' | '`' | '´' | '\u{300}'..='\u{36f}' => {}
            c if c.is_alphanumeric() => {
                for c in plain(c).chars() {
                    push(&mut words, c);
                }
            }
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn push(words: &mut [String], c: char) {
    if let Some(word) = words.last_mut()
        && (c.is_numeric() || !word.ends_with(c))
    {
        word.push(c);
    }
}

/// A letter without its accent.
pub(super) fn plain(c: char) -> String {
    let plain = match c {
        'à'..='å' | 'ą' => "a",
        'ç' | 'ć' | 'č' => "c",
        'è'..='ë' | 'ę' | 'ě' => "e",
        'ì'..='ï' => "i",
        'ñ' => "n",
        'ò'..='ö' | 'ø' => "o",
        'ù'..='ü' => "u",
        'ś' | 'š' | 'ß' => "s",
        'ý' => "y",
        _ => return c.to_string(),
    };
    plain.to_owned()
}

#[cfg(test)]
mod tests;
