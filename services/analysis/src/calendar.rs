//! Dates: when something was said, and when a question asks for.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// What of a date a word can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// The whole date.
    Date(Date),
    /// 1 to 31.
    Day(i8),
    /// 1 to 12.
    Month(i8),
    /// With the century.
    Year(i16),
}

/// What names the day of `timestamp_ms` in the time zone here.
pub fn marks(timestamp_ms: i64) -> Option<[Mark; 4]> {
    let date = date(timestamp_ms)?;
    let (day, month, year) = (date.day(), date.month(), date.year());
    Some([
        Mark::Date(date),
        Mark::Day(day),
        Mark::Month(month),
        Mark::Year(year),
    ])
}

/// What a text says of days from another: "yesterday", "two weeks ago". Told on
/// the day of `timestamp_ms`, each comes to what of a date it is sure of: a day,
/// or the month of one some weeks off.
pub fn told(text: &str, timestamp_ms: i64) -> Vec<Mark> {
    let Some(today) = date(timestamp_ms) else {
        return Vec::new();
    };
    let lower = text.to_lowercase();
    let mut marks = Vec::new();
    let mut add = |days: i64, is_day: bool| {
        if let Ok(date) = today.checked_add(jiff::Span::new().days(days)) {
            if is_day {
                marks.extend([Mark::Date(date), Mark::Day(date.day())]);
            }
            marks.extend([Mark::Month(date.month()), Mark::Year(date.year())]);
        }
    };
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    for (index, word) in words.iter().enumerate() {
        if let Some((_, days)) = DAYS.iter().find(|(names, _)| names.contains(word)) {
            add(*days, true);
        }
        let next = words.get(index + 1).copied().unwrap_or_default();
        let sign = match *word {
            word if LAST.contains(&word) => -1,
            word if NEXT.contains(&word) => 1,
            _ => 0,
        };
        if sign != 0 {
            if let Some(weekday) = weekday(next) {
                let own = i64::from(today.weekday().to_monday_zero_offset());
                let back = (own - weekday).rem_euclid(7);
                let days = if back == 0 { 7 } else { back };
                add(if sign < 0 { -days } else { 7 - back }, true);
            } else if let Some(days) = span(next) {
                add(sign * days, false);
            }
        }
        // "three days ago", "vor drei Tagen", "il y a trois jours", "hace tres días".
        if let (Some(count), Some(days)) = (count(word), span(next)) {
            let before = index.checked_sub(1).map_or("", |before| words[before]);
            let after = words.get(index + 2).copied().unwrap_or_default();
            if after == "ago" || ["vor", "a", "hace"].contains(&before) {
                add(-count * days, days == 1);
            }
        }
    }
    let mut rest = text.to_owned();
    for (word, days, is_day) in JAPANESE {
        if rest.contains(word) {
            rest = rest.replace(word, " ");
            add(days, is_day);
        }
    }
    marks
}

/// The day that a question asked at `timestamp_ms` is about, where it says it from that day:
/// "yesterday", "last Friday".
pub fn asked_day(text: &str, timestamp_ms: i64) -> Option<Date> {
    let marks = told(text, timestamp_ms);
    marks.iter().find_map(|mark| match mark {
        Mark::Date(date) => Some(*date),
        _ => None,
    })
}

/// The day of `timestamp_ms` as names of notes have it.
pub fn day_name(timestamp_ms: i64) -> Option<String> {
    date(timestamp_ms).map(|date| date.to_string())
}

/// Whether `word`, in lower case, says which day is meant from another.
pub fn says_day(word: &str) -> bool {
    DAYS.iter().any(|(names, _)| names.contains(&word))
        || LAST.contains(&word)
        || NEXT.contains(&word)
        || weekday(word).is_some()
        || JAPANESE
            .iter()
            .any(|(name, _, is_day)| *is_day && *name == word)
}

/// The same in Japanese, and whether a day is meant; the longer before what is in them.
#[rustfmt::skip]
const JAPANESE: [(&str, i64, bool); 16] = [
    ("一昨日", -2, true), ("明後日", 2, true), ("昨日", -1, true), ("明日", 1, true), ("今日", 0, true),
    ("おととい", -2, true), ("あさって", 2, true), ("きのう", -1, true), ("あした", 1, true), ("きょう", 0, true),
    ("先週", -7, false),
    ("来週", 7, false), ("先月", -30, false), ("来月", 30, false), ("去年", -365, false), ("来年", 365, false),
];
/// Words for a day, by how far it is.
const DAYS: [(&[&str], i64); 5] = [
    (&["yesterday", "gestern", "hier", "ayer"], -1),
    (&["tomorrow", "morgen", "demain", "mañana"], 1),
    (&["vorgestern", "anteayer"], -2),
    (&["übermorgen"], 2),
    (&["today", "tonight", "heute", "hoy"], 0),
];
#[rustfmt::skip]
const LAST: [&str; 10] = [
    "last", "past", "letzte", "letzten", "letzter", "letztes", "vergangene", "vergangenen", "pasado", "pasada",
];
#[rustfmt::skip]
const NEXT: [&str; 7] = ["next", "nächste", "nächsten", "nächster", "nächstes", "próximo", "próxima"];

fn span(word: &str) -> Option<i64> {
    Some(match word {
        "day" | "days" | "tag" | "tagen" | "tage" | "jour" | "jours" | "día" | "días" => 1,
        "week" | "weeks" | "weekend" | "woche" | "wochen" | "wochenende" | "semaine"
        | "semaines" | "semana" | "semanas" => 7,
        "month" | "months" | "monat" | "monate" | "monaten" | "mois" | "mes" | "meses" => 30,
        "year" | "years" | "jahr" | "jahre" | "jahren" | "an" | "ans" | "année" | "año"
        | "años" => 365,
        _ => return None,
    })
}

fn count(word: &str) -> Option<i64> {
    const WORDS: [&[&str]; 12] = [
        &["one", "einem", "einer", "un", "une", "una"],
        &["two", "zwei", "deux", "dos"],
        &["three", "drei", "trois", "tres"],
        &["four", "vier", "quatre", "cuatro"],
        &["five", "fünf", "cinq", "cinco"],
        &["six", "sechs", "seis"],
        &["seven", "sieben", "sept", "siete"],
        &["eight", "acht", "huit", "ocho"],
        &["nine", "neun", "neuf", "nueve"],
        &["ten", "zehn", "dix", "diez"],
        &["eleven", "elf", "onze", "once"],
        &["twelve", "zwölf", "douze", "doce"],
    ];
    let of_word = || {
        WORDS
            .iter()
            .zip(1..)
            .find(|(names, _)| names.contains(&word))
    };
    word.parse::<i64>()
        .ok()
        .filter(|count| (1..=500).contains(count))
        .or_else(|| of_word().map(|(_, count)| count))
        .or((word == "a").then_some(1))
}

fn weekday(word: &str) -> Option<i64> {
    #[rustfmt::skip]
    const NAMES: [&[&str]; 7] = [
        &["monday", "mon", "montag", "lundi", "lunes"],
        &["tuesday", "tue", "tues", "dienstag", "mardi", "martes"],
        &["wednesday", "wed", "mittwoch", "mercredi", "miércoles"],
        &["thursday", "thu", "thurs", "donnerstag", "jeudi", "jueves"],
        &["friday", "fri", "freitag", "vendredi", "viernes"],
        &["saturday", "sat", "samstag", "sonnabend", "samedi", "sábado"],
        &["sunday", "sun", "sonntag", "dimanche", "domingo"],
    ];
    let found = NAMES
        .iter()
        .zip(0..)
        .find(|(names, _)| names.contains(&word));
    found.map(|(_, number)| number)
}

fn date(timestamp_ms: i64) -> Option<Date> {
    let timestamp = Timestamp::from_millisecond(timestamp_ms).ok()?;
    Some(timestamp.to_zoned(TimeZone::system()).date())
}

/// The words of `text` that name a date, with what they name.
///
/// A month, a day and a year must show that they are one, by each other or by
/// what is before them: "may" and "march" are words too, and 12 can be a house.
pub fn mentions(text: &str) -> Vec<(&str, Mark)> {
    let words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| !word.is_empty())
        .collect();
    let marks: Vec<Option<Mark>> = words.iter().map(|word| mark(word)).collect();
    let at = |index: Option<usize>| index.and_then(|index| marks.get(index).copied().flatten());
    let mut mentions = Vec::new();
    for (index, (&word, mark)) in words.iter().zip(&marks).enumerate() {
        let Some(mark) = *mark else { continue };
        let before = index.checked_sub(1);
        let near = [at(before), at(Some(index + 1))];
        let introduced = before.is_some_and(|before| introduces(words[before]));
        let is_month = |mark: &Option<Mark>| matches!(mark, Some(Mark::Month(_)));
        let shown = match mark {
            Mark::Date(_) => true,
            Mark::Day(_) => near.iter().any(is_month),
            Mark::Year(_) => introduced || near.iter().any(Option::is_some),
            Mark::Month(_) => introduced || near.iter().any(|m| m.is_some() && !is_month(m)),
        };
        if shown {
            mentions.push((word, mark));
        }
    }
    mentions
}

/// What `word` can name.
fn mark(word: &str) -> Option<Mark> {
    if let Ok(date) = word.parse::<Date>() {
        return Some(Mark::Date(date));
    }
    let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
    if let Ok(number) = digits.parse::<i16>() {
        // "7th" is a day, "7up" is none.
        let ending = &word[digits.len()..];
        let is_day = matches!(ending, "" | "st" | "nd" | "rd" | "th" | "er");
        return match number {
            1..=31 if is_day => Some(Mark::Day(number as i8)),
            1900..=2200 if ending.is_empty() => Some(Mark::Year(number)),
            _ => None,
        };
    }
    let lower = word.to_lowercase();
    let month = MONTHS
        .iter()
        .position(|names| names.contains(&lower.as_str()))?;
    Some(Mark::Month(month as i8 + 1))
}

/// Whether a date can follow `word`.
fn introduces(word: &str) -> bool {
    BEFORE.contains(&word.to_lowercase().as_str())
}

/// In the languages whose words are stemmed, as far as they differ.
#[rustfmt::skip]
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "janvier", "enero", "gennaio", "janeiro", "januari"],
    &["february", "feb", "februar", "février", "febrero", "febbraio", "fevereiro", "februari"],
    &["march", "mar", "märz", "mars", "marzo", "março", "maart", "marts"],
    &["april", "apr", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "maio", "mei", "maj"],
    &["june", "jun", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "jul", "juli", "juillet", "julio", "luglio", "julho"],
    &["august", "aug", "août", "agosto", "augustus", "augusti"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre", "setembro"],
    &["october", "oct", "oktober", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "nov", "novembre", "noviembre", "novembro"],
    &["december", "dec", "dezember", "décembre", "diciembre", "dicembre", "dezembro"],
];
#[rustfmt::skip]
const BEFORE: [&str; 47] = [
    "in", "on", "of", "since", "until", "till", "by", "before", "after", "during", "last", "this",
    "next", "early", "late", "mid", "around", "from", "between", "im", "am", "vom", "seit", "bis",
    "vor", "nach", "letzten", "ende", "anfang", "en", "de", "du", "le", "depuis", "avant", "après",
    "el", "del", "desde", "hasta", "antes", "nel", "il", "dal", "em", "sinds", "tot",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<Mark> {
        mentions(text).into_iter().map(|(_, mark)| mark).collect()
    }

    #[test]
    fn day_has_marks() {
        let noon = 1_683_547_200_000; // 2023-05-08T12:00:00Z
        let marks = marks(noon).unwrap();
        assert!(marks.contains(&Mark::Month(5)) && marks.contains(&Mark::Year(2023)));
        assert_eq!(super::marks(i64::MAX), None);
    }

    #[test]
    fn dates_are_seen_where_they_are_meant() {
        let may = [Mark::Day(7), Mark::Month(5), Mark::Year(2023)];
        assert_eq!(named("What did Ada do on 7 May, 2023?"), may);
        assert_eq!(named("in märz"), [Mark::Month(3)]);
        assert_eq!(named("May 7th"), [Mark::Month(5), Mark::Day(7)]);
        assert_eq!(named("summer of 2022"), [Mark::Year(2022)]);
        let date = jiff::civil::date(2023, 5, 8);
        assert_eq!(named("notes 2023-05-08"), [Mark::Date(date)]);
    }

    #[test]
    fn days_told_from_another_are_resolved() {
        let monday = 1_683_547_200_000; // 2023-05-08T12:00:00Z
        for (text, day) in [
            ("I was there yesterday", "2023-05-07"),
            ("we met last Friday", "2023-05-05"),
            ("three days ago", "2023-05-05"),
            ("vor drei Tagen", "2023-05-05"),
            ("ayer", "2023-05-07"),
            ("昨日", "2023-05-07"),
            ("next Monday", "2023-05-15"),
        ] {
            let date = day.parse().unwrap();
            assert!(told(text, monday).contains(&Mark::Date(date)), "{text}");
        }
        let month = told("last month", monday);
        assert_eq!(month, [Mark::Month(4), Mark::Year(2023)]);
        assert!(told("the last page, next to a day bed", monday).is_empty());
    }

    #[test]
    fn words_and_numbers_are_no_dates() {
        for text in ["april", "who may march", "house 12", "2023 pieces", "7up"] {
            assert!(named(text).is_empty(), "{text}");
        }
    }
}
