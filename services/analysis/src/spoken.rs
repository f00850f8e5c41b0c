//! In which language somebody speaks, told from a few words.
//!
//! A question of four words has one or two that are of one language alone, and
//! a name that says nothing: what a word tells is shared by the languages that
//! have it.

use super::language::{Language, Languages};
use super::terms::composed;
use super::word::{self, Part};
use super::{fold, lexicon, stop_words};

/// What a word that is in any text tells,
const COMMON: f32 = 1.0;
/// what one of everyday notes does, which others borrow,
const EVERYDAY: f32 = 0.5;
/// and what a letter or a sign does that one language alone has: a name has it
/// anywhere.
const LETTER: f32 = 0.3;

/// Words of short questions and greetings that say nothing of a language's texts,
/// or are what they are about.
const SPOKEN: [(Language, &str); 4] = [
    (
        Language::English,
        "hello hi hey bye please thanks thank yes good morning evening last next today tomorrow yesterday got \
         whose long old big tall buy bought eat eats drink drinks like likes love loves work works wear wears \
         play plays speak speaks sleep sleeps own owns cost go goes come comes see open close start end",
    ),
    (
        Language::German,
        "wurde wurden hallo moin servus danke bitte ja nein guten morgen abend tag letzte letzten letztes nächste nächsten \
         nächstes heute gestern alt lang groß oft isst trinkt mag liebt arbeitet trägt spielt spricht schläft \
         fahren fährt fahre kommt kommen kaufen kaufe gekauft gehört schmeckt ruft öffnet schließt fängt endet \
         hilft bringt holt singt lernt liest schreibt treffen sehen essen trinken kochen",
    ),
    (
        Language::French,
        "bonjour salut bonsoir merci oui non stp svp dernier dernière prochain prochaine hier aujourd hui demain \
         âge vieux mange boit aime adore travaille porte joue parle dort sait savoir vient venir part partir \
         arrive acheter acheté ouvre ferme commence finit coûte chante nage apprend lit écrit fête viens pars \
         manger boire jouer est-ce",
    ),
    (
        Language::Spanish,
        "hola gracias sí buenos buenas días tardes noches último última próximo próxima ayer hoy mañana años \
         viejo come bebe gusta gustan trabaja lleva juega habla duerme sabe viene venir sale salir llega comprar \
         compró compré abre cierra empieza termina cuesta canta nada aprende lee escribe vamos vas voy comer \
         beber jugar dime cuál adónde",
    ),
];

/// Signs that one language alone is written with, of those in [`SPOKEN`].
const SIGNS: [(Language, &[char]); 3] = [
    (Language::German, &['ß', 'ä', 'ö']),
    (
        Language::French,
        &['è', 'ê', 'ë', 'à', 'â', 'ç', 'œ', 'ù', 'û', 'î', 'ô'],
    ),
    (Language::Spanish, &['ñ', 'í', 'ó', 'á', 'ú', 'º']),
];
/// What no other language is written with.
const SPANISH: [char; 2] = ['¿', '¡'];

/// Which of `languages` `text` is in, of equals the first; None where nothing
/// tells, or where words tell of another language.
pub fn spoken(text: &str, languages: Languages) -> Option<Language> {
    if languages.contains(Language::Spanish) && text.contains(SPANISH) {
        return Some(Language::Spanish);
    }
    let text = composed(text);
    let mut told = [0.0; Language::ALL.len()];
    let mut stops = [0; Language::ALL.len()];
    let mut folded = String::new();
    word::split(&text, |part| {
        let Part::Word(word) = part else { return };
        folded.clear();
        fold::lowercase(word, &mut folded);
        let stop = stop_words::languages_of(&folded);
        let asks = stop.union(spoken_in(&folded));
        let asks = asks.union(lexicon::frames_of(&folded)).among(languages);
        let (of, weight) = if asks == Languages::default() {
            (lexicon::words_of(&folded).among(languages), EVERYDAY)
        } else {
            (asks, COMMON)
        };
        let share = weight / of.iter().count() as f32;
        of.iter().for_each(|it| told[it as usize] += share);
        stop.iter().for_each(|it| stops[it as usize] += 1);
    });
    for (language, signs) in SIGNS {
        if languages.contains(language) && text.contains(signs) {
            told[language as usize] += LETTER;
        }
    }
    let mut best: Option<Language> = None;
    for language in languages.iter() {
        let known = best.map_or(0.0, |best| told[best as usize]);
        if told[language as usize] > known {
            best = Some(language);
        }
    }
    let stops_of = |language: Language| stops[language as usize];
    let own = languages.iter().map(stops_of).max().unwrap_or_default();
    let others = Language::ALL.into_iter();
    let others = others.filter(|&language| !languages.contains(language));
    let strange = others.map(stops_of).max().unwrap_or_default();
    best.filter(|&best| strange < 2 * own || strange as f32 <= told[best as usize])
}

/// The languages that have `word`, in lower case, in [`SPOKEN`].
fn spoken_in(word: &str) -> Languages {
    let with = SPOKEN.into_iter();
    let with = with.filter(|(_, words)| words.split_whitespace().any(|other| other == word));
    with.map(|(language, _)| language).collect()
}
