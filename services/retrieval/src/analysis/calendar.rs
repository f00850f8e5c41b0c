//! Dates as people write them, so that "in May 2023" finds what was said then.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Language;

/// The words of the day at `timestamp_ms` in the time zone here: the date as
/// ISO 8601 writes it, the day, the month's name in `language`, the year.
pub(crate) fn words(timestamp_ms: i64, language: Language) -> Option<String> {
    let timestamp = Timestamp::from_millisecond(timestamp_ms).ok()?;
    let date = timestamp.to_zoned(TimeZone::system()).date();
    let index = usize::try_from(date.month() - 1).ok()?;
    let month = months(language).get(index)?;
    Some(format!("{date} {} {month} {}", date.day(), date.year()))
}

fn months(language: Language) -> &'static [&'static str; 12] {
    match language {
        Language::German => &GERMAN,
        Language::French => &FRENCH,
        Language::Spanish => &SPANISH,
        _ => &ENGLISH,
    }
}

#[rustfmt::skip]
const ENGLISH: [&str; 12] = [
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
];
#[rustfmt::skip]
const GERMAN: [&str; 12] = [
    "Januar", "Februar", "März", "April", "Mai", "Juni",
    "Juli", "August", "September", "Oktober", "November", "Dezember",
];
#[rustfmt::skip]
const FRENCH: [&str; 12] = [
    "janvier", "février", "mars", "avril", "mai", "juin",
    "juillet", "août", "septembre", "octobre", "novembre", "décembre",
];
#[rustfmt::skip]
const SPANISH: [&str; 12] = [
    "enero", "febrero", "marzo", "abril", "mayo", "junio",
    "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_the_words_people_use() {
        let noon = 1_683_547_200_000; // 2023-05-08T12:00:00Z
        let is_there = |language, month: &str| {
            let words = words(noon, language).unwrap();
            assert!(words.starts_with("2023-05-0"), "{words}");
            assert!(words.ends_with(&format!(" {month} 2023")), "{words}");
        };
        is_there(Language::English, "May");
        is_there(Language::German, "Mai");
        is_there(Language::Spanish, "mayo");
        assert_eq!(words(i64::MAX, Language::English), None);
    }
}
