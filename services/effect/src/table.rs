//! The table: of each key of OpenClaw's schema that does not act here, what it
//! does instead. An entry holds for what is below it, too, unless that has an
//! entry of its own.

use serde_json::Value;

mod agents;
mod channels;
mod earlier;
mod gateway;
mod general;
mod models;
mod tools;

pub(crate) use channels::OTHER_CHANNELS;

/// What a key does here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// What it does in OpenClaw; said only of keys that no type has.
    Acts,
    /// The same as this key, which it is another name of.
    Alias(&'static str),
    /// Nothing yet, and what would be needed for it; empty: nothing to say.
    NotSupported(&'static str),
    /// What it does in OpenClaw, but with this value nothing, and why.
    ActsWithout(&'static str, &'static str),
    /// Nothing: there is no need for it, and why.
    NotNeeded(&'static str),
    /// Nothing: this here does it.
    Replaced(&'static str),
    /// Nothing, and where it restricts something that is an error.
    Restricts {
        /// Which values restrict.
        when: When,
        /// What to do instead, as a command to the reader.
        instead: &'static str,
    },
}

/// Which values of a key restrict something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// All but those that say nothing: `null`, `false`, 0 and what is empty.
    Set,
    /// `false`.
    False,
    /// All but these words.
    Not(&'static [&'static str]),
}

impl When {
    pub(crate) fn holds(self, value: &Value) -> bool {
        match self {
            Self::Set => match value {
                Value::Null => false,
                Value::Bool(is_on) => *is_on,
                Value::Number(number) => number.as_f64() != Some(0.0),
                Value::String(text) => !text.is_empty(),
                Value::Array(items) => !items.is_empty(),
                Value::Object(fields) => !fields.is_empty(),
            },
            Self::False => value == &Value::Bool(false),
            Self::Not(words) => value.as_str().is_some_and(|text| !words.contains(&text)),
        }
    }
}

impl Effect {
    /// Why the key has no effect with `value`; `None`: it has.
    pub(crate) fn reason_with(self, value: &Value) -> Option<String> {
        match self {
            Self::ActsWithout(idle, why) => {
                (value == idle).then(|| format!("not supported yet: {why}"))
            }
            _ => self.reason(),
        }
    }

    /// Why the key has no effect, whatever its value is; `None`: it may have.
    pub fn reason(self) -> Option<String> {
        let with = |kind: &str, why: &str| match why {
            "" => kind.to_owned(),
            why => format!("{kind}: {why}"),
        };
        match self {
            Self::Acts | Self::ActsWithout(..) | Self::Alias(_) => None,
            Self::NotSupported(why) => Some(with("not supported yet", why)),
            Self::NotNeeded(why) => Some(with("not needed here", why)),
            Self::Replaced(by) => Some(format!("replaced by {by}")),
            Self::Restricts { .. } => Some("not supported yet".to_owned()),
        }
    }

    /// In which order reasons are shown.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Acts | Self::Alias(_) => 0,
            Self::Restricts { .. } => 1,
            Self::NotSupported(_) | Self::ActsWithout(..) => 2,
            Self::Replaced(_) => 3,
            Self::NotNeeded(_) => 4,
        }
    }
}

/// Keys of one section that do the same.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The section, `*` for any name or index in it; empty: the top level.
    pub at: &'static str,
    /// What the keys do.
    pub effect: Effect,
    /// The keys, seen from the section.
    pub keys: &'static [&'static str],
}

const fn row(at: &'static str, effect: Effect, keys: &'static [&'static str]) -> Row {
    Row { at, effect, keys }
}

/// Nothing more is to be said.
const UNSUPPORTED: Effect = Effect::NotSupported("");

/// What only matters to channels.
pub(crate) const CHANNELS: Effect =
    Effect::NotSupported("of the channels that OpenClaw has, Telegram is connected");

/// What there is in the place of a model of embeddings in the daemon's own process.
const NO_OWN_MODEL: &str = "the table that is shipped is used; a model on this machine is asked \
                            through its server, as with the provider ollama";
const OWN_MODEL: Effect = Effect::NotSupported(NO_OWN_MODEL);
/// Of embeddings.
const PROVIDER: Effect = Effect::ActsWithout("local", NO_OWN_MODEL);

/// Who keeps logs.
const JOURNALD: Effect =
    Effect::NotNeeded("journald keeps the log (journalctl --user -u 'openclaw-*')");

/// Of OpenClaw 2026.9, the version whose keys are recorded.
const PRESENT: [&[Row]; 6] = [
    general::ROWS,
    channels::ROWS,
    gateway::ROWS,
    agents::ROWS,
    tools::ROWS,
    models::ROWS,
];

/// The parts of a path as it is written in a row.
fn parts(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split('.').filter(|part| !part.is_empty())
}

fn entries_in(rows: &'static [Row]) -> impl Iterator<Item = (Vec<&'static str>, Effect)> {
    rows.iter().flat_map(move |row| {
        row.keys.iter().map(move |key| {
            let path = parts(row.at).chain(parts(key));
            (path.collect(), row.effect)
        })
    })
}

fn rows() -> impl Iterator<Item = &'static Row> {
    PRESENT.into_iter().chain([earlier::ROWS]).flatten()
}

/// The top-level keys that entries are of, some more than once.
pub(crate) fn sections() -> impl Iterator<Item = &'static str> {
    rows().flat_map(|row| {
        let own = parts(row.at).next();
        let keys = row.keys.iter().filter_map(|key| parts(key).next());
        own.into_iter().chain(keys.filter(move |_| own.is_none()))
    })
}

/// The entries below a top-level key, seen from it.
pub(crate) fn entries_of(
    section: &str,
) -> impl Iterator<Item = (impl Iterator<Item = &'static str>, Effect)> {
    let may_have = move |row: &&Row| parts(row.at).next().is_none_or(|first| first == section);
    rows().filter(may_have).flat_map(move |row| {
        row.keys.iter().filter_map(move |key| {
            let mut path = parts(row.at).chain(parts(key));
            (path.next() == Some(section)).then_some((path, row.effect))
        })
    })
}

/// Entries for keys of the recorded version.
pub fn present() -> impl Iterator<Item = (Vec<&'static str>, Effect)> {
    PRESENT.into_iter().flat_map(entries_in)
}

/// Entries for keys that other versions of OpenClaw, the seeds and its pages
/// name and the recorded version does not.
pub fn earlier() -> impl Iterator<Item = (Vec<&'static str>, Effect)> {
    entries_in(earlier::ROWS)
}

/// All entries.
pub fn entries() -> impl Iterator<Item = (Vec<&'static str>, Effect)> {
    present().chain(earlier())
}
