//! What kinds of facts a text has, and what kind a question asks for: "when"
//! wants a date, "how much" a number. By words, in the languages people keep
//! notes in most; a question of another language asks for nothing in particular.

mod signs;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use super::fold;
use super::phrases::has;
use super::stop_words::Same;
use signs::{has_letter_size, of_signs};

/// Kinds of facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traits(u8);

impl Traits {
    /// A date, a weekday, a month, a time of day.
    pub const DATE: Self = Self(1);
    /// A day told from another: yesterday, last week.
    pub const RELATIVE: Self = Self(2);
    /// A number.
    pub const NUMBER: Self = Self(4);
    /// An amount of money.
    pub const MONEY: Self = Self(8);
    /// So many digits that they can be a telephone number.
    pub const DIGITS: Self = Self(16);
    /// An address of mail or of a page.
    pub const ADDRESS: Self = Self(32);
    /// It ends with a question.
    pub const ASKS: Self = Self(64);
    /// A number that may be a price: of no day, and of nothing that is measured.
    pub const AMOUNT: Self = Self(128);

    /// By the name that the lexicon has for it.
    pub fn named(name: &str) -> Self {
        match name {
            "NUMBER" => Self::NUMBER,
            "MONEY" => Self::MONEY,
            "DATE" => Self::DATE,
            "DIGITS" => Self::DIGITS,
            "ADDRESS" => Self::ADDRESS,
            _ => Self::default(),
        }
    }

    /// The members of both.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Without the members of `other`.
    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The members that `other` has too.
    pub const fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the two have a member in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether it has no member.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// As it is stored.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// What [`Traits::bits`] gave.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}

/// The fewest digits of a telephone number, an account or a long code.
const DIGITS: usize = 6;

/// Names of days, months and hours.
const DATES: &str = "
monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays weekends
mon tue tues wed thu thur thurs fri sat sun
january february march april june july august september october november december jan feb apr jun jul aug sep sept
oct nov dec noon midnight morning evening afternoon summer winter autumn spring christmas easter weekend daily weekly monthly yearly
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags dienstags mittwochs donnerstags freitags samstags
sonntags januar februar märz mai juni juli oktober dezember mittags morgens abends frühling sommer herbst ostern
weihnachten täglich wöchentlich monatlich jährlich uhr
lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril mai juin juillet août septembre octobre
novembre décembre midi minuit matin soir été hiver automne printemps noël pâques
lunes martes miércoles jueves viernes sábado sábados domingo domingos enero febrero marzo abril mayo junio julio agosto septiembre
octubre noviembre diciembre mediodía medianoche verano invierno otoño primavera navidad";
/// Days told from another.
const RELATIVE: &str = "
yesterday today tomorrow tonight ago last next week weeks month months year years recently soon days
gestern heute morgen vorgestern übermorgen woche wochen monat monate monaten jahr jahre jahren tagen letzte letzten letztes nächste nächsten nächstes
hier demain semaine semaines mois an ans année dernier dernière prochain prochaine jours
ayer hoy mañana anteayer semana semanas mes meses año años pasado pasada próximo próxima días";
/// Numbers in words.
const NUMBERS: &str = "
one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand twice once half dozen
zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig hundert tausend zweimal einmal dreimal
deux trois quatre cinq sept huit neuf dix onze douze vingt trente cent mille
dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta cien mil";
/// Money, in words.
const MONEY: &str = "euro euros eur usd dollar dollars pound pounds gbp chf franken franc francs cent cents yen pesos peso";

/// Hashes of words with what they show.
type Table = HashMap<u64, Traits, BuildHasherDefault<Same>>;

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table::default();
        for (list, kind) in [
            (DATES, Traits::DATE),
            (RELATIVE, Traits::RELATIVE),
            (NUMBERS, Traits::NUMBER),
            (MONEY, Traits::MONEY),
        ] {
            for word in list.split_whitespace() {
                let known = table.entry(folded(word, &mut String::new())).or_default();
                *known = known.with(kind);
            }
        }
        table
    })
}

/// The hash of a word without its case; `buffer` is only for its memory.
fn folded(word: &str, buffer: &mut String) -> u64 {
    buffer.clear();
    fold::lowercase(word, buffer);
    xxh3_64(buffer.as_bytes())
}

/// What `text` has, and whether it asks at its end.
pub fn traits(text: &str) -> Traits {
    let found = facts(text);
    if text.trim_end().ends_with(['?', '？']) {
        found.with(Traits::ASKS)
    } else {
        found
    }
}

/// The kinds of facts in `text`.
pub fn facts(text: &str) -> Traits {
    let table = table();
    let mut found = Traits::default();
    let mut buffer = String::new();
    // "may" is a month beside a number only.
    let (mut is_may, mut is_number, mut is_no_price) = (false, false, false);
    let mut is_hour_next = false;
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if word.is_empty() {
            continue;
        }
        // "30 de abril", "3. bis 17. Juli": what follows says what is counted.
        if is_number && JOINS.contains(&word) {
            continue;
        }
        let is_at = is_hour_next;
        is_hour_next = BEFORE_HOURS.contains(&word);
        let was = (is_may, is_number, is_no_price);
        is_may = word.eq_ignore_ascii_case("may");
        is_number = word.contains(|c: char| c.is_ascii_digit());
        let is_hour_of = is_at && !is_broken(text, word);
        let is_of_model = is_model_before(text, word);
        is_no_price = is_number
            && (is_hour_of
                || is_of_model
                || word.len() >= DIGITS
                || (was.1 && was.2)
                || is_of_day(text, word));
        let kind = if is_number {
            Traits::NUMBER
        } else {
            let kind = table.get(&folded(word, &mut buffer));
            kind.copied().unwrap_or_default()
        };
        found = found.with(kind);
        let is_day = kind.meets(Traits::DATE.with(Traits::RELATIVE));
        if was.1 && !was.2 && !is_number && !is_day && !is_unit(&buffer) {
            found = found.with(Traits::AMOUNT);
        }
        let is_hour = was.1 && matches!(buffer.as_str(), "h" | "am" | "pm");
        // "18 h 30".
        is_hour_next |= is_hour;
        if (is_may && was.1)
            || (is_number && was.0)
            || is_hour
            || (is_number && is_joined_hour(word))
        {
            found = found.with(Traits::DATE);
        }
    }
    if is_number && !is_no_price {
        found = found.with(Traits::AMOUNT);
    }
    if found.meets(Traits::NUMBER) {
        found = found.with(of_digits(text));
    }
    found.with(of_signs(text))
}

/// Between a number and what it counts, or its range.
const JOINS: [&str; 9] = ["de", "of", "bis", "to", "until", "und", "and", "au", "al"];
/// Before an hour.
const BEFORE_HOURS: [&str; 9] = [
    "at", "um", "gegen", "zwischen", "between", "entre", "vers", "ab", "à",
];

/// Whether the number `word` of `text` is of what the word right before it names: "ecoTEC 831",
/// "Z6 III". Capitals inside a word, or beside digits, are no word of a language.
fn is_model_before(text: &str, word: &str) -> bool {
    let at = word.as_ptr() as usize - text.as_ptr() as usize;
    let is_joined = word.contains(|c: char| c.is_ascii_uppercase());
    let before = text[..at].strip_suffix(' ').unwrap_or_default();
    let last = before.rsplit(|c: char| !c.is_alphanumeric()).next();
    let has_inner_capital = |word: &str| word.chars().skip(1).any(char::is_uppercase);
    is_joined || last.is_some_and(has_inner_capital)
}

/// Whether the number `word` of `text` goes on behind a point: "2.7".
fn is_broken(text: &str, word: &str) -> bool {
    let end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
    let mut after = text[end..].chars();
    matches!(after.next(), Some('.' | ',')) && after.next().is_some_and(|c| c.is_ascii_digit())
}

/// Whether the number `word` of `text` is a year, in brackets, or a part of a date or
/// a code: no price.
fn is_of_day(text: &str, word: &str) -> bool {
    let at = word.as_ptr() as usize - text.as_ptr() as usize;
    let before = text[..at].chars().next_back();
    let after = text[at + word.len()..].chars().next();
    let joins = |c: Option<char>| matches!(c, Some('-' | '/' | ':' | '('));
    let is_year = word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    is_year || joins(before) || joins(after)
}

/// Whether a word is a time of day: "13h47", "7pm".
fn is_joined_hour(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let rest = lower.trim_start_matches(|c: char| c.is_ascii_digit());
    let hours = lower.len() - rest.len();
    let minutes = rest.strip_prefix('h');
    let is_hour = minutes
        .is_some_and(|minutes| minutes.len() <= 2 && minutes.chars().all(|c| c.is_ascii_digit()));
    (1..=2).contains(&hours) && (is_hour || rest == "am" || rest == "pm")
}

/// Times that have no number: before them one counts something, as "150 Christmas cards".
const SEASONS: [&str; 14] = [
    "christmas",
    "easter",
    "summer",
    "winter",
    "spring",
    "autumn",
    "evening",
    "morning",
    "noël",
    "pâques",
    "hiver",
    "verano",
    "invierno",
    "navidad",
];

/// Whether `text` has a number that is no day, no time and no year.
pub fn counts(text: &str) -> bool {
    let table = table();
    const TIMES: [&str; 5] = ["once", "twice", "einmal", "zweimal", "dreimal"];
    let mut buffer = String::new();
    let mut open = false;
    for word in
        text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | ',' | '-' | ':' | '/'))
    {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.is_empty() {
            continue;
        }
        let kind = table
            .get(&folded(bare, &mut buffer))
            .copied()
            .unwrap_or_default();
        // "17. Juni", "16 h".
        let is_of_time = (kind.meets(Traits::DATE) && !SEASONS.contains(&buffer.as_str()))
            || matches!(buffer.as_str(), "h" | "uhr" | "am" | "pm");
        if open && !is_of_time {
            return true;
        }
        let is_date = of_digits(bare).meets(Traits::DATE);
        open =
            (bare.contains(|c: char| c.is_ascii_digit()) && !is_date) || kind.meets(Traits::NUMBER);
        open &= !TIMES.contains(&buffer.as_str());
    }
    open || has_letter_size(text)
        || text.contains([
            '一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '百', '千', '万',
        ])
        || (!text.is_ascii()
            && text.contains(|c: char| c.is_ascii_digit())
            && text.contains(|c: char| c >= '\u{2e80}'))
}

/// How many numbers `text` has in digits.
pub fn numbers(text: &str) -> usize {
    let joins = |c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',');
    let runs = text.split(joins);
    runs.filter(|run| run.contains(|c: char| c.is_ascii_digit()))
        .count()
}

/// What is measured in no money, in lower case.
const UNITS: &str = "
hours hour minutes minute seconds h min km kilometres kilometers miles m metres meters cm mm kg g grams kilos litres liters l ml
stunden stunde minuten sekunden kilometer meter zentimeter kilo gramm liter grad
heures heure mètres grammes kilos litres degrés horas hora minutos metros gramos litros grados c gb tb mb kwh w";

fn is_unit(word: &str) -> bool {
    UNITS.split_whitespace().any(|unit| unit == word)
}

/// What runs of digits are, with the signs between them.
fn of_digits(text: &str) -> Traits {
    let mut found = Traits::default();
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '/' | ':' | ' ' | '+');
    for run in text.split(|c: char| !is_part(c)) {
        if run.bytes().filter(u8::is_ascii_digit).count() >= DIGITS {
            found = found.with(Traits::DIGITS);
        }
        for word in run.split(' ') {
            let parts: Vec<&str> = word.split(['.', '-', '/', ':']).collect();
            let short = |part: &str| (1..=2).contains(&part.len());
            let is_time = word.contains(':') && parts.len() >= 2 && parts.iter().all(|p| short(p));
            let is_date = parts.len() >= 3 && parts.iter().filter(|p| short(p)).count() >= 2
                // "3.5." of a German date ends with a dot.
                || word.ends_with('.') && parts.len() == 3 && short(parts[0]) && short(parts[1]);
            let is_year = word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
            if is_time || is_date || is_year {
                found = found.with(Traits::DATE);
            }
        }
    }
    found
}

/// How questions are put, in lower case, and what they ask for.
#[rustfmt::skip]
const ASKED: [(Traits, &str); 13] = [
    (WHEN, "when|what time|what day|which day|what date|which month|what month|which year|what year|how late|wann|\
        wie spät|welchem tag|welcher tag|welchen tag|wie viel uhr|wieviel uhr|welchem datum|welchem monat|\
        welchem jahr|quand|quel jour|quelle heure|quelle date|quel mois|quelle année|cuándo|cuando|qué día|\
        que dia|qué hora|qué fecha|qué mes|qué año|いつ|何時|何日|何曜|何月|何年"),
    // Of several days, and of parts of a day, which notes tell by the day.
    (WHEN, "which days|what days|which dates|what dates|which evening|what evening|which evenings|which night|what night|which nights|\
        which morning|what morning|which afternoon|what afternoon|which weekday|what weekday|which week|what week|which weekend|\
        welchen tagen|welche tage|welchem abend|welcher abend|welchen abend|welchen abenden|welchem wochentag|welchen wochentagen|\
        welchem morgen|welchem nachmittag|welcher woche|welche woche|welches datum|welchem wochenende|welches wochenende|\
        quels jours|quelles dates|quel soir|quels soirs|quel matin|quels matins|quel après-midi|quelle semaine|quel week-end|\
        qué días|que dias|qué noche|qué noches|qué tarde|qué tardes|qué mañana|qué mañanas|qué semana|qué fechas|qué horas|\
        何週|どの曜日"),
    (Traits::MONEY.with(Traits::NUMBER), "how much|wie viel|wieviel|combien|cuánto|cuanto"),
    (Traits::MONEY.with(Traits::AMOUNT), "how much money|wie viel geld|combien d'argent|combien d’argent|cuánto dinero|how much is|how much are|how much was|how much were|price|prices|charge|charges|charged|cost|costs|pay|pays|paid|paying|wie teuer|preis|kostet|kosten|kostete|\
        gekostet|bezahlt|bezahlen|zahlt|zahlen|zahle|quel prix|prix|coûte|coûtent|coûté|coûter|paie|paye|payer|payé|precio|\
        cuesta|cuestan|costó|costaron|costará|vale|paga|pago|pagar|pagué"),
    // Where no word stands beside a number, its sign does.
    (Traits::MONEY, "いくら|値段|料金"),
    (Traits::NUMBER, "what size|which size|shoe size|welche größe|welche schuhgröße|quelle taille|quelle pointure|qué talla|サイズ|何サイズ|how hot|what temperature|which temperature|wie heiß|welche temperatur|welcher temperatur|\
        quelle température|qué temperatura|何度"),
    (Traits::NUMBER, "how many|wie viele|wieviele|cuántos|cuántas|何人|何個|何本|何匹"),
    (Traits::NUMBER.with(WHEN), "how old|how long|how tall|how far|how big|how large|how high|how heavy|wie alt|wie lange|wie groß|wie hoch|wie schwer|wie weit|quel âge|何歳|何回|何キロ"),
    (Traits::NUMBER.with(WHEN), "how fast|how deep|how wide|how thick|how strong|what dose|which dose|what dosage|wie schnell|wie dick|\
        wie tief|wie breit|wie stark|welche dosis|quelle dose|quel dosage|quelle hauteur|quelle largeur|quelle vitesse|qué dosis|\
        qué altura|qué velocidad|cómo de rápido|何グラム|何リットル|何ミリ|何ページ|何冊|何台|何杯|何枚|何錠"),
    (Traits::DIGITS, "phone|telephone|telefon|telefonnummer|handynummer|rufnummer|téléphone|teléfono|móvil|電話"),
    (Traits::DIGITS.with(Traits::ADDRESS), "how do i reach|how can i reach|how do i contact|how can i contact|get hold of|wie erreiche|wie kann ich erreichen|comment joindre|comment contacter|comment je peux joindre|coordonnées|cómo contacto|cómo puedo contactar|cómo llamo|cómo localizo|連絡先"),
    (Traits::ADDRESS, "email|e-mail|mailadresse|courriel|correo electrónico|メール"),
    (Traits::NUMBER, "address|adresse|anschrift|dirección|住所|what number|which number|number of|nummer|numéro|número|番号"),
];

const WHEN: Traits = Traits::DATE.with(Traits::RELATIVE);

/// How often something is, in words that ask for a number elsewhere.
const OFTEN: [&str; 4] = [
    "tous les combien",
    "toutes les combien",
    "cada cuánto",
    "cada cuanto",
];
/// How many days, in Japanese, where the same characters ask for a day elsewhere.
const DAYS_LONG: [&str; 5] = ["あと何日", "何日残", "何日間", "何日分", "何日休"];

/// What a question asks for: any of these. Nothing where it does not tell.
pub fn asked(text: &str) -> Traits {
    let mut text = text.to_lowercase();
    for often in OFTEN {
        text = text.replace(often, "");
    }
    if DAYS_LONG.iter().any(|long| text.contains(long)) {
        text = text.replace("何日", "何個");
    }
    let asked = ASKED.iter().filter(|(_, phrases)| has(&text, phrases));
    let asked = asked.fold(Traits::default(), |all, (kinds, _)| all.with(*kinds));
    // A price is no number of something else.
    let asked = if asked.meets(Traits::AMOUNT) {
        asked.without(Traits::NUMBER)
    } else {
        asked
    };
    // The number of a telephone is no other, and an address of mail has none.
    let has_other = Traits::DIGITS.with(Traits::ADDRESS);
    if asked.meets(has_other) && !asked.meets(Traits::MONEY) {
        asked.without(Traits::NUMBER)
    } else {
        asked
    }
}

/// How questions begin that have no mark at their end.
#[rustfmt::skip]
const BEGINNINGS: [&str; 50] = [
    "who", "what", "when", "where", "which", "why", "how", "whose", "wer", "was", "wann", "wo",
    "welche", "welcher", "welches", "welchen", "welchem", "warum", "wieso", "wie", "wessen",
    "wem", "wen", "qui", "quand", "où", "quel", "quelle", "quels", "quelles", "pourquoi",
    "comment", "combien", "quién", "qué", "cuándo", "dónde", "cuál", "cuáles", "cómo", "cuánto",
    "cuánta", "cuántos", "tell", "remind", "sag", "erinnere", "dis", "dime", "recuérdame",
];
/// Words that a question without a mark has at most: more is a story.
const SHORT: usize = 12;

/// Whether all of `text` asks, or is a command.
pub fn is_question(text: &str) -> bool {
    let text = text.trim();
    if text.starts_with('/') {
        return !text.contains('\n');
    }
    if !text.contains(['?', '？']) {
        return is_unmarked_question(text);
    }
    let mut sentences = text.split_inclusive(['.', '!', '?', '。', '！', '？', '\n']);
    sentences.all(|sentence| {
        let sentence = sentence.trim();
        let words = sentence.split_whitespace().count();
        // "Hi!" and "Thanks." tell nothing.
        sentence.ends_with(['?', '？'])
            || (words <= 3 && !sentence.contains(|c: char| c >= '\u{2e80}'))
    })
}

fn is_unmarked_question(text: &str) -> bool {
    if text.contains([':', '\n', ',']) || text.trim_end_matches('.').contains(". ") {
        return false;
    }
    let end = text.trim_end_matches('。');
    if ["ですか", "ますか", "でしたか", "ましたか", "だっけ"]
        .iter()
        .any(|ending| end.ends_with(ending))
    {
        return true;
    }
    let Some(first) = text.split_whitespace().next() else {
        return false;
    };
    let mut lower = String::new();
    fold::lowercase(first, &mut lower);
    text.split_whitespace().count() <= SHORT && BEGINNINGS.contains(&&*lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_are_told_by_words_and_digits() {
        let has = |text: &str, kind: Traits| traits(text).meets(kind);
        for text in [
            "on Friday",
            "2031-04-12",
            "am 3.5. um",
            "at 14:30",
            "le 12 août",
            "en 2019",
            "3月12日",
            "5.5.2026",
        ] {
            assert!(has(text, Traits::DATE), "{text}");
        }
        for text in ["no fridge", "room 12", "version 6.1", "a date"] {
            assert!(!has(text, Traits::DATE), "{text}");
        }
        assert!(has("call 0151 234 567", Traits::DIGITS) && !has("room 12", Traits::DIGITS));
        assert!(has("12 €", Traits::MONEY) && has("zwölf Euro", Traits::MONEY));
        assert!(has("ada@example.org", Traits::ADDRESS));
        assert!(!has("vence el 30 de abril", Traits::AMOUNT) && has("30 de queso", Traits::AMOUNT));
        assert!(has("I went there yesterday", Traits::RELATIVE));
        assert!(has("three cats", Traits::NUMBER) && !has("cats", Traits::NUMBER));
        assert!(counts("150 Christmas cards") && !counts("by 20 November"));
    }

    #[test]
    fn asked_kinds_are_told_by_how_it_is_put() {
        for text in [
            "When is it?",
            "Wann läuft er ab?",
            "à quelle heure ?",
            "¿Cuándo?",
            "車検はいつですか",
        ] {
            assert!(asked(text).meets(Traits::DATE), "{text}");
        }
        for text in [
            "Which evening does the club meet?",
            "An welchen Tagen wird gerudert?",
            "Quels jours est-ce ouvert ?",
            "¿Qué tardes hay clase?",
        ] {
            assert!(asked(text).meets(Traits::DATE), "{text}");
        }
        assert!(asked("How fast was I?").meets(Traits::NUMBER));
        assert!(asked("How much is the rent?").meets(Traits::MONEY));
        assert!(asked("whenever you like").is_empty() && asked("Where is the key?").is_empty());
    }

    #[test]
    fn questions_are_told_from_facts() {
        for text in [
            "Where is the key?",
            "Hi! Where is it?",
            "where is the spare key",
            "/search key",
            "鍵はどこですか",
            "¿Dónde está?",
        ] {
            assert!(is_question(text), "{text}");
        }
        for text in [
            "The key is under the pot.",
            "My cat is called Mourek. Nice, isn't it?",
            "What I need: milk",
            "Wifi: abc",
        ] {
            assert!(!is_question(text), "{text}");
        }
    }
}
