//! Times of the day, as `activeHours` of heartbeats have them.

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

/// Minutes of a day.
pub const DAY: u16 = 24 * 60;

/// What an hour has to be.
const NO_HOUR: &str = "must be a time of the day as HH:MM, such as 08:00 or 22:30";

/// What a zone has to be.
const NO_ZONE: &str =
    "must be an IANA time zone, such as Europe/Berlin; or user or local, the machine's";

/// The minute of the day of `HH:MM`, at which something begins.
pub fn start(text: &str) -> Option<u16> {
    minutes(text).filter(|minute| *minute < DAY)
}

/// The minute of the day of `HH:MM`, at which something ends: `24:00` is one.
pub fn end(text: &str) -> Option<u16> {
    minutes(text)
}

fn minutes(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let two = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|it| it.is_ascii_digit());
        is_number.then(|| digits.parse::<u16>().ok()).flatten()
    };
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    let all = hours * 60 + minutes;
    (minutes < 60 && all <= DAY).then_some(all)
}

/// The zone of that name; None: there is none.
pub fn zone(name: Option<&str>) -> Option<TimeZone> {
    match name {
        None | Some("user" | "local" | "") => Some(TimeZone::system()),
        Some(name) => TimeZone::get(name).ok(),
    }
}

/// The key of `activeHours` that cannot be read, and what it has to be.
pub(super) fn fault(hours: &Map<String, Value>) -> Option<(&'static str, String)> {
    let said = |key: &str| super::text(hours.get(key));
    if let Some(text) = said("start").filter(|text| start(text).is_none()) {
        return Some(("start", format!("is {text:?}, and {NO_HOUR}")));
    }
    if let Some(text) = said("end").filter(|text| end(text).is_none()) {
        return Some(("end", format!("is {text:?}, and {NO_HOUR}, or 24:00")));
    }
    let name = said("timezone").filter(|name| zone(Some(name)).is_none())?;
    Some(("timezone", format!("is {name:?}, and {NO_ZONE}")))
}
