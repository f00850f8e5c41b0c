//! How a question is written.

use std::collections::{HashMap, HashSet};

use super::doing::is_doing;
use super::language::Language;
use super::lexicon::is_frame;
use super::sought::{Sought, sought, sought_words};
use super::terms::is_stop_word;
use super::traits::{Traits, facts};

/// How the words of a question are written, all in lower case.
#[derive(Debug, Default)]
pub struct Written {
    /// With a capital inside a sentence; in German that says nothing.
    pub names: HashSet<String>,
    /// Next to another with a capital: first and last name are one name.
    pub joined: HashSet<String>,
    /// With a capital where nouns have one, and with nothing before that a noun would have.
    pub bare: HashSet<String>,
    /// After an article or the like: no verbs.
    determined: HashSet<String>,
    /// With one where nouns have one.
    pub nouns: HashSet<String>,
    /// Without it there.
    pub small: HashSet<String>,
    /// After "which": what kind of thing an answer is.
    pub kinds: HashSet<String>,
    /// What is to be told: "colour".
    pub sought: HashSet<String>,
    /// Before another word that says something,
    pub modifiers: HashSet<String>,
    /// and that word.
    pub heads: HashMap<String, String>,
    /// Numbers that say which of several: "bed 5", "part II".
    pub numbers: HashSet<String>,
    /// Whether it asks for somebody, or for a place.
    pub is_who_or_where: bool,
    /// After "who": what somebody does.
    deed: Option<String>,
    /// Of a phrase that only says that something is: "takes place".
    pub idle: HashSet<String>,
    /// By their place verbs: after "qui", after "cuándo".
    pub verbs: HashSet<String>,
    /// "At home", and nowhere else.
    is_home: bool,
    /// Whether it asks for a reason, which tells of what was done in words of its own.
    is_why: bool,
    /// Whether it asks how something is done, which what it is done with tells: a code.
    is_how: bool,
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
/// How a question begins that asks how something is done, in lower case.
const HOW_TO: [&str; 6] = [
    "how do i ",
    "how do we ",
    "how can i ",
    "comment ",
    "cómo se abre",
    "cómo abro",
];
/// Before how much of something it is: "how hot".
const HOW: [&str; 2] = ["how", "wie"];
/// To be somewhere for long: where somebody works is not where they live.
const STAYING: &str = "live lives living lived wohnt wohnen wohne habite habitent habiter vit vive viven vivo work works working \
    arbeitet arbeiten travaille travaillent trabaja trabajan study studies studiert étudie estudia";

/// Phrases that only say that something is, or is now, and their words that others have too.
const IDLE: [(&str, &[&str]); 47] = [
    ("'élève", &["élève", "élèvent", "élever"]),
    ("’élève", &["élève", "élèvent", "élever"]),
    ("zur welt", &["welt"]),
    ("au monde", &["monde"]),
    ("beläuft sich", &["beläuft"]),
    ("belaufen sich", &["belaufen"]),
    ("asciende", &["asciende"]),
    ("ascienden", &["ascienden"]),
    ("tous les combien", &["combien"]),
    ("cada cuánto", &["cada", "cuánto"]),
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
    ("at the moment", &["moment"]),
    ("these days", &["days"]),
    ("right now", &["right"]),
    ("at present", &["present"]),
    ("so far", &["far"]),
    ("im moment", &["moment"]),
    ("zur zeit", &["zeit"]),
    ("en ce moment", &["moment"]),
    ("à présent", &["présent"]),
    ("au final", &["final"]),
    ("al final", &["final"]),
    ("en este momento", &["momento"]),
    ("de momento", &["momento"]),
    // What is from January on is so next year, and a note says the month.
    ("que viene", &["año", "mes", "viene"]),
    ("que entra", &["año", "mes", "entra"]),
    ("próximo año", &["próximo", "año"]),
    ("next year", &["next", "year"]),
    ("nächstes jahr", &["nächstes", "jahr"]),
    ("nächsten jahr", &["nächsten", "jahr"]),
    ("année prochaine", &["année", "prochaine"]),
    ("an prochain", &["an", "prochain"]),
    ("de monde", &["monde"]),
    ("à partir de", &["partir"]),
    ("a partir de", &["partir"]),
];

/// Words that say that something is now, always or never, by language: a note that tells it mostly
/// has none of them, or another.
const NOW: [(Language, &str); 4] = [
    (
        Language::English,
        "now nowadays currently presently finally eventually ultimately meanwhile lately anyway actually really just \
         already yet still again ever never always usually normally generally typically mostly exactly precisely roughly \
         approximately anymore else also too please regularly probably maybe perhaps apparently okay ok alright fine \
         altogether together while during whilst current latest present",
    ),
    (
        Language::German,
        "jetzt nun derzeit zurzeit momentan gerade aktuell aktuelle aktuellen aktueller aktuelles heutzutage inzwischen \
         mittlerweile letztendlich schließlich endlich letztlich eigentlich überhaupt denn etwa ungefähr circa genau \
         noch schon bereits wieder immer nie niemals normalerweise gewöhnlich meistens üblicherweise jeweils bitte wohl \
         vielleicht nochmal nochmals weiterhin künftig tatsächlich nunmehr mal während",
    ),
    (
        Language::French,
        "maintenant actuellement désormais dorénavant finalement enfin encore toujours jamais déjà normalement \
         habituellement généralement habitude exactement environ précisément actuel actuelle actuels actuelles plutôt \
         vraiment aussi récemment pendant lorsque lorsqu tandis",
    ),
    (
        Language::Spanish,
        "conmigo contigo ahora actualmente finalmente todavía aún ya siempre nunca jamás normalmente habitualmente generalmente \
         exactamente aproximadamente actual actuales realmente quizá también tampoco últimamente recientemente mientras durante",
    ),
];

/// Verbs that only help another, and titles, by language.
const HELPING: [(Language, &str); 4] = [
    (
        Language::English,
        "must shall would could might ought may mr mrs ms miss dr prof",
    ),
    (
        Language::German,
        "muss müssen musste mussten soll sollen sollte sollten kann können konnte konnten könnte darf dürfen durfte will \
         wollen wollte werde wird würde hatte hatten war waren herr herrn frau dr prof mag",
    ),
    (
        Language::French,
        "suis sommes êtes étais était ai avons avez avait puis peux peut pouvons pouvez peuvent pouvait dois doit devons \
         devez doivent vais allons allez vont veux veut faut jusqu lorsqu puisqu quelqu m mme mlle monsieur madame dr",
    ),
    (
        Language::Spanish,
        "soy eres somos estoy está estamos están estaba era fue había hemos han puedo puede podemos pueden debo debe \
         debemos deben voy vamos van señor señora sr sra srta don doña dr dra",
    ),
];
/// After a verb, in French questions: "attend-on".
const INVERTED: [&str; 12] = [
    "je", "tu", "il", "elle", "on", "nous", "vous", "ils", "elles", "ce", "t", "moi",
];
/// After these comes in English what is spoken of: "does stoat have".
const ASKING: [&str; 13] = [
    "does", "do", "did", "is", "are", "was", "were", "has", "have", "had", "can", "will", "of",
];

/// Before whoever does something in English questions,
const AUXILIARIES: [&str; 12] = [
    "do", "does", "did", "can", "could", "will", "would", "should", "must", "shall", "may", "might",
];
/// and who that is, with the verb right after.
const SPEAKERS: [&str; 8] = ["i", "we", "you", "they", "he", "she", "it", "one"];

/// What a noun comes after, by language.
const DETERMINERS: [(Language, &str); 4] = [
    (
        Language::English,
        "the a an my our your his her its their this that these those any no every each",
    ),
    (
        Language::German,
        "der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen \
         meinem meiner meines dein deine deinen deinem deiner sein seine seinen seinem seiner ihr ihre ihren ihrem \
         ihrer unser unsere unseren unserem unserer unseres euer eure euren diese dieser dieses diesen diesem jede \
         jeder jedes jeden jedem welche welcher welches welchen welchem alle viel viele mehr zum zur im am beim vom \
         ins ans aufs",
    ),
    (
        Language::French,
        "le la les l un une des du mon ma mes notre nos votre vos ton ta tes son sa ses leur leurs ce cet cette ces \
         au aux d",
    ),
    (
        Language::Spanish,
        "el la los las un una unos unas mi mis tu tus su sus nuestro nuestra nuestros nuestras del este esta estos \
         estas ese esa",
    ),
];
/// Before words that are articles elsewhere, and there point to something: "qui la garde".
const POINTING: &str = "qui que où quand comment combien pourquoi je j tu il elle on nous vous ils elles ne n me m te t pour \
    quién quiénes dónde cuándo cómo cuánto me te se nos os no";

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
    /// How the question `text`, in `language`, is written.
    pub fn new(text: &str, language: Language) -> Self {
        let is_german = language == Language::German;
        let wants = sought(text);
        let lower = text.to_lowercase();
        let mut written = Self {
            sought: sought_words(text).into_iter().collect(),
            is_who_or_where: wants.has(Sought::PLACE) || wants.has(Sought::PERSON),
            is_why: wants.has(Sought::REASON),
            is_how: HOW_TO
                .iter()
                .any(|how| lower.trim_start_matches('¿').starts_with(how)),
            is_home: AT_HOME.iter().any(|home| lower.contains(home)),
            ..Self::default()
        };
        for (_, words) in IDLE.iter().filter(|(phrase, _)| lower.contains(phrase)) {
            written
                .idle
                .extend(words.iter().map(|word| (*word).to_owned()));
        }
        written.read_pairs(&lower, language);
        let now = NOW.iter().chain(&HELPING).filter(|(of, _)| *of == language);
        let now = now.flat_map(|(_, words)| words.split_whitespace());
        written.idle.extend(now.map(str::to_owned));
        let (mut previous, mut is_bare) = (String::new(), false);
        let mut begins = true;
        let mut before: Option<String> = None;
        let mut title = false;
        for word in text.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let bare = bare.split(['\'', '’', '-']).next().unwrap_or_default();
            let lower = bare.to_lowercase();
            let last = std::mem::replace(&mut previous, lower.clone());
            let is_noun_next = is_noun_expected(&last);
            if let Some((verb, rest)) = word.split_once('-')
                && rest
                    .split(|c: char| !c.is_alphanumeric())
                    .next()
                    .is_some_and(|it| INVERTED.contains(&it))
                && language == Language::French
            {
                written.verbs.insert(verb.to_lowercase());
            }
            if language == Language::English && ASKING.contains(&last.as_str()) {
                written.bare.insert(lower.clone());
            }
            if is_ordinal(bare) && says_which(&last, language) {
                written.numbers.insert(lower.clone());
            }
            let is_titled = std::mem::replace(&mut title, TITLES.contains(&lower.as_str()));
            let is_capital = bare.starts_with(char::is_uppercase) && !begins;
            let mut is_joined = false;
            if is_capital {
                if is_german {
                    written.nouns.insert(lower.clone());
                    is_bare = !is_noun_next || (is_bare && before.is_some());
                    if is_bare && !TITLES.contains(&lower.as_str()) {
                        written.bare.insert(lower.clone());
                    }
                }
                if (!is_german || is_titled) && !written.idle.contains(&lower) {
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
        if is_german {
            written.fold();
        }
        // Who writes no capitals at all says nothing with it.
        if !text.chars().skip(1).any(char::is_uppercase) {
            written.small.clear();
        }
        written
    }

    /// Adds the words with a sharp s as words are compared, without it: "gross".
    fn fold(&mut self) {
        for set in [&mut self.sought, &mut self.idle] {
            let folded = set.iter().filter(|word| word.contains('ß'));
            let folded: Vec<String> = folded.map(|word| word.replace('ß', "ss")).collect();
            set.extend(folded);
        }
    }

    /// What words are by the one before them, in lower case.
    fn read_pairs(&mut self, lower: &str, language: Language) {
        let mut before: Option<&str> = None;
        let mut last = "";
        for word in lower.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let bare = bare.split(['\'', '’', '-']).next().unwrap_or_default();
            if let Some(before) = before {
                self.read_pair(before, bare, language);
            }
            if let Some(before) = before
                && language == Language::English
                && SPEAKERS.contains(&before)
                && AUXILIARIES.contains(&last)
            {
                self.verbs.insert(bare.to_owned());
            }
            last = before.unwrap_or_default();
            let ends = word.ends_with([',', ';', '.', '!', '?', ':']);
            // "What's Ada's job?" asks for no kind of Ada.
            let is_joined = bare == "what" && word.contains(['\'', '’']);
            before = (!ends).then_some(if is_joined { "is" } else { bare });
        }
        self.read_determined(lower, language);
    }

    /// What is no verb, as it comes after an article or the like.
    fn read_determined(&mut self, lower: &str, language: Language) {
        let list = DETERMINERS.iter().find(|(of, _)| *of == language);
        let is_determiner = |word: &str| {
            list.is_some_and(|(_, words)| words.split_whitespace().any(|it| it == word))
        };
        let is_pointing = |word: &str| POINTING.split_whitespace().any(|it| it == word);
        let words = lower.split(|c: char| !c.is_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        for (at, pair) in words.windows(2).enumerate() {
            let points = at.checked_sub(1).is_some_and(|at| is_pointing(words[at]));
            if is_determiner(pair[0]) && !points {
                self.determined.insert(pair[1].to_owned());
            }
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
        let says = |word: &str| !is_stop_word(word, language);
        if language == Language::English && says(before) && says(word) {
            self.modifiers.insert(before.to_owned());
        }
        let is_general = |word: &str| is_frame(word);
        if self.modifiers.contains(before) && !is_general(before) && !is_general(word) {
            self.heads.insert(before.to_owned(), word.to_owned());
        }
    }

    /// Whether `word` says little of what is asked for where it is missing. What
    /// is known by other words is missing without all of them.
    pub fn is_doing(&self, word: &str, language: Language, has_others: bool) -> bool {
        // "Who painted it" is not told by who has tiled it.
        let is_deed = has_others && self.deed.as_deref() == Some(word);
        // What is known by other words is missing without all of them.
        let is_known = has_others && !self.is_why && !self.is_how;
        (self.is_verb(word, language) && !is_deed)
            || (self.verbs.contains(word) && !is_deed && !is_known && !self.sought.contains(word))
            || (self.small.contains(word) && !is_known)
            || (self.kinds.contains(word) && !has_others)
    }

    /// Whether `word` is a verb that says little where it stands.
    pub fn is_verb(&self, word: &str, language: Language) -> bool {
        is_doing(word, language) && !self.determined.contains(word)
    }

    /// Whether nothing is told of what is asked for without `word`.
    pub fn is_needed(&self, word: &str) -> bool {
        let is_of_home = || {
            let mut last = AT_HOME
                .iter()
                .filter_map(|home| home.split(' ').next_back());
            last.any(|home| home == word)
        };
        (self.is_who_or_where && STAYING.split_whitespace().any(|it| it == word))
            || (self.is_home && is_of_home())
    }

    /// What `word` counts, of what others do.
    pub fn factor(&self, word: &str) -> f32 {
        if self.joined.contains(word) {
            JOINED
        } else if self.small.contains(word) {
            SMALL
        } else {
            1.0
        }
    }
}

/// Whether a noun after `word`, in lower case, is one of many: "die", "schönen", "zwei". A name
/// has none of these before it.
fn is_noun_expected(word: &str) -> bool {
    const ENDS: [&str; 5] = ["e", "en", "er", "es", "em"];
    let list = DETERMINERS.iter().find(|(of, _)| *of == Language::German);
    let mut determiners = list.iter().flat_map(|(_, words)| words.split_whitespace());
    // These end as adjectives do.
    let is_other = [
        "heißen", "wegen", "unter", "über", "neben", "zwischen", "gegen", "haben", "hatte",
    ]
    .contains(&word);
    word.is_empty()
        || determiners.any(|it| it == word)
        || facts(word).meets(Traits::NUMBER)
        || (!is_other && ENDS.iter().any(|end| word.ends_with(end)))
}

/// Whether `word` is a number that may say which of several is meant.
fn is_ordinal(word: &str) -> bool {
    let is_roman = || word.len() > 1 && word.chars().all(|c| matches!(c, 'I' | 'V' | 'X'));
    !word.is_empty() && (word.chars().all(|c| c.is_ascii_digit()) || is_roman())
}

/// Whether a number after `word`, in lower case, says which of them is meant: of a day or an hour
/// it says when, and after a verb how many.
fn says_which(word: &str, language: Language) -> bool {
    let times = Traits::DATE.with(Traits::RELATIVE).with(Traits::NUMBER);
    !word.is_empty()
        && !is_stop_word(word, language)
        && !is_frame(word)
        && !is_doing(word, language)
        && !facts(word).meets(times)
}
