//! What is looked at of an installation without asking its daemons, and what of
//! it can be mended without asking anybody ([`Mend`]): what is certain, harms
//! nothing when it was wrong, and is undone by nobody's decision.

mod aliases;
mod check;
mod database;
mod default_agent;
mod files;
mod index;
mod kept;
mod keys;
mod leftovers;
mod manager;
mod mend;
mod programs;
mod remedy;
mod shadow;
mod units;

use openclaw_config::{Environment, Paths};
use openclaw_settings::Settings;

pub use check::{Check, START, State, paint};
pub use kept::Remains;
pub use mend::mend;
pub use remedy::{Mend, Shadow};
pub use units::{has_drop_in, has_unit, unit_file, user_folder};

/// What can be seen without the settings.
#[must_use]
pub fn installation(paths: &Paths, environment: &Environment) -> Vec<Check> {
    let mut checks = files::state(paths);
    checks.extend(files::obstacle(paths));
    checks.extend(files::transcripts(paths));
    checks.extend(index::sessions(paths));
    checks.extend(database::ledger(paths));
    checks.extend(leftovers::all(paths));
    checks.extend(files::sockets(paths));
    checks.extend(programs::suite(environment));
    checks.push(units::installed(paths, environment));
    checks.extend(shadow::found(paths, environment));
    checks.extend(manager::units(paths, environment));
    checks.extend(keys::encrypted(paths, environment));
    checks.extend(aliases::sound(environment));
    checks
}

/// What can be seen with them.
#[must_use]
pub fn configured(settings: &Settings, environment: &Environment) -> Vec<Check> {
    let mut checks = files::workspaces(settings);
    checks.extend(files::closed_workspaces(settings));
    checks.extend(files::shut_places(settings));
    checks.extend(leftovers::workspaces(settings));
    checks.extend(programs::clis(settings, environment));
    let doubts = settings.doubts.iter();
    checks.extend(doubts.map(|doubt| {
        let fix = "correct it; openclawctl config validate shows what is left";
        Check::warn("doubtful settings", doubt, fix)
    }));
    checks.extend(default_agent::left_behind(settings));
    let cramped = openclaw_prompt::cramped(settings).into_iter();
    checks.extend(cramped.map(|(key, problem)| {
        Check::warn(
            "room for conversations",
            format!("{key} {problem}"),
            format!("raise {key}"),
        )
    }));
    let told = settings.told_nowhere().into_iter();
    checks.extend(told.map(|(key, problem)| {
        let detail = format!("{key}: {problem}");
        Check::warn(
            "configuration of what is told",
            detail,
            format!("correct {key}"),
        )
    }));
    checks.extend(settings.faults.iter().map(|fault| {
        let fix = format!(
            "correct {}, or take it out: openclawctl config unset",
            fault.path
        );
        Check::fail("values of the configuration", fault.to_string(), fix)
    }));
    checks
}
