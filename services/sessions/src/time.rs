//! Points in time as the format writes them.

use std::fs::Metadata;

use jiff::Timestamp;

/// Unix milliseconds now.
pub fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// When a file was changed, in Unix milliseconds; 0 when nobody knows.
pub fn modified_ms(file: &Metadata) -> i64 {
    let modified = file.modified().ok().map(Timestamp::try_from);
    modified.map_or(0, |at| at.map_or(0, Timestamp::as_millisecond))
}

/// ISO 8601 in UTC with milliseconds, as entries carry it. A time that no
/// calendar has becomes the epoch.
pub fn iso_time(unix_ms: i64) -> String {
    let time = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.3}")
}

/// ISO 8601 in UTC to the second.
pub(crate) fn iso_seconds(unix_ms: i64) -> String {
    let time = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.0}")
}

/// Unix milliseconds of an ISO 8601 time, if it is one.
pub fn unix_ms(text: &str) -> Option<i64> {
    let time: Timestamp = text.parse().ok()?;
    Some(time.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_back_as_they_were_recorded() {
        assert_eq!(unix_ms("2026-11-21T00:03:12.676Z"), Some(1_795_219_392_676));
        assert_eq!(iso_time(1_795_219_392_676), "2026-11-21T00:03:12.676Z");
        assert_eq!(iso_time(1_795_219_392_000), "2026-11-21T00:03:12.000Z");
    }
}
