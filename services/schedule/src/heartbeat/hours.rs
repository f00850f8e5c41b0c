//! When of a day an agent is looked after.

use jiff::Timestamp;
use openclaw_settings::ActiveHours;

/// Whether `now_ms` is within the hours. Hours that end where they begin are none,
/// and those that end before they begin go over midnight, as in OpenClaw. At hours that
/// cannot be read, which no file may have, nobody is asked.
pub(super) fn is_within(hours: &ActiveHours, now_ms: i64) -> bool {
    if hours.start.is_none() && hours.end.is_none() {
        return true;
    }
    let (Some((start, end)), Some(zone)) = (hours.minutes(), hours.zone()) else {
        return false;
    };
    let at = Timestamp::from_millisecond(now_ms).unwrap_or_default();
    let here = at.to_zoned(zone).datetime();
    let now = u16::from(here.hour().unsigned_abs()) * 60 + u16::from(here.minute().unsigned_abs());
    if start <= end {
        (start..end).contains(&now)
    } else {
        now >= start || now < end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21 09:00 UTC, which is 10:00 in Berlin.
    const NOW: i64 = 1_795_251_600_000;

    fn within(start: &str, end: &str) -> bool {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let hours = ActiveHours {
            start: text(start),
            end: text(end),
            timezone: Some("Europe/Berlin".to_owned()),
        };
        is_within(&hours, NOW)
    }

    #[test]
    fn hours_begin_with_their_start_and_end_before_their_end() {
        for (start, end, expected) in [
            ("", "", true),
            ("10:00", "11:00", true),
            ("09:00", "10:00", false),
            ("00:00", "24:00", true),
            ("22:00", "08:00", false),
            ("22:00", "10:01", true),
            ("10:00", "10:00", false),
            ("10:01", "", false),
            ("", "10:01", true),
            ("10pm", "", false),
            ("", "25:00", false),
        ] {
            assert_eq!(within(start, end), expected, "{start} to {end}");
        }
    }
}
