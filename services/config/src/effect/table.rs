//! The table: of each key of OpenClaw's schema, what it does here. An entry
//! holds for what is below it, too, unless that has an entry of its own.

use super::Effect;

mod agents;
mod earlier;
mod gateway;
mod general;
mod models;
mod tools;

/// Keys of one section that do the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The section, `*` for any name or index in it; empty: the top level.
    pub(crate) at: &'static str,
    /// What the keys do.
    pub(crate) effect: Effect,
    /// The keys, seen from the section.
    pub(crate) keys: &'static [&'static str],
}

const fn row(at: &'static str, effect: Effect, keys: &'static [&'static str]) -> Row {
    Row { at, effect, keys }
}

/// Nothing more is to be said.
const UNSUPPORTED: Effect = Effect::NotSupported("");

/// What only matters to channels.
const CHANNELS: Effect = Effect::NotSupported("no messengers are connected");

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
const PRESENT: [&[Row]; 5] = [
    general::ROWS,
    gateway::ROWS,
    agents::ROWS,
    tools::ROWS,
    models::ROWS,
];

fn entries_of(rows: &'static [Row]) -> impl Iterator<Item = (Vec<&'static str>, Effect)> {
    let parts = |text: &'static str| text.split('.').filter(|part| !part.is_empty());
    rows.iter().flat_map(move |row| {
        row.keys.iter().map(move |key| {
            let path = parts(row.at).chain(parts(key));
            (path.collect(), row.effect)
        })
    })
}

/// Entries for keys of the recorded version.
pub(crate) fn present() -> impl Iterator<Item = (Vec<&'static str>, Effect)> {
    PRESENT.into_iter().flat_map(entries_of)
}

/// Entries for keys that other versions of OpenClaw, the seeds and its pages
/// name and the recorded version does not.
pub(crate) fn earlier() -> impl Iterator<Item = (Vec<&'static str>, Effect)> {
    entries_of(earlier::ROWS)
}

/// All entries.
pub(crate) fn entries() -> impl Iterator<Item = (Vec<&'static str>, Effect)> {
    present().chain(earlier())
}
