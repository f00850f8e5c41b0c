//! Who somebody is to somebody: "my brother's wife" is a sister-in-law.
//!
//! A question and a note name the same relative in one word or in two, in any of five languages.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Relatives with a word of their own, a bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kin(u32);

impl Kin {
    /// Whether the two have a relative in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether no relative is named.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A relative whom everybody has a short word for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Near {
    Mother,
    Father,
    Sister,
    Brother,
    Wife,
    Husband,
    Daughter,
    Son,
    Aunt,
    Uncle,
    Grandmother,
    Grandfather,
}

use Near::{
    Aunt, Brother, Daughter, Father, Grandfather, Grandmother, Husband, Mother, Sister, Son, Uncle,
    Wife,
};

/// Their words, in lower case, with the forms that say whose somebody is.
const NEAR: [(Near, &str); 12] = [
    (
        Mother,
        "mother mum mom mama mamma mutter mutti mère maman madre mamá 母 お母さん 母親",
    ),
    (
        Father,
        "father dad papa daddy vater vaters vati père padre papá 父 お父さん 父親",
    ),
    (
        Sister,
        "sister schwester sœur soeur frangine hermana 姉 妹 姉さん お姉さん",
    ),
    (
        Brother,
        "brother bruder bruders frère frangin hermano 兄 弟 お兄さん",
    ),
    (
        Wife,
        "wife partner girlfriend frau ehefrau partnerin freundin femme épouse compagne conjointe mujer esposa pareja novia 妻 奥さん 嫁 家内",
    ),
    (
        Husband,
        "husband partner boyfriend mann mannes ehemann ehemannes partner freund mari époux compagnon conjoint marido esposo pareja novio 夫 旦那 主人 旦那さん ご主人",
    ),
    (Daughter, "daughter tochter fille hija 娘"),
    (Son, "son sohn sohnes sohns fils hijo 息子"),
    (Aunt, "aunt auntie tante tata tía 叔母 伯母 おば"),
    (Uncle, "uncle onkel onkels oncle tonton tío 叔父 伯父 おじ"),
    (
        Grandmother,
        "grandmother grandma granny oma großmutter mamie grand-mère abuela 祖母",
    ),
    (
        Grandfather,
        "grandfather grandpa grandad opa opas großvater großvaters papi papy grand-père abuelo 祖父",
    ),
];

const MOTHER_IN_LAW: Kin = Kin(1);
const FATHER_IN_LAW: Kin = Kin(1 << 1);
const SISTER_IN_LAW: Kin = Kin(1 << 2);
const BROTHER_IN_LAW: Kin = Kin(1 << 3);
const STEPMOTHER: Kin = Kin(1 << 4);
const STEPFATHER: Kin = Kin(1 << 5);
const GRANDMOTHER: Kin = Kin(1 << 6);
const GRANDFATHER: Kin = Kin(1 << 7);
const AUNT: Kin = Kin(1 << 8);
const UNCLE: Kin = Kin(1 << 9);
const NIECE: Kin = Kin(1 << 10);
const NEPHEW: Kin = Kin(1 << 11);
const GRANDDAUGHTER: Kin = Kin(1 << 12);
const GRANDSON: Kin = Kin(1 << 13);
const DAUGHTER_IN_LAW: Kin = Kin(1 << 14);
const SON_IN_LAW: Kin = Kin(1 << 15);
const COUSIN: Kin = Kin(1 << 16);
const STEPDAUGHTER: Kin = Kin(1 << 17);
const STEPSON: Kin = Kin(1 << 18);

/// Whose whom has a word of its own.
#[rustfmt::skip]
const OF: [(&[Near], Near, Kin); 28] = [
    (&[Wife, Husband], Mother, MOTHER_IN_LAW),
    (&[Wife, Husband], Father, FATHER_IN_LAW),
    (&[Wife, Husband], Sister, SISTER_IN_LAW),
    (&[Wife, Husband], Brother, BROTHER_IN_LAW),
    (&[Wife, Husband], Daughter, STEPDAUGHTER),
    (&[Wife, Husband], Son, STEPSON),
    (&[Brother, Sister], Wife, SISTER_IN_LAW),
    (&[Brother, Sister], Husband, BROTHER_IN_LAW),
    (&[Brother, Sister], Daughter, NIECE),
    (&[Brother, Sister], Son, NEPHEW),
    (&[Father], Wife, STEPMOTHER),
    (&[Mother], Husband, STEPFATHER),
    (&[Mother, Father], Mother, GRANDMOTHER),
    (&[Mother, Father], Father, GRANDFATHER),
    (&[Mother, Father], Sister, AUNT),
    (&[Mother, Father], Brother, UNCLE),
    (&[Son, Daughter], Wife, DAUGHTER_IN_LAW),
    (&[Son, Daughter], Husband, SON_IN_LAW),
    (&[Son, Daughter], Daughter, GRANDDAUGHTER),
    (&[Son, Daughter], Son, GRANDSON),
    (&[Aunt, Uncle], Daughter, COUSIN),
    (&[Aunt, Uncle], Son, COUSIN),
    (&[Aunt], Husband, UNCLE),
    (&[Uncle], Wife, AUNT),
    (&[Grandmother], Husband, GRANDFATHER),
    (&[Grandfather], Wife, GRANDMOTHER),
    (&[Grandmother, Grandfather], Daughter, AUNT),
    (&[Grandmother, Grandfather], Son, UNCLE),
];

/// The words of relatives that have one, in lower case.
const WORDS: [(Kin, &str); 19] = [
    (
        MOTHER_IN_LAW,
        "mother-in-law schwiegermutter suegra belle-mère belle-maman 義母 義理の母 姑 しゅうとめ",
    ),
    (
        FATHER_IN_LAW,
        "father-in-law schwiegervater suegro beau-père beau-papa 義父 義理の父 舅",
    ),
    (
        SISTER_IN_LAW,
        "sister-in-law schwägerin cuñada belle-sœur belle-soeur 義姉 義妹 義理の姉 義理の妹",
    ),
    (
        BROTHER_IN_LAW,
        "brother-in-law schwager cuñado beau-frère 義兄 義弟 義理の兄 義理の弟",
    ),
    (
        STEPMOTHER,
        "stepmother stepmum stepmom stiefmutter madrastra belle-mère 継母",
    ),
    (
        STEPFATHER,
        "stepfather stepdad stiefvater padrastro beau-père 継父",
    ),
    (
        GRANDMOTHER,
        "grandmother grandma granny gran nana großmutter oma omi grand-mère mamie mémé abuela 祖母 おばあちゃん",
    ),
    (
        GRANDFATHER,
        "grandfather grandpa grandad granddad großvater opa grand-père papi papy pépé abuelo 祖父 おじいちゃん",
    ),
    (AUNT, "aunt auntie tante tata tía 叔母 伯母"),
    (UNCLE, "uncle onkel oncle tonton tío 叔父 伯父"),
    (NIECE, "niece nichte nièce sobrina 姪"),
    (NEPHEW, "nephew neffe neffen neveu sobrino 甥"),
    (
        GRANDDAUGHTER,
        "granddaughter enkelin enkeltochter petite-fille nieta 孫",
    ),
    (GRANDSON, "grandson enkel enkelsohn petit-fils nieto 孫"),
    (
        DAUGHTER_IN_LAW,
        "daughter-in-law schwiegertochter nuera belle-fille",
    ),
    (
        SON_IN_LAW,
        "son-in-law schwiegersohn yerno gendre beau-fils 婿",
    ),
    (
        COUSIN,
        "cousin cousins cousine cousines kusine vetter primo primos prima いとこ 従兄 従妹 従姉 従弟",
    ),
    (
        STEPDAUGHTER,
        "stepdaughter stieftochter hijastra belle-fille",
    ),
    (STEPSON, "stepson stiefsohn hijastro beau-fils"),
];

/// Between somebody and whose they are: one of the first at least.
const OF_WHOM: &str = "of von vom de del du des d meines meiner deines deiner unseres unserer seines seiner ihres ihrer der";
const BESIDE: &str = "my our your his her the mein meine meinem dein deine unser unsere unserem sein seine seinem ihr ihre ihrem mon ma \
    ton ta notre votre leur son sa mi tu su nuestro nuestra la el le l";
/// Before somebody who is told of as somebody else's.
const THEIRS: &str =
    "his her their sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer son sa su leur";
/// The most words between whose somebody is and who that is: "my brother's new wife".
const BETWEEN: usize = 2;

/// A relative that a text names.
struct Found<'a> {
    kin: Kin,
    /// The words that do.
    words: Vec<&'a str>,
}

/// The relatives that `text` names, in one word or in two.
pub fn kin(text: &str) -> Kin {
    let lower = text.to_lowercase();
    found(&lower)
        .iter()
        .fold(Kin::default(), |all, it| all.with(it.kin))
}

/// The relatives that the question `text` asks about, with the words that name them, in lower case.
pub fn asked_kin(text: &str) -> (Kin, Vec<String>) {
    let lower = text.to_lowercase();
    let mut all = (Kin::default(), Vec::new());
    for found in found(&lower) {
        all.0 = all.0.with(found.kin);
        all.1.extend(found.words.into_iter().map(str::to_owned));
    }
    all
}

fn found(lower: &str) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    if lower.contains(|c: char| c >= '\u{3040}') {
        read_spaceless(lower, &mut found);
    }
    let words: Vec<&str> = lower
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | '|' | '"'))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .collect();
    for (at, word) in words.iter().enumerate() {
        let kin = by_word(word);
        if !kin.is_empty() {
            let words = vec![*word];
            found.push(Found { kin, words });
        }
        for whom in near(word) {
            if let Some((kin, owner)) = composed(&words, at, whom) {
                let words = vec![*word, owner];
                found.push(Found { kin, words });
            }
        }
    }
    found
}

/// Who a word names: a relative that has one, and those whom everybody has a short one for.
#[derive(Debug, Default)]
struct Named {
    kin: Kin,
    near: Vec<Near>,
}

/// The words of both lists.
fn table() -> &'static HashMap<&'static str, Named> {
    static TABLE: OnceLock<HashMap<&str, Named>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: HashMap<&str, Named> = HashMap::new();
        for (kin, list) in WORDS {
            for word in list.split_whitespace() {
                let named = table.entry(word).or_default();
                named.kin = named.kin.with(kin);
            }
        }
        for (near, list) in NEAR {
            for word in list.split_whitespace() {
                table.entry(word).or_default().near.push(near);
            }
        }
        table
    })
}

fn by_word(word: &str) -> Kin {
    table().get(word).map(|named| named.kin).unwrap_or_default()
}

fn near(word: &str) -> impl Iterator<Item = Near> {
    let named = table().get(word);
    named
        .into_iter()
        .flat_map(|named| named.near.iter().copied())
}

/// The relatives that `word`, in lower case, alone stands for, a bit each.
pub(super) fn relatives(word: &str) -> u32 {
    let Some(named) = table().get(word) else {
        return 0;
    };
    let near: u32 = named.near.iter().map(|near| 1 << *near as u32).sum();
    near | named.kin.0 << NEAR.len()
}

pub(super) fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|one| one == word)
}

/// What `whom` is to somebody, of `whose`.
fn of(whose: &str, whom: Near) -> Option<Kin> {
    let known = near(whose).find_map(|whose| {
        let mut pairs = OF.iter();
        pairs.find(|(owners, its, _)| *its == whom && owners.contains(&whose))
    });
    known.map(|(_, _, kin)| *kin)
}

/// What `whom`, whose word is the one with the number `at`, is to the one whose relative they are,
/// with the word for that one.
fn composed<'a>(words: &[&'a str], at: usize, whom: Near) -> Option<(Kin, &'a str)> {
    let before = &words[..at];
    // "My brother's wife", "my brother's new wife".
    let owners = before.iter().rev().take(BETWEEN + 1);
    for owner in owners {
        let bare = owner.strip_suffix("'s").or(owner.strip_suffix("’s"));
        if let Some(bare) = bare
            && let Some(kin) = of(bare, whom)
        {
            return Some((kin, bare));
        }
    }
    // "La femme de mon frère", "die Frau meines Bruders".
    let mut is_of = false;
    for word in &words[at + 1..] {
        let (link, rest) = word.split_once(['\'', '’']).unwrap_or(("", word));
        if let Some(kin) = of(rest, whom) {
            return (is_of || is_in(OF_WHOM, link)).then_some((kin, rest));
        }
        is_of |= is_in(OF_WHOM, word);
        if !is_in(OF_WHOM, word) && !is_in(BESIDE, word) {
            break;
        }
    }
    // "Mein Bruder wohnt in Bremen, seine Frau …".
    let is_theirs = before
        .iter()
        .rev()
        .take(BETWEEN)
        .any(|it| is_in(THEIRS, it));
    let mut owners = before.iter().rev().filter(|_| is_theirs);
    owners.find_map(|owner| of(owner, whom).map(|kin| (kin, *owner)))
}

/// The same where words are not parted: "姉の夫".
fn read_spaceless<'a>(text: &'a str, found: &mut Vec<Found<'a>>) {
    for (kin, list) in &WORDS {
        let words = list.split_whitespace().filter(|word| !word.is_ascii());
        let words = words.filter(|word| word.starts_with(|c: char| c >= '\u{3040}'));
        for word in words {
            if let Some(at) = text.find(word) {
                let words = vec![&text[at..at + word.len()]];
                found.push(Found { kin: *kin, words });
            }
        }
    }
    for (at, mark) in text.match_indices('の') {
        let after = &text[at + mark.len()..];
        for (whom, list) in &NEAR {
            let named = list.split_whitespace().find(|it| after.starts_with(*it));
            let Some(named) = named else { continue };
            let owners = NEAR.iter().flat_map(|(_, list)| list.split_whitespace());
            let kin = owners
                .filter(|owner| text[..at].ends_with(*owner))
                .find_map(|owner| of(owner, *whom).map(|kin| (kin, owner.len())));
            if let Some((kin, length)) = kin {
                let end = at + mark.len() + named.len();
                let words = vec![&text[at - length..end]];
                found.push(Found { kin, words });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kin_is_the_same_in_one_word_and_in_two() {
        for (one, other) in [
            ("my brother's new wife", "Sister-in-law Paula"),
            ("my mum’s husband", "My stepfather Leonard"),
            ("die Frau meines Bruders", "Meine Schwägerin"),
            (
                "Mein Bruder Henning wohnt in Bremen, seine Frau heißt Aylin",
                "Schwägerin",
            ),
            ("le mari de ma sœur", "Mon beau-frère Karim"),
            ("la madre de mi marido", "mi suegra"),
            ("夫の母", "義母の文子"),
            ("姉の夫は消防士", "義理の兄"),
            ("my son's daughter", "la nieta"),
        ] {
            assert!(kin(one).meets(kin(other)), "{one}: {other}");
        }
        for (one, other) in [
            ("my brother and my wife", "Sister-in-law Paula"),
            ("Mein Bruder und meine Frau", "Schwägerin"),
            ("my brother's wife", "brother-in-law"),
            ("the mother of the bride", "grandmother"),
        ] {
            assert!(!kin(one).meets(kin(other)), "{one}: {other}");
        }
    }

    #[test]
    fn kin_that_is_asked_about_is_told_by_its_words() {
        let (_, words) = asked_kin("What does my brother's wife do?");
        assert_eq!(words, ["wife", "brother"]);
        let (_, words) = asked_kin("姉の夫の職業は?");
        assert_eq!(words, ["姉の夫"]);
        assert!(asked_kin("Where is the key?").1.is_empty());
    }
}
