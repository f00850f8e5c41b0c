//! What somebody must not eat, drink or take: a note that tells it says what they do not tolerate,
//! or that they have to do without.

use super::language::{Language, Languages};
use super::lexicon::{Origin, related};

/// What is asked for, and told, in a language.
struct Words {
    language: Language,
    /// Of eating, drinking and taking, and of what is taken.
    taking: &'static str,
    /// That something is not, or must not be.
    not: &'static str,
    /// That something is not tolerated, without another word.
    alone: &'static str,
    /// By what it is known in the lexicon.
    known: &'static str,
}

const WORDS: [Words; 4] = [
    Words {
        language: Language::English,
        taking: "eat eats eating drink drinks drinking food foods meal have given give put take takes tolerate tolerates stand \
            touch makes make made medicine medicines medication drug drugs painkiller painkillers pill pills tablets antibiotic antibiotics",
        not: "not never can't cannot don't doesn't mustn't shouldn't won't forbidden without no ill sick rash",
        alone: "allergic allergy allergies intolerant intolerance avoid avoids refuse refuses upsets disagrees poisonous toxic",
        known: "allergic",
    },
    Words {
        language: Language::German,
        taking: "essen isst esse trinken trinkt trinke nehmen nimmt nehme vertragen verträgt vertrage bekommen bekommt geben \
            fressen frisst medikament medikamente tabletten schmerzmittel antibiotikum lebensmittel",
        not: "nicht kein keine keinen nie niemals verboten",
        alone: "allergisch allergie allergien unverträglichkeit intoleranz laktoseintoleranz meiden vermeiden meidet giftig",
        known: "allergie",
    },
    Words {
        language: Language::French,
        taking: "mange manger mangent boire boit prendre prend prends supporte supporter tolère digère donner donne médicament \
            médicaments comprimés antibiotique aliment aliments",
        not: "pas jamais interdit interdite interdits interdites sans ni",
        alone: "allergique allergie allergies intolérant intolérante intolérance éviter évite proscrire toxique toxiques",
        known: "allergie",
    },
    Words {
        language: Language::Spanish,
        taking: "come comer comen beber bebe dar tomar toma tomo sienta sientan tolera tolero soporta medicamento medicamentos \
            medicina medicinas pastilla pastillas antibiótico alimento alimentos comida",
        not: "no nunca jamás nada prohibido prohibida prohibidos prohibidas sin mal",
        alone: "alérgico alérgica alergia alergias intolerante intolerancia evitar evita venenoso venenosos tóxico tóxicos",
        known: "alergia",
    },
];
/// The same in Japanese, within a word.
const NOT_IN: [&str; 9] = [
    "いけない",
    "だめ",
    "ダメ",
    "駄目",
    "られない",
    "めない",
    "禁",
    "避け",
    "合わない",
];
const TAKING_IN: [&str; 4] = ["食べ", "飲", "食事", "薬"];
const ALONE_IN: [&str; 2] = ["アレルギー", "不耐"];
/// Who does without something, in lower case: it tells what they do not eat, and does not ask for it.
const DIETS: &str = "vegan vegetarian vegetarians coeliac celiac diabetic teetotal kosher halal rash hives veganer veganerin vegetarier \
    vegetarierin diabetiker diabetikerin zöliakie végane végétalien végétalienne végétarien végétarienne cœliaque diabétique urticaire \
    reacts reagiert reagieren réagit réagissent reacciona reaccionan \
    vegano vegana vegetariano vegetariana celíaco celíaca celiaco celiaca diabético diabética abstemio sarpullido ronchas";
/// What tells it, where nothing says that it is of eating: "エビがだめ".
const TOLD_IN: [&str; 11] = [
    "体に合わない",
    "苦手",
    "ベジタリアン",
    "糖尿病",
    "じんましん",
    "だめ",
    "ダメ",
    "駄目",
    "NG",
    "受け付けない",
    "体質に合わない",
];

fn of(language: Language) -> Option<&'static Words> {
    WORDS.iter().find(|words| words.language == language)
}

fn has_in(text: &str, list: &[&str]) -> bool {
    list.iter().any(|one| text.contains(one))
}

/// Whether `text`, in `language`, says that somebody does not take, or not tolerate, something.
fn is_of_intolerance(text: &str, language: Language) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words: Vec<&str> = words.collect();
    let has = |list: &str| list.split_whitespace().any(|one| words.contains(&one));
    of(language).is_some_and(|its| has(its.alone) || (has(its.taking) && has(its.not)))
        || (has_in(text, &TAKING_IN) && has_in(text, &NOT_IN))
        || has_in(text, &ALONE_IN)
}

/// Whether `text`, in `language`, asks what somebody must not eat, drink or take: a note that
/// answers tells of what they do not tolerate.
pub fn asks_of_intolerance(text: &str, language: Language) -> bool {
    is_of_intolerance(text, language)
}

/// Whether `text`, in `language`, tells that somebody does not take, or not tolerate, something.
pub fn tells_intolerance(text: &str, language: Language) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    let is_of_diet = words.any(|word| DIETS.split_whitespace().any(|diet| diet == word));
    is_of_diet || is_of_intolerance(text, language) || has_in(text, &TOLD_IN)
}

/// Whether `word`, in lower case, is one of eating, of taking or of what is not tolerated in
/// `language`, and none of what is taken.
pub fn is_eating(word: &str, language: Language) -> bool {
    let is_in = |list: &str| list.split_whitespace().any(|one| one == word);
    of(language).is_some_and(|its| is_in(its.alone) || is_in(its.taking) && !is_thing(word))
}

/// Words of such a question that say nothing of what is asked for, by language: that it is not good
/// for somebody, and that it is food.
const BESIDE: [(Language, &str); 4] = [
    (
        Language::English,
        "food foods thing things kind ingredient ingredients bad ill sick well forbidden off-limits",
    ),
    (
        Language::German,
        "lebensmittel zutat zutaten schlecht gut krank verboten",
    ),
    (
        Language::French,
        "aliment aliments nourriture plat plats mal bien malade interdit interdits interdite interdites",
    ),
    (
        Language::Spanish,
        "alimento alimentos comida comidas mal bien prohibido prohibida prohibidos prohibidas",
    ),
];

/// Whether `word`, in lower case, says nothing in a question, in `language`, of what somebody must not eat.
pub fn is_beside_eating(word: &str, language: Language) -> bool {
    let mut lists = BESIDE.iter().filter(|(of, _)| *of == language);
    lists.any(|(_, list)| list.split_whitespace().any(|one| one == word))
}

/// What is taken, in all of the languages.
const THINGS: &str = "food foods meal medicine medicines medication drug drugs painkiller painkillers pill pills tablets antibiotic \
    antibiotics medikament medikamente tabletten schmerzmittel antibiotikum lebensmittel médicament médicaments comprimés \
    antibiotique aliment aliments medicamento medicamentos medicina medicinas pastilla pastillas antibiótico alimento alimentos";

fn is_thing(word: &str) -> bool {
    THINGS.split_whitespace().any(|one| one == word)
}

/// Calls `sink` with terms for what somebody does not tolerate, as [`related`] does.
pub fn intolerance(language: Language, languages: Languages, sink: impl FnMut(&str, Origin)) {
    let words = of(language).unwrap_or(&WORDS[0]);
    related(words.known, words.language, languages, sink);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intolerance_is_asked_for_by_what_is_not_eaten() {
        for (language, text) in [
            (Language::English, "What can't Rosalind eat?"),
            (Language::English, "Which tablets should Rosalind avoid?"),
            (Language::German, "Was sollte Detlef nie trinken?"),
            (Language::French, "Qu'est-ce que Maud ne mange pas ?"),
            (Language::Spanish, "¿Qué no puede comer Iker?"),
            (Language::Spanish, "¿A qué es alérgico Iker?"),
            (Language::English, "直人が飲んではいけないものは?"),
        ] {
            assert!(asks_of_intolerance(text, language), "{text}");
        }
        for text in [
            "What does Rosalind eat?",
            "Why can't Rosalind come?",
            "直人は何を飲む?",
            "直人はなぜ行かれないの? 禁",
        ] {
            assert!(!asks_of_intolerance(text, Language::English), "{text}");
        }
        assert!(is_eating("trinken", Language::German) && !is_eating("fahren", Language::German));
        assert!(!is_eating("come", Language::English) && is_eating("come", Language::Spanish));
        assert!(!is_eating("tablets", Language::English));
    }

    #[test]
    fn intolerance_is_told_by_what_is_not_taken() {
        for (language, text) in [
            (Language::English, "I can't take codeine, it upsets me"),
            (Language::German, "Detlef verträgt keine Nüsse"),
            (Language::French, "Je ne supporte pas le soja"),
            (Language::Spanish, "A Iker le sienta mal el trigo"),
            (Language::English, "直人はそばがだめ"),
            (Language::German, "Detlef ist Vegetarier"),
            (Language::English, "Sulfa drugs give me a rash"),
        ] {
            assert!(tells_intolerance(text, language), "{text}");
        }
        for text in [
            "Rosalind takes codeine",
            "No car on Monday",
            "直人はそばが好き",
        ] {
            assert!(!tells_intolerance(text, Language::English), "{text}");
        }
    }

    #[test]
    fn intolerance_has_words_of_every_language() {
        let languages = Languages::default()
            .with(Language::German)
            .with(Language::French);
        let mut terms = Vec::new();
        intolerance(Language::German, languages, |term, of| {
            terms.push((term.to_owned(), of))
        });
        let has = |term: &str, of| terms.iter().any(|(other, its)| other == term && *its == of);
        assert!(has("allergi", Origin::Own), "{terms:?}");
        assert!(
            has("allerg", Origin::Other(Some(Language::French))),
            "{terms:?}"
        );
    }
}
