//! Why a time that somebody said is none.

use std::fmt::{Display, Formatter, Result};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// What is wrong with a time that somebody said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unclear {
    /// It cannot be understood.
    Unknown,
    /// It may mean several times; which, and how each is written.
    Several(String),
}

impl Unclear {
    /// `text` may mean each of `readings`, in `zone` where it names one.
    pub(crate) fn several(
        text: &str,
        readings: &[Timestamp],
        zone: Option<TimeZone>,
        now: &Zoned,
    ) -> Self {
        let name = zone.as_ref().and_then(TimeZone::iana_name);
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        let zone = zone.as_ref().unwrap_or(now.time_zone());
        let each = readings.iter().map(|at| {
            let there = at.to_zoned(zone.clone());
            let seconds = if there.second() == 0 { "" } else { ":%S" };
            let form = format!("%a %-d %b %Y %H:%M{seconds}");
            let words = there.strftime(&form);
            let iso = there.strftime("%Y-%m-%dT%H:%M:%S%:z");
            format!("\"{words}{name}\" ({iso})")
        });
        let each: Vec<String> = each.collect();
        let each = each.join(" or ");
        Self::Several(format!("{text:?} may mean several times; say {each}"))
    }
}

impl Display for Unclear {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.write_str(match self {
            Self::Unknown => "it is not understood",
            Self::Several(words) => words,
        })
    }
}
