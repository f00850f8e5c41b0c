//! What an answer tells beside kinds of facts: somebody, a place, a reason, what
//! something is called. By words, as in `traits`.

mod lists;
mod permission;
mod somebody;

pub use permission::tells_permission;

use super::language::{Language, Languages};
use super::phrases::has;
use super::reference::refers_back;
use super::stop_words;
use super::terms::{Word, words};
use super::traits::{Traits, facts};
use lists::{
    AGES, BETWEEN, BIRTHS, COLOURS, NAMING, OTHER_PLACES, PAINTS, PEOPLE, PLACES, REASONS, SITES,
    SIZES, TIMES, TRADES, WEIGHTS,
};
use permission::asks_permission;
use somebody::{is_born, is_of_trade, names_somebody, names_trade};

/// What a question wants to be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sought(u16);

impl Sought {
    /// Somebody.
    pub const PERSON: Self = Self(1);
    /// Where something is.
    pub const PLACE: Self = Self(2);
    /// Why something is.
    pub const REASON: Self = Self(4);
    /// What something or somebody is called.
    pub const NAME: Self = Self(8);
    /// A colour.
    pub const COLOUR: Self = Self(16);
    /// What somebody does for a living.
    pub const TRADE: Self = Self(32);
    /// How much something weighs.
    pub const WEIGHT: Self = Self(64);
    /// How tall or long something is.
    pub const SIZE: Self = Self(128);
    /// How old somebody or something is, as a number of years or since when.
    pub const AGE: Self = Self(256);
    /// How long something is, or takes.
    pub const SPAN: Self = Self(512);
    /// Where something takes place, in Japanese, which says it in a word of its own.
    pub const SITE: Self = Self(1024);
    /// In which year something was, or will be.
    pub const YEAR: Self = Self(2048);
    /// Whether something may be done: what says that it may, or may not, tells it best.
    pub const PERMISSION: Self = Self(4096);

    /// Whether nothing is wanted in particular.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `other` is wanted.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// How questions are put, in lower case, among their first words.
const FIRST: [(Sought, &str); 3] = [
    (
        Sought::PERSON,
        "who|whom|whose|with whom|wer|wem|wen|wessen|qui|quién|quiénes|quien|誰|だれ|どなた",
    ),
    (
        Sought::PLACE,
        "where|which place|wo|wohin|woher|welchem ort|welchem hafen|welcher stadt|où|quel endroit|quelle ville|\
         dónde|adónde|donde|qué ciudad|qué lugar|どこ|どの部屋|どの店",
    ),
    (
        Sought::REASON,
        "why|how come|what reason|warum|wieso|weshalb|pourquoi|por qué|por que|なぜ|どうして|なんで|理由",
    ),
];
/// The same, anywhere.
const ANYWHERE: [(Sought, &str); 9] = [
    (
        Sought::NAME,
        "name of|names of|'s name|what is the name|called|named|heißt|heisst|heißen|wie nennt|name von|name der|\
         name des|s'appelle|s’appelle|s'appellent|nom de|nom du|nom des|se llama|se llaman|nombre de|nombre del|\
         名前|何という|なんという",
    ),
    (
        Sought::COLOUR,
        "what colour|what color|which colour|which color|welche farbe|quelle couleur|qué color|de qué color|何色|色は",
    ),
    (
        Sought::TRADE,
        "for a living|what is the job|wovon lebt|do for work|beruflich|von beruf|beruf von|for work|'s job|’s job|'s profession|welchen beruf|was arbeitet|quel métier|quelle profession|le métier de|la profession de|métier d'|dans la vie|\
         a qué se dedica|en qué trabaja|qué profesión|仕事は何|職業",
    ),
    (
        Sought::WEIGHT,
        "weigh|weighs|weight|how heavy|wiegt|wiegen|gewicht|wie schwer|pèse|pèsent|poids|pesa|pesan|peso|体重|重さ|何キロ",
    ),
    (
        Sought::SIZE,
        "how tall|what height|how wide|wie breit|wie tief|körpergröße|mesure|quelle taille fait|quelle taille a|cuánto mide|身長|何センチ|何メートル",
    ),
    (
        Sought::SPAN,
        "how long is|how long are|how long was|how long were|wie lang ist|wie lang sind|wie lang war|quelle longueur",
    ),
    (Sought::SITE, "場所"),
    (
        Sought::YEAR,
        "what year|which year|welchem jahr|welches jahr|quelle année|qué año|何年に|何年の|何年生まれ",
    ),
    (
        Sought::AGE,
        "how old|what age|wie alt|welches alter|quel âge|qué edad|cuántos años tiene|cuántos años tengo|何歳|おいくつ",
    ),
];
/// Of them those that are told by words of their own only, so that a note that tells
/// them need not have the question's word: "a green Volvo" is its colour.
const TOLD_BY_WORDS: Sought = Sought(
    Sought::COLOUR.0
        | Sought::TRADE.0
        | Sought::WEIGHT.0
        | Sought::SIZE.0
        | Sought::AGE.0
        | Sought::SITE.0,
);
/// That something is kept somewhere, which where it is tells without the word.
const KEEPING: &str = "keep|kept|store|stored|stash|stashed|hide|hidden|put|aufbewahrt|aufbewahren|verstaut|deponiert|versteckt|\
    lagern|gelagert|rangé|rangée|rangés|rangées|ranger|caché|cachée|stocké|stockés|guardo|guarda|guardé|guardado|guardada|guardados|\
    guardamos|escondido|dejé|puse|保管|収納|置い|置いて|仕舞|隠し";
/// Words for a size, which a number beside what has it tells without them.
const SIZE_WORDS: &str = "size|sizes|größe|größen|taille|tailles|pointure|talla|tallas|サイズ";
/// Words before which a question begins.
const EARLY: usize = 4;

/// What the question `text` wants to be told.
pub fn sought(text: &str) -> Sought {
    let lower = text.to_lowercase();
    let early: String = lower
        .split_inclusive(char::is_whitespace)
        .take(EARLY)
        .collect();
    let first = FIRST.iter().filter(|(_, phrases)| has(&early, phrases));
    let is_of_colour = lower.split_whitespace().any(|word| word.ends_with("farbe"));
    let colour = if is_of_colour {
        Sought::COLOUR
    } else {
        Sought::default()
    };
    let others = ANYWHERE.iter().filter(|(_, phrases)| has(&lower, phrases));
    let all = first.chain(others);
    let sum = all.fold(colour, |sum, (one, _)| Sought(sum.0 | one.0));
    if asks_permission(&lower) {
        sum.with(Sought::PERMISSION)
    } else {
        sum
    }
}

impl Sought {
    /// Without the members of `other`.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The members of both.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The words of the question `text`, in lower case, that say what it wants to be told,
/// where a note that tells it need not have them.
pub fn sought_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let kinds = ANYWHERE.iter().filter(|(kind, _)| TOLD_BY_WORDS.has(*kind));
    let phrases = kinds.flat_map(|(_, phrases)| phrases.split('|'));
    let put = phrases.filter(|phrase| has(&lower, phrase));
    let words = put.flat_map(str::split_whitespace);
    let is_of_place = sought(text).has(Sought::PLACE);
    let keeping = KEEPING.split('|').filter(|_| is_of_place);
    let keeping = keeping.filter(|word| has(&lower, word));
    let is_of_size = has(
        &lower,
        "what size|which size|welche größe|quelle taille|quelle pointure|qué talla|サイズ",
    );
    let sizes = SIZE_WORDS
        .split('|')
        .filter(|word| is_of_size && has(&lower, word));
    words
        .chain(keeping)
        .chain(sizes)
        .map(str::to_owned)
        .collect()
}

/// Whether it is a row of a table.
pub fn is_row(sentence: &str) -> bool {
    sentence.trim_start().starts_with('|')
}

/// Whether the row `row` of a table names who is asked for, as `is_asked` says of a word, only
/// beside other words, in a cell that has none of the facts `asked`: what its other cells tell
/// is of whom its first one names. "| Neil | 2 April | wife is Farah |" has no birthday of Farah's.
pub fn is_row_of_another(row: &str, asked: Traits, is_asked: impl Fn(&str) -> bool) -> bool {
    if !is_row(row) || asked.is_empty() {
        return false;
    }
    let cells = row.split('|').map(str::trim);
    let cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
    let has_name = |cell: &&str| tokens(cell, &is_asked).iter().any(|it| it.is_asked);
    let is_alone = |cell: &str| {
        let mut tokens = tokens(cell, &is_asked).into_iter();
        tokens.all(|token| token.is_asked || token.is_capital)
    };
    let first = cells.first().filter(|first| !has_name(first));
    let is_other = first.is_some_and(|first| tokens(first, &is_asked).iter().any(is_name));
    let mut named = cells.iter().copied().filter(has_name).peekable();
    is_other
        && named.peek().is_some()
        && named.all(|cell| !is_alone(cell) && !asked.meets(facts(cell)))
}

fn is_placed(text: &str, language: Language) -> bool {
    has(text, PLACES) || (language != Language::English && has(text, OTHER_PLACES))
}

/// Whether it tells where something went: "to Kellner's", "to 22 Station Road"; "allergic
/// to nuts" does not.
fn is_directed(sentence: &str) -> bool {
    let tokens = tokens(sentence, |_| false);
    let mut after = tokens.iter();
    while after.any(|token| token.text == "to" || token.text == "zu") {
        let mut next = after.clone().skip_while(is_between);
        if next.next().is_some_and(|it| is_name(it) || is_number(it)) {
            return true;
        }
    }
    false
}

/// Whether a cell of a row is a number and nothing else, as an age or a year is.
fn has_count(row: &str) -> bool {
    let mut cells = row.split('|').map(str::trim);
    cells.any(|cell| (1..=4).contains(&cell.len()) && cell.bytes().all(|it| it.is_ascii_digit()))
}

const DAYS: Traits = Traits::DATE.with(Traits::RELATIVE);

/// Whether a number of it may be a year.
fn has_year(text: &str) -> bool {
    const YEAR: usize = 4;
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    numbers.any(|number| number.len() == YEAR)
}

/// Whether it tells a year, or one told from another: "last year", "平成3年".
fn is_dated(text: &str) -> bool {
    let is_of_era = || {
        ["昭和", "平成", "令和"]
            .iter()
            .any(|era| text.contains(era))
    };
    has_year(text) || is_of_era() || facts(text).meets(Traits::RELATIVE)
}

/// Whether it tells an age, or the year of a birth.
fn is_aged(lower: &str) -> bool {
    (has_year(lower) && has(lower, BIRTHS))
        || (facts(lower).meets(Traits::NUMBER) && has(lower, AGES))
        || has_unit(lower, "jährige|jähriger|jähriges|jährig|yo")
}

/// Whether a length or a time stands right after a number: "24 months".
fn is_measured(lower: &str) -> bool {
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_unit = |word: &str| {
        SIZES
            .split('|')
            .chain(TIMES.split('|'))
            .any(|it| it == word)
    };
    has_unit(lower, SIZES)
        || words
            .windows(2)
            .any(|pair| facts(pair[0]).meets(Traits::NUMBER) && is_unit(pair[1]))
}

/// Whether one of `units` stands right after a number: "64kg".
fn has_unit(text: &str, units: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let ends = words.filter_map(|word| {
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
        (unit.len() < word.len()).then_some(unit)
    });
    ends.into_iter()
        .any(|end| units.split('|').any(|unit| unit == end))
}

/// What ends a clause.
const CLAUSE_ENDS: [char; 11] = [',', ';', ':', '.', '!', '–', '—', '、', '。', '，', '；'];
/// The fewest words, or characters where none are parted, that give a reason.
const REASON_WORDS: usize = 3;
const REASON_CHARACTERS: usize = 5;

/// Whether a clause of `sentence` has nothing that is asked for and says something of its
/// own, beside one that has: "not this year, diesel is too dear".
fn has_clause_beside(sentence: &str, is_asked: impl Fn(&str) -> bool) -> bool {
    let (mut is_about, mut is_beside) = (false, false);
    for clause in sentence.split(CLAUSE_ENDS) {
        let tokens = tokens(clause, &is_asked);
        let spaceless = || is_spaceless(clause) && clause.chars().count() >= REASON_CHARACTERS;
        if tokens.iter().any(|token| token.is_asked) {
            is_about = true;
        } else if tokens.len() >= REASON_WORDS || spaceless() {
            is_beside = true;
        }
    }
    is_about && is_beside
}

/// A word of a sentence.
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) is_asked: bool,
    is_capital: bool,
    /// Whether a mark, or nothing, comes after it.
    pub(super) is_last: bool,
}

impl Sought {
    /// Whether `sentence` tells what is wanted; `is_asked` says which words are the
    /// question's own. What stands in a table is taken for it.
    pub fn is_in(
        self,
        (sentence, language): (&str, Language),
        is_asked: impl Fn(&str) -> bool,
    ) -> bool {
        if self.is_empty() {
            return true;
        }
        let lower = sentence.to_lowercase();
        if is_row(sentence) {
            let is_somebody = || {
                let tokens = tokens(sentence, &is_asked);
                has(&lower, PEOPLE) || tokens.iter().any(is_name)
            };
            let is_of_years = || is_aged(&lower) || has_count(sentence) || has_year(sentence);
            return (!self.has(Self::AGE) || is_of_years())
                && (!self.has(Self::YEAR) || is_dated(sentence))
                && (!self.has(Self::PERSON) || is_spaceless(sentence) || is_somebody());
        }
        let is_listed = || {
            let marks = [":", "：", "->", "→", "=", "「"];
            marks.iter().any(|mark| sentence.contains(mark))
        };
        let is_spaceless = is_spaceless(sentence);
        let tokens = if self.has(Self::PERSON) || self.has(Self::NAME) {
            tokens(sentence, &is_asked)
        } else {
            Vec::new()
        };
        // "It says hello", under "Parrot".
        let is_somebody = || has(&lower, PEOPLE) || refers_back(sentence);
        (!self.has(Self::PLACE)
            || is_listed()
            || is_spaceless
            || is_placed(&lower, language)
            || is_directed(sentence))
            && (!self.has(Self::REASON)
                || is_listed()
                || has(&lower, REASONS)
                || has_clause_beside(sentence, &is_asked))
            && (!self.has(Self::WEIGHT) || has(&lower, WEIGHTS) || has_unit(&lower, WEIGHTS))
            && (!self.has(Self::SIZE) || has(&lower, SIZES) || has_unit(&lower, SIZES))
            && (!self.has(Self::COLOUR)
                || has(&lower, COLOURS)
                || (is_listed() && has(&lower, PAINTS))
                || has(&lower, "de color|de couleur|in der farbe"))
            && (!self.has(Self::AGE) || is_aged(&lower) || is_born(sentence, &is_asked))
            && (!self.has(Self::SITE) || has(sentence, SITES))
            && (!self.has(Self::YEAR) || is_dated(sentence))
            && (!self.has(Self::SPAN) || is_measured(&lower))
            && (!self.has(Self::TRADE)
                || has(&lower, TRADES)
                || names_trade(&lower, language)
                || is_of_trade(sentence, &is_asked))
            && (!self.has(Self::PERSON)
                || is_spaceless
                || is_somebody()
                || names_somebody(&tokens, language))
            && (!self.has(Self::NAME) || is_spaceless || has(&lower, NAMING) || is_called(&tokens))
    }
}

/// What a word of a sentence is to a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Role {
    /// The question's own, or near to one of its words.
    pub is_asked: bool,
    /// The word for the kind of thing that is asked for: "school",
    pub is_kind: bool,
    /// or one that is near to it, and may be such a thing.
    pub is_one: bool,
}

/// Whether `sentence` says which one is meant of the kind of thing that is asked for:
/// "School trip to Linz" does not, and "a beagle, born in May" does, asked for a
/// breed. Only English joins words so without a sign.
pub fn names_one((sentence, language): (&str, Language), role: impl Fn(&str) -> Role) -> bool {
    if language != Language::English {
        return true;
    }
    let is_listed = ["|", ":", "：", "->", "→", "=", "(", "\""];
    if is_listed.iter().any(|mark| sentence.contains(mark)) {
        return true;
    }
    let tokens = tokens(sentence, |word| role(word).is_asked);
    let is_kind = |token: &Token<'_>| {
        let role = role(token.text);
        role.is_kind || role.is_one
    };
    let is_one = |token: &Token<'_>| role(token.text).is_one && (token.is_last || token.is_capital);
    let is_told = |token: &Token<'_>| is_name(token) || is_number(token);
    is_beside(&tokens, is_kind, is_told)
        || tokens.iter().any(is_one)
        || is_said_of(&tokens, is_kind, is_told)
        || tokens.windows(2).any(|pair| {
            let is_empty = |word| stop_words::languages_of(word) != Languages::default();
            let lower = pair[0].text.to_lowercase();
            role(pair[1].text).is_kind && !pair[0].is_asked && !is_empty(&lower)
        })
}

/// Whether one of `tokens` is said to be another: "the fuse of the kitchen is number 7".
fn is_said_of(
    tokens: &[Token<'_>],
    is_first: impl Fn(&Token<'_>) -> bool,
    is_second: impl Fn(&Token<'_>) -> bool,
) -> bool {
    const IS: [&str; 4] = ["is", "are", "was", "were"];
    const NUMBERS: [&str; 3] = ["number", "no", "nr"];
    let mut after = tokens.iter().skip_while(|token| !is_first(token));
    while after.any(|token| IS.contains(&token.text)) {
        let is_empty = |token: &&Token<'_>| is_between(token) || NUMBERS.contains(&token.text);
        let mut next = after.clone().skip_while(is_empty);
        if next.next().is_some_and(&is_second) {
            return true;
        }
    }
    false
}

pub(super) fn is_number(token: &Token<'_>) -> bool {
    token.text.contains(|c: char| c.is_ascii_digit())
}

fn is_between(token: &&Token<'_>) -> bool {
    let lower = token.text.to_lowercase();
    BETWEEN.contains(&lower.as_str())
}

pub(super) fn is_spaceless(text: &str) -> bool {
    text.contains(|c: char| c >= '\u{2e80}')
}

pub(super) fn tokens(sentence: &str, is_asked: impl Fn(&str) -> bool) -> Vec<Token<'_>> {
    let words = sentence.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '’' | '-'));
    let words = words.flat_map(|word| {
        let parts = word.split(|c: char| !c.is_alphanumeric());
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let count = parts.len();
        let ends = word.ends_with(|c: char| !c.is_alphanumeric());
        let parts = parts.into_iter().zip(1..);
        parts.map(move |(part, number)| (part, number < count || ends))
    });
    let tokens = words.map(|(text, is_last)| Token {
        text,
        is_asked: is_asked(text),
        is_capital: text.starts_with(char::is_uppercase),
        is_last,
    });
    let mut tokens: Vec<Token<'_>> = tokens.collect();
    if let Some(last) = tokens.last_mut() {
        last.is_last = true;
    }
    tokens
}

/// Whether a word may name somebody: with a capital, and no day, and not the
/// question's own.
pub(super) fn is_name(token: &Token<'_>) -> bool {
    let is_day = || facts(token.text).meets(DAYS);
    let lower = token.text.to_lowercase();
    let is_empty = stop_words::languages_of(&lower) != Languages::default();
    token.is_capital && !is_empty && !token.is_asked && token.text.chars().count() > 1 && !is_day()
}

/// Whether a word of the question stands beside a name.
fn is_called(tokens: &[Token<'_>]) -> bool {
    is_beside(tokens, |token| token.is_asked, is_name)
}

/// Whether one beside the other is in `tokens`, with nothing between that says
/// something.
fn is_beside(
    tokens: &[Token<'_>],
    is_first: impl Fn(&Token<'_>) -> bool,
    is_second: impl Fn(&Token<'_>) -> bool,
) -> bool {
    let asked = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| is_first(token));
    asked.into_iter().any(|(at, _)| {
        let mut after = tokens[at + 1..].iter().skip_while(is_between);
        let mut before = tokens[..at].iter().rev().skip_while(is_between);
        after.next().is_some_and(&is_second) || before.next().is_some_and(&is_second)
    })
}

/// Whether a question word is among the words of `text`.
pub(super) fn asks(text: &str) -> bool {
    let mut asks = false;
    words(text, |word| {
        if let Word::Plain(word) = word {
            asks |= QUESTION_WORDS.split(' ').any(|other| other == word);
        }
    });
    asks || ["何", "誰", "どこ", "いつ", "いくら", "なぜ", "どう", "どの"]
        .iter()
        .any(|word| text.contains(word))
}

/// Words that begin questions.
const QUESTION_WORDS: &str = "who whom whose what when where which why how wer wem wen was wann wo wohin woher welche welcher welches welchem \
welchen warum wieso wie wieviel qui quand où quel quelle quels quelles pourquoi comment combien que quoi quién quiénes qué cuándo dónde cuál \
cuáles cómo cuánto cuánta cuántos cuántas";

#[cfg(test)]
mod tests;
