//! `session.maintenance` of the file, typed but optional, as written.
//!
//! Times and sizes are as OpenClaw reads them: a time is text such as `30d` or
//! `1h30m`, or a number of days; a size is text such as `500mb`, or a number of
//! bytes.

use std::time::Duration;

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use crate::section::sections;

sections! {
    /// `session.maintenance`.
    pub struct Maintenance {
        /// `enforce` (the default) archives and removes, `warn` only says what
        /// would be.
        mode: MaintenanceMode = MaintenanceMode::Enforce,
        /// How long nothing may have happened in a session before it is archived,
        /// one of a job or a hook removed: `30d` unless set.
        prune_after: Age = Age::days(30),
        /// The same for sessions of OpenClaw's dashboard, `7d` unless set; `false`
        /// and 0: as `pruneAfter` says.
        #[cfg_attr(test, schemars(with = "Option<written::DaysOrNever>"))]
        archive_dashboard_after: OrNever<Age> = OrNever(Some(Age::days(7))),
        /// The most sessions that are not archived, 5000 unless set.
        #[cfg_attr(test, schemars(range(min = 1)))]
        max_entries: u64 = 5000,
        /// Sessions in which something happened so lately stay as they are.
        #[cfg_attr(test, schemars(with = "Option<written::DaysOrNever>"))]
        preserve_recent: OrNever<Age> = OrNever(None),
        /// How long the archives of deleted and reset transcripts are kept; for ever
        /// unless set, or `false`.
        #[cfg_attr(test, schemars(with = "Option<written::DaysOrNever>"))]
        reset_archive_retention: OrNever<Age> = OrNever(None),
        /// What the files of an agent's sessions may take: `10gb` unless set;
        /// `false` and 0: anything.
        #[cfg_attr(test, schemars(with = "Option<written::AmountOrAny>"))]
        max_disk_bytes: OrNever<Bytes> = OrNever(Some(Bytes(10 << 30))),
        /// What they take after archives were removed; four fifths of
        /// `maxDiskBytes` unless set.
        high_water_bytes: Option<Bytes>,
    }
}

/// `session.maintenance.mode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MaintenanceMode {
    /// It is done.
    #[default]
    Enforce,
    /// What would be done is said.
    Warn,
}

/// A time; a number is one of days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Age(#[cfg_attr(test, schemars(with = "written::Days"))] pub Duration);

impl Age {
    pub(super) const fn days(days: u64) -> Self {
        Self(Duration::from_secs(days * 24 * 60 * 60))
    }
}

impl Serialize for Age {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{}ms", self.0.as_millis()))
    }
}

/// A size; a number is one of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bytes(#[cfg_attr(test, schemars(with = "written::Amount"))] pub u64);

/// A value, or `false` for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrNever<T>(pub Option<T>);

impl<T: Serialize> Serialize for OrNever<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(value) => value.serialize(to),
            None => to.serialize_bool(false),
        }
    }
}

const AGE: &str = "a time above 0, such as \"30d\" or \"1h30m\" (ms, s, m, h, d), or days";
const BYTES: &str = "a size such as \"500mb\" (b, kb, mb, gb, tb), or bytes";

impl<'de> Deserialize<'de> for Age {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let age = text_of(&value).and_then(|text| milliseconds(&text));
        match age.filter(|milliseconds| *milliseconds > 0) {
            Some(milliseconds) => Ok(Self(Duration::from_millis(milliseconds))),
            None => Err(D::Error::custom(format!("is {value}; allowed is {AGE}"))),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let size = text_of(&value).and_then(|text| bytes(&text));
        size.map(Self)
            .ok_or_else(|| D::Error::custom(format!("is {value}; allowed is {BYTES}")))
    }
}

impl<'de> Deserialize<'de> for OrNever<Age> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let is_nothing = text_of(&value).and_then(|text| milliseconds(&text)) == Some(0);
        if value == Value::Bool(false) || is_nothing {
            return Ok(Self(None));
        }
        let age = Age::deserialize(value).map_err(D::Error::custom)?;
        Ok(Self(Some(age)))
    }
}

impl<'de> Deserialize<'de> for OrNever<Bytes> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value == Value::Bool(false) {
            return Ok(Self(None));
        }
        let size = Bytes::deserialize(value).map_err(D::Error::custom)?;
        Ok(Self(Some(size).filter(|size| size.0 > 0)))
    }
}

/// A number is read as its digits are.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// One number with a unit or without, or several with one each.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    const DAY: f64 = 86_400_000.0;
    if let Some(days) = decimal(text) {
        return whole(days * DAY);
    }
    let (mut rest, mut sum) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let end = after.find(|c: char| !c.is_ascii_alphabetic());
        let (unit, left) = after.split_at(end.unwrap_or(after.len()));
        let factor = match unit {
            "ms" => 1.0,
            "s" => 1_000.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            "d" => DAY,
            _ => return None,
        };
        sum += decimal(number)? * factor;
        rest = left;
    }
    whole(sum)
}

fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let power = match unit {
        "" | "b" => 0,
        "k" | "kb" => 1,
        "m" | "mb" => 2,
        "g" | "gb" => 3,
        "t" | "tb" => 4,
        _ => return None,
    };
    whole(decimal(number)? * 1024_f64.powi(power))
}

/// Digits, with a point and further digits or without.
fn decimal(text: &str) -> Option<f64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    (is_digits(whole) && is_digits(part)).then(|| text.parse().ok())?
}

/// Rounded, unless it is more than a double can count one by one.
fn whole(number: f64) -> Option<u64> {
    const MOST: f64 = 9_007_199_254_740_991.0;
    (number <= MOST).then(|| number.round() as u64)
}

/// What the schema says of them.
#[cfg(test)]
pub(in crate::keys) mod written {
    #[derive(schemars::JsonSchema)]
    #[schemars(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub(super) enum Days {
        /// So many days.
        Number(#[schemars(range(min = 0.001))] f64),
        /// With units, such as `12h` or `1d12h`.
        Text(String),
    }

    #[derive(schemars::JsonSchema)]
    #[schemars(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub(in crate::keys) enum DaysOrNever {
        /// So many days.
        Number(#[schemars(range(min = 0.0))] f64),
        /// With units, such as `12h` or `1d12h`.
        Text(String),
        /// Never.
        Never(#[schemars(extend("enum" = [false]))] bool),
    }

    #[derive(schemars::JsonSchema)]
    #[schemars(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub(super) enum Amount {
        /// So many bytes.
        Number(u64),
        /// With a unit, such as `500mb`.
        Text(String),
    }

    #[derive(schemars::JsonSchema)]
    #[schemars(untagged)]
    #[expect(dead_code, reason = "only its schema is used")]
    pub(super) enum AmountOrAny {
        /// So many bytes.
        Number(u64),
        /// With a unit, such as `500mb`.
        Text(String),
        /// Any.
        Any(#[schemars(extend("enum" = [false]))] bool),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_read_as_openclaw_reads_them() {
        for (written, expected) in [
            (json!("30d"), Some(2_592_000_000)),
            (json!("1h30m"), Some(5_400_000)),
            (json!(" 1.5H "), Some(5_400_000)),
            (json!("250ms"), Some(250)),
            (json!("2s"), Some(2_000)),
            (json!("3m"), Some(180_000)),
            (json!("1d2h3m4s5ms"), Some(93_784_005)),
            (json!("0.4ms"), None),
            (json!("0.5ms"), Some(1)),
            (json!("9007199254740991ms"), Some(9_007_199_254_740_991)),
            (json!("9007199254740992ms"), None),
            (json!("1.h"), None),
            (json!("1.2.3h"), None),
            (json!("h"), None),
            (json!(7), Some(604_800_000)),
            (json!("7"), Some(604_800_000)),
            (json!(0.5), Some(43_200_000)),
            (json!("0"), None),
            (json!("-1d"), None),
            (json!("1h30"), None),
            (json!("1 h"), None),
            (json!("1w"), None),
            (json!(".5h"), None),
            (json!("99999999999999999d"), None),
            (json!(""), None),
            (json!(true), None),
        ] {
            let read = serde_json::from_value::<Age>(written.clone()).ok();
            let expected = expected.map(|it| Age(Duration::from_millis(it)));
            assert_eq!(read, expected, "{written}");
        }
    }

    #[test]
    fn sizes_are_read_as_openclaw_reads_them() {
        for (written, expected) in [
            (json!("500mb"), Some(500 << 20)),
            (json!("1.5k"), Some(1536)),
            (json!("10GB"), Some(10 << 30)),
            (json!(1024), Some(1024)),
            (json!("7b"), Some(7)),
            (json!("2t"), Some(2 << 40)),
            (json!("2tb"), Some(2 << 40)),
            (json!("3g"), Some(3 << 30)),
            (json!("3m"), Some(3 << 20)),
            (json!("3kb"), Some(3 << 10)),
            (json!("0"), Some(0)),
            (json!(false), None),
            (json!(""), None),
            (json!("7bb"), None),
            (json!(-1), None),
            (json!("-1"), None),
            (json!("1 gb"), None),
        ] {
            let read = serde_json::from_value::<Bytes>(written.clone()).ok();
            assert_eq!(read, expected.map(Bytes), "{written}");
        }
    }

    #[test]
    fn false_and_nothing_are_none() {
        let age = |value| serde_json::from_value::<OrNever<Age>>(value);
        let size = |value| serde_json::from_value::<OrNever<Bytes>>(value);
        assert_eq!(age(json!(false)).unwrap(), OrNever(None));
        assert_eq!(age(json!(0)).unwrap(), OrNever(None));
        assert_eq!(size(json!(false)).unwrap(), OrNever(None));
        assert_eq!(size(json!("0")).unwrap(), OrNever(None));
        assert_eq!(size(json!("1b")).unwrap(), OrNever(Some(Bytes(1))));
        assert_eq!(age(json!(0.0)).unwrap(), OrNever(None));
        let second = Age(Duration::from_secs(1));
        assert_eq!(age(json!("1s")).unwrap(), OrNever(Some(second)));
        size(json!(true)).unwrap_err();
        assert_eq!(size(json!("1kb")).unwrap(), OrNever(Some(Bytes(1024))));
        let error = age(json!(true)).unwrap_err().to_string();
        assert!(error.contains("is true; allowed is a time"), "{error}");
    }
}
