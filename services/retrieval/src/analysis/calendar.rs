//! Dates: when something was said, and when a question asks for.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// What of a date a word can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mark {
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
pub(crate) fn marks(timestamp_ms: i64) -> Option<[Mark; 4]> {
    let timestamp = Timestamp::from_millisecond(timestamp_ms).ok()?;
    let date = timestamp.to_zoned(TimeZone::system()).date();
    let (day, month, year) = (date.day(), date.month(), date.year());
    Some([
        Mark::Date(date),
        Mark::Day(day),
        Mark::Month(month),
        Mark::Year(year),
    ])
}

/// The words of `text` that name a date, with what they name.
///
/// A month, a day and a year must show that they are one, by each other or by
/// what is before them: "may" and "march" are words too, and 12 can be a house.
pub(crate) fn mentions(text: &str) -> Vec<(&str, Mark)> {
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
    fn a_day_has_marks() {
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
    fn words_and_numbers_are_no_dates() {
        for text in ["april", "who may march", "house 12", "2023 pieces", "7up"] {
            assert!(named(text).is_empty(), "{text}");
        }
    }
}
