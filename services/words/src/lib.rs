//! Numbers, times and amounts of bytes in words.

use std::time::Duration;

/// "1 session", "2 sessions".
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// The two largest units: "4 s", "3 min 12 s", "2 h 5 min", "9 d 3 h".
#[must_use]
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match () {
        () if days > 0 => format!("{days} d {} h", hours % 24),
        () if hours > 0 => format!("{hours} h {} min", minutes % 60),
        () if minutes > 0 => format!("{minutes} min {} s", seconds % 60),
        () => format!("{seconds} s"),
    }
}

/// As exactly as somebody who waits for it wants to know: "412 ms", "1.2 s",
/// "3 min 12 s".
#[must_use]
pub fn elapsed(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        1000..60_000 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => self::duration(duration),
    }
}

/// How long before `now_ms` the moment `at_ms` was; both in Unix milliseconds.
#[must_use]
pub fn ago(at_ms: i64, now_ms: i64) -> String {
    let passed = u64::try_from(now_ms.saturating_sub(at_ms)).unwrap_or(0);
    format!("{} ago", duration(Duration::from_millis(passed)))
}

/// In the largest unit that leaves a number of them: "7 bytes", "1.5 KiB", "2 GiB".
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| bytes >= *unit) else {
        return count(bytes, "byte");
    };
    let tenths = u128::from(bytes) * 10 / u128::from(unit);
    match tenths % 10 {
        0 => format!("{} {name}", tenths / 10),
        rest => format!("{}.{rest} {name}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_is_exact_where_it_is_short() {
        let said = [0, 412, 1000, 1290, 59_999, 60_000].map(Duration::from_millis);
        let said = said.map(elapsed);
        let words = ["0 ms", "412 ms", "1.0 s", "1.2 s", "59.9 s", "1 min 0 s"];
        assert_eq!(said, words);
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (seconds, text) in [
            (0, "0 s"),
            (59, "59 s"),
            (61, "1 min 1 s"),
            (7500, "2 h 5 min"),
            (788_400, "9 d 3 h"),
        ] {
            assert_eq!(duration(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn clock_that_was_set_back_is_no_negative_age() {
        assert_eq!(ago(2_000, 1_000), "0 s ago");
        assert_eq!(ago(1_000, 5_000), "4 s ago");
    }

    #[test]
    fn words_one_has_no_plural() {
        assert_eq!(count(1, "turn"), "1 turn");
        assert_eq!(count(0, "turn"), "0 turns");
    }

    #[test]
    fn bytes_are_said_in_their_largest_unit() {
        let amounts = [0, 1, 1023, 1024, 1536, 10 << 20, (3 << 30) + 1, u64::MAX].map(bytes);
        let expected = [
            "0 bytes",
            "1 byte",
            "1023 bytes",
            "1 KiB",
            "1.5 KiB",
            "10 MiB",
            "3 GiB",
            "17179869183.9 GiB",
        ];
        assert_eq!(amounts, expected);
    }
}
