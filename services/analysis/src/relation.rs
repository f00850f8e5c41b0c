//! Somebody who is named in one note, and told of in another, or asked for, by what they are to
//! the writer: "my sister" is Heidrun where a note says so.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use super::kin::{is_in, relatives};
use super::language::Language;
use super::lexicon;
use super::names::is_title;
use super::stop_words;
use super::traits::facts;

/// What somebody is to the writer: the relatives and the roles that a word stands for, a bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Relation(u64);

impl Relation {
    const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Whom people mostly have one of, beside relatives, in lower case.
const ROLES: [&str; 12] = [
    "boss manager supervisor chef chefin vorgesetzter vorgesetzte patron patronne jefe jefa 上司",
    "landlord landlady vermieter vermieterin propriétaire bailleur casero casera 大家さん 大家",
    "doctor gp hausarzt hausärztin arzt ärztin médecin généraliste médico médica",
    "dentist zahnarzt zahnärztin dentiste dentista 歯医者",
    "vet tierarzt tierärztin vétérinaire veterinario veterinaria 獣医",
    "cleaner putzfrau putzhilfe limpiadora 家政婦",
    "accountant steuerberater steuerberaterin comptable gestor gestora asesor asesora 税理士",
    "caretaker janitor hausmeister hausmeisterin hauswart gardien gardienne concierge conserje portero encargado 管理人",
    "flatmate roommate housemate mitbewohner mitbewohnerin colocataire coloc 同居人",
    "godchild godson goddaughter patenkind patensohn patentochter filleul filleule ahijado ahijada",
    "midwife hebamme sage-femme comadrona matrona 助産師",
    "plumber klempner installateur plombier fontanero gasista 水道屋",
];
/// The first bit of roles: those of relatives are below.
const FIRST_ROLE: usize = 32;

/// What stands before what the writer has, or there is one of.
const OURS: &str = "my our mein meine meinen meinem meiner meines unser unsere unseren unserem unserer unseres mon ma notre mi nuestro nuestra";
const THE: &str = "the der die das dem den des beim zum zur vom le la l du au el al del";
/// Between what somebody is and their name.
const LINKS: &str = "is called named heißt heisst ist namens est s'appelle s’appelle es se llama";
/// Words that stand before names as well: "Frau Weber" is nobody's wife.
const TITLES: &str = "frau mann freund freundin femme partner";

/// What the word, in lower case, says that somebody is.
fn relation(word: &str) -> Relation {
    let role = roles().get(word).copied().unwrap_or_default();
    Relation(role | u64::from(relatives(word)))
}

/// The bits of the words for roles.
fn roles() -> &'static HashMap<&'static str, u64> {
    static BITS: OnceLock<HashMap<&'static str, u64>> = OnceLock::new();
    BITS.get_or_init(|| {
        let mut bits = HashMap::new();
        for (words, bit) in ROLES.iter().zip(FIRST_ROLE..) {
            for word in words.split_whitespace() {
                *bits.entry(word).or_default() |= 1 << bit;
            }
        }
        bits
    })
}

/// Somebody in a question, by what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked<'a> {
    /// What they are,
    pub relation: Relation,
    /// by which word,
    pub word: &'a str,
    /// and where a name can stand instead.
    pub phrase: Range<usize>,
}

/// A word of a text, with where it begins.
struct Token<'a> {
    start: usize,
    /// Without the marks around it, as it is written,
    bare: &'a str,
    /// and what stands there.
    whole: &'a str,
}

impl Token<'_> {
    /// Without what says that something is theirs.
    fn own(&self) -> &str {
        let own = self.bare.strip_suffix("'s");
        let own = own.or_else(|| self.bare.strip_suffix("’s"));
        own.unwrap_or(self.bare)
    }

    fn lower(&self) -> String {
        self.own().to_lowercase()
    }

    fn is_of_somebody(&self) -> bool {
        self.own().len() < self.bare.len()
    }

    fn starts_as_name(&self) -> bool {
        self.bare.starts_with(char::is_uppercase)
    }

    /// Whether a clause ends with it.
    fn ends(&self) -> bool {
        self.whole.ends_with(['.', ';', '!', '?'])
    }
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    for piece in text.split_inclusive(|c: char| c.is_whitespace() || matches!(c, '\'' | '’')) {
        let (from, whole) = (start, piece.trim_end());
        start += piece.len();
        // "l'électricien", "d'Inès": an article is a word of its own; "sister's" is not.
        let bare = whole.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.is_empty() {
            continue;
        }
        let begin = from + whole.find(bare).unwrap_or_default();
        tokens.push(Token {
            start: begin,
            bare,
            whole,
        });
    }
    join_owners(text, tokens)
}

/// "sister" and "s" are one word.
fn join_owners<'a>(text: &'a str, tokens: Vec<Token<'a>>) -> Vec<Token<'a>> {
    let mut joined: Vec<Token<'a>> = Vec::new();
    for token in tokens {
        match joined.last_mut() {
            Some(last) if token.bare == "s" && last.whole.ends_with(['\'', '’']) => {
                last.bare = &text[last.start..token.start + 1];
                last.whole = &text[last.start..token.start + token.whole.len()];
            }
            _ => joined.push(token),
        }
    }
    joined
}

/// Those in the question `text` who are named by what they are to the writer.
pub fn asked_relations(text: &str) -> Vec<Asked<'_>> {
    if is_spaceless(text) {
        return in_run(text)
            .map(|(range, relation)| Asked {
                relation,
                word: &text[range.clone()],
                phrase: range,
            })
            .collect();
    }
    let tokens = tokens(text);
    let mut asked = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let relation = relation(&token.lower());
        let Some(before) = at.checked_sub(1).map(|at| &tokens[at]) else {
            continue;
        };
        let is_ours = is_in(OURS, &before.lower());
        let is_only = relation.0 >> FIRST_ROLE != 0 && is_in(THE, &before.lower());
        let is_named = |next: &Token<'_>| next.starts_as_name() && !token.ends();
        let is_named = tokens.get(at + 1).is_some_and(is_named);
        if relation.is_empty() || !(is_ours || is_only) || is_named {
            continue;
        }
        let start = if is_ours { before.start } else { token.start };
        let end = token.start + token.own().len();
        asked.push(Asked {
            relation,
            word: &text[token.start..end],
            phrase: start..end,
        });
    }
    asked
}

/// The name of whoever is `relation` to the writer, where the line `text` tells it.
pub fn name_of(relation_of: Relation, text: &str) -> Option<&str> {
    if is_spaceless(text) {
        let mut found = in_run(text).filter(|(_, relation)| relation.meets(relation_of));
        return found.find_map(|(range, _)| name_after(text, range.end));
    }
    text.split('|').find_map(|cell| name_in(relation_of, cell))
}

fn name_in(relation_of: Relation, cell: &str) -> Option<&str> {
    let tokens = tokens(cell);
    tokens.iter().enumerate().find_map(|(at, token)| {
        let word = token.lower();
        if !relation(&word).meets(relation_of) || token.is_of_somebody() {
            return None;
        }
        let before = at.checked_sub(1).map(|at| &tokens[at]);
        if token.whole.starts_with('(') && token.whole.contains(')') {
            // "Neil (brother)".
            return tokens[..at].iter().find_map(name);
        }
        let is_ours = before.is_some_and(|it| is_in(OURS, &it.lower()));
        if is_ours && let Some(name) = name_before(&tokens[..at - 1]) {
            return Some(name);
        }
        let is_title = is_in(TITLES, &word) && !token.whole.ends_with(':');
        let is_only = |before: &Token<'_>| {
            is_in(THE, &before.lower()) || before.whole.ends_with([',', ';', '.', ':'])
        };
        let is_first = before.is_none_or(is_only) && !is_title;
        if token.ends() || !(is_ours || is_first) {
            return None;
        }
        name_following(&tokens[at + 1..])
    })
}

/// "Anna is my sister", "Anna, my sister".
fn name_before<'a>(tokens: &[Token<'a>]) -> Option<&'a str> {
    let (last, before) = tokens.split_last()?;
    if is_in(LINKS, &last.lower()) {
        before.last().and_then(name)
    } else {
        Some(last)
            .filter(|it| it.whole.ends_with(','))
            .and_then(name)
    }
}

/// The first name after links and titles.
fn name_following<'a>(tokens: &[Token<'a>]) -> Option<&'a str> {
    let is_between = |token: &&Token<'_>| {
        let lower = token.lower();
        is_in(LINKS, &lower) || is_in("s", &lower) || is_title(&lower)
    };
    tokens
        .iter()
        .find(|token| !is_between(token))
        .and_then(name)
}

/// A word that may name somebody: with a capital, and no word that notes have otherwise.
fn name<'a>(token: &Token<'a>) -> Option<&'a str> {
    const LANGUAGES: [Language; 4] = [
        Language::English,
        Language::German,
        Language::French,
        Language::Spanish,
    ];
    let lower = token.lower();
    let is_word = LANGUAGES
        .into_iter()
        .any(|of| lexicon::has_word(&lower, of) || stop_words::languages_of(&lower).contains(of));
    let is_name = token.starts_as_name()
        && token.bare.chars().count() > 1
        && token.bare.chars().all(|c| c.is_alphabetic() || c == '-')
        && !is_word
        && relation(&lower).is_empty()
        && !lexicon::is_frame(&lower)
        && facts(token.bare).is_empty();
    is_name.then_some(token.bare)
}

/// Whether words of it are not parted, as in Japanese.
pub fn is_spaceless(text: &str) -> bool {
    text.contains(|c: char| c >= '\u{3040}')
}

/// The words of a run without spaces that say what somebody is, each alone: not "姉の夫".
fn in_run(text: &str) -> impl Iterator<Item = (Range<usize>, Relation)> {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.filter_map(|at| {
        let before = text[..at].chars().next_back();
        let is_inside = before.is_some_and(|c| is_kanji(c) || c == 'の' || c == 'お');
        let is_mine = text[..at].ends_with("私の");
        if is_inside && !is_mine {
            return None;
        }
        let rest = &text[at..];
        let end = longest_in(rest)?;
        let after = rest[end..].chars().next();
        let whose = rest[end..].strip_prefix('の').unwrap_or_default();
        let is_whole = !after.is_some_and(is_kanji) && longest_in(whose).is_none();
        is_whole.then(|| (at..at + end, relation(&rest[..end])))
    })
}

/// Where the longest word for what somebody is ends with which `text` begins.
fn longest_in(text: &str) -> Option<usize> {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let ends = ends.take(LONGEST);
    ends.filter(|&end| !relation(&text[..end]).is_empty())
        .last()
}

/// The longest word for what somebody is, in characters.
const LONGEST: usize = 6;
/// The longest name.
const NAME: usize = 6;

fn is_kanji(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '々')
}

/// The name that follows at `at`: "妹の美咲が".
fn name_after(text: &str, at: usize) -> Option<&str> {
    let rest = text[at..].strip_prefix(['の', '、', '：', ':'])?;
    let is_of_name = |c: char| is_kanji(c) || matches!(c, '\u{30a1}'..='\u{30fc}');
    let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
    let name = &rest[..end];
    let length = name.chars().count();
    let next = rest[end..].chars().next();
    let is_end = next.is_none_or(|c| {
        "はがにのとをもでか、。「（( ".contains(c) || rest[end..].starts_with("さん")
    });
    let mut is_word = false;
    lexicon::related_in(name, Default::default(), |_, _, _| is_word = true);
    ((1..=NAME).contains(&length) && is_end && !is_word && relation(name).is_empty())
        .then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn phrases(text: &str) -> Vec<&str> {
        let asked = asked_relations(text);
        asked.into_iter().map(|it| &text[it.phrase]).collect()
    }

    proptest! {
        #[test]
        fn relations_of_any_text_are_within_it(text in "([a-zA-Z'’. (),|は姉妹の私お]|my |sister|’s|'s| is |ß|é){0,24}") {
            for asked in asked_relations(&text) {
                prop_assert!(text.get(asked.phrase).is_some_and(|it| it.ends_with(asked.word)), "{text}");
            }
            for word in ["sister", "妹", "boss"] {
                prop_assert!(name_of(relation(word), &text).is_none_or(|name| text.contains(name)));
            }
        }
    }

    fn named<'a>(word: &str, text: &'a str) -> Option<&'a str> {
        name_of(relation(word), text)
    }

    #[test]
    fn relations_are_asked_for_by_what_somebody_is() {
        assert_eq!(phrases("When is my sister's birthday?"), ["my sister"]);
        assert_eq!(phrases("When is my sister’s birthday?"), ["my sister"]);
        assert_eq!(
            phrases("Wo war meine Schwester in Kur?"),
            ["meine Schwester"]
        );
        assert_eq!(
            phrases("Quel est le métier de mon gendre ?"),
            ["mon gendre"]
        );
        assert_eq!(phrases("¿Qué quiere el casero?"), ["casero"]);
        assert_eq!(phrases("妹の仕事は?"), ["妹"]);
        for text in [
            "my sister Anna",
            "Dom's brother",
            "姉の夫は?",
            "大丈夫?",
            "the brother",
        ] {
            assert!(phrases(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn relation_has_the_name_that_a_line_tells() {
        for (word, text, name) in [
            (
                "schwester",
                "Meine Schwester Heidrun kommt am Freitag",
                "Heidrun",
            ),
            ("brother", "Neil (brother)", "Neil"),
            ("wife", "- Wife: Chisato, A positive", "Chisato"),
            ("hermano", "Mi hermano se llama Toni", "Toni"),
            ("frère", "Tanguy est mon frère", "Tanguy"),
            ("frère", "- Mon frère Tanguy est soudeur", "Tanguy"),
            ("sister", "- Mi hermana, Graciela, se mudó", "Graciela"),
            (
                "landlord",
                "- Landlord is Mr Fahy, rent on the third",
                "Fahy",
            ),
            ("妹", "妹の美咲が離婚する", "美咲"),
            ("弟", "弟の健司から借りた", "健司"),
        ] {
            assert_eq!(named(word, text), Some(name), "{text}");
        }
        for (word, text) in [
            ("frau", "- Frau Weber hat den Schlüssel"),
            ("bruder", "Mein Bruder Montag zum Essen"),
            ("brother", "Dom's brother Will got engaged"),
            ("妹", "妹の誕生日は五月"),
            ("sister", "My brother Will"),
        ] {
            assert_eq!(named(word, text), None, "{text}");
        }
    }
}
