//! What a note's path says: its date and its topic.

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::FOLDER;

/// `2026-03-04`.
const DATE_LENGTH: usize = 10;

/// Whether `name` names a Markdown file that is indexed.
pub(super) fn is_markdown(name: &str) -> bool {
    !name.starts_with('.')
        && name
            .rsplit_once('.')
            .is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("md"))
}

/// What the name of a note ends with.
pub(crate) const ENDING: &str = ".md";

/// The day that the Markdown file at `path` is the note of.
pub(crate) fn note(path: &str) -> Option<Date> {
    let name = path.rsplit('/').next()?;
    is_markdown(name).then(|| date(path)).flatten()
}

/// The path of the note of `date`.
pub(crate) fn path(date: Date) -> String {
    format!("{FOLDER}/{date}.md")
}

/// The date that a note's name begins with: `memory/2026-03-04-garden.md`.
pub(crate) fn date(path: &str) -> Option<Date> {
    let name = path.strip_prefix(FOLDER)?.rsplit('/').next()?;
    let (date, rest) = name.split_at_checked(DATE_LENGTH)?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
    ends.then(|| date.parse().ok()).flatten()
}

/// When `date` begins here, in Unix milliseconds.
pub(crate) fn begin_ms(date: Date) -> Option<i64> {
    let begin = date.to_zoned(TimeZone::system()).ok()?;
    Some(begin.timestamp().as_millisecond())
}

/// A moment as it is told: `2026-03-04 09:05`, in the local time.
pub(crate) fn words(milliseconds: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    let local = moment.to_zoned(TimeZone::system());
    local.strftime("%Y-%m-%d %H:%M").to_string()
}

/// What a note's path says of what it is about; nothing for the files every
/// workspace has.
pub(crate) fn topic(path: &str) -> &str {
    let inner = path.strip_prefix(FOLDER).unwrap_or_default();
    let inner = inner.strip_prefix('/').unwrap_or_default();
    inner.rsplit_once('.').map_or(inner, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_begin_names() {
        let day = jiff::civil::date(2026, 3, 4);
        assert_eq!(date("memory/2026-03-04.md"), Some(day));
        assert_eq!(date("memory/2026/2026-03-04-garden.md"), Some(day));
        assert_eq!(date(&path(day)), Some(day));
        for other in [
            "MEMORY.md",
            "memory/garden.md",
            "memory/2026-13-04.md",
            "memory/2026-03-041.md",
        ] {
            assert_eq!(date(other), None, "{other}");
        }
    }

    #[test]
    fn topics_are_paths_without_what_all_have() {
        assert_eq!(topic("memory/house/garden.md"), "house/garden");
        assert_eq!(topic("MEMORY.md"), "");
    }
}
