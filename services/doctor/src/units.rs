//! systemd's units of the suite.

use std::path::PathBuf;

use openclaw_config::paths::runtime_of_user;
use openclaw_config::{Environment, Paths};

use crate::check::Check;

/// What must be installed for `systemctl --user start openclaw.target`.
pub(crate) const UNITS: [&str; 15] = [
    "openclaw.target",
    "openclaw-stop.service",
    "openclaw-stopped.target",
    "openclaw-control.socket",
    "openclaw-channel.socket",
    "openclaw-cli.socket",
    "openclaw-gateway.socket",
    "openclaw-gateway.service",
    "openclaw-agent-runner.socket",
    "openclaw-agent-runner.service",
    "openclaw-memory.socket",
    "openclaw-memory.service",
    "openclaw-schedule.service",
    "openclaw-schedule-wake.service",
    "openclaw-telegram.service",
];
/// Of them those that the machine's own suite does without, and what it has besides.
const OF_USERS: [&str; 4] = [
    "openclaw-channel.socket",
    "openclaw-cli.socket",
    "openclaw-schedule-wake.service",
    "openclaw-telegram.service",
];
const OF_MACHINE: [&str; 2] = ["openclaw-spawner.socket", "openclaw-spawner.service"];
/// Where units of the machine's own manager are (systemd.unit(5)).
const MACHINE_FOLDERS: [&str; 4] = [
    "/etc/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];
/// Where units of all users' managers are (systemd.unit(5)).
pub(crate) const SYSTEM_FOLDERS: [&str; 4] = [
    "/etc/systemd/user",
    "/usr/local/lib/systemd/user",
    "/usr/lib/systemd/user",
    "/lib/systemd/user",
];

/// Where generators put drop-ins, in the user's runtime directory
/// (systemd.generator(7)).
const GENERATED: &str = "systemd/generator";

/// Whether the units are there, where there is a manager for them.
pub(crate) fn installed(paths: &Paths, environment: &Environment) -> Check {
    const NAME: &str = "units";
    const FIX: &str = "./packaging/install, or ./packaging/quickstart";
    if openclaw_service_manager::runtime(environment).is_none() {
        let detail = "no systemd user manager here: openclawctl run takes its place";
        return Check::ok(NAME, detail);
    }
    let folders = folders(paths, environment);
    let wanted = wanted(environment);
    let missing: Vec<&str> = wanted
        .iter()
        .copied()
        .filter(|unit| !folders.iter().any(|folder| folder.join(unit).exists()))
        .collect();
    match missing.len() {
        0 => Check::ok(NAME, format!("all {} are installed", wanted.len())),
        all if all == wanted.len() => Check::warn(NAME, "none is installed", FIX),
        _ => Check::fail(NAME, format!("missing: {}", missing.join(", ")), FIX),
    }
}

fn wanted(environment: &Environment) -> Vec<&'static str> {
    if !environment.is_of_machine() {
        return UNITS.to_vec();
    }
    let common = UNITS.into_iter().filter(|unit| !OF_USERS.contains(unit));
    common.chain(OF_MACHINE).collect()
}

/// Whether the unit is in any folder of units.
pub fn has_unit(unit: &str, paths: &Paths, environment: &Environment) -> bool {
    unit_file(unit, paths, environment).is_some()
}

/// The file of the unit that the user's manager takes: of several the first.
#[must_use]
pub fn unit_file(unit: &str, paths: &Paths, environment: &Environment) -> Option<PathBuf> {
    let files = folders(paths, environment).into_iter();
    files.map(|folder| folder.join(unit)).find(|it| it.exists())
}

/// Whether the unit has the drop-in, in a folder of units or made by a generator.
#[must_use]
pub fn has_drop_in(unit: &str, name: &str, paths: &Paths, environment: &Environment) -> bool {
    let runtime = runtime_of_user(environment).ok().flatten();
    let generated = runtime.map(|folder| folder.join(GENERATED));
    let folders = folders(paths, environment).into_iter().chain(generated);
    let drop_in = PathBuf::from(format!("{unit}.d")).join(name);
    folders.into_iter().any(|it| it.join(&drop_in).exists())
}

/// The user's own folder of units, which comes before all others.
#[must_use]
pub fn user_folder(paths: &Paths, environment: &Environment) -> Option<PathBuf> {
    let configuration = match environment.get("XDG_CONFIG_HOME") {
        Some(folder) => PathBuf::from(folder),
        None => paths.home.as_ref()?.join(".config"),
    };
    Some(configuration.join("systemd/user"))
}

pub(crate) fn folders(paths: &Paths, environment: &Environment) -> Vec<PathBuf> {
    if environment.is_of_machine() {
        return MACHINE_FOLDERS.map(PathBuf::from).to_vec();
    }
    let data = match environment.get("XDG_DATA_HOME") {
        Some(folder) => Some(PathBuf::from(folder)),
        None => paths.home.as_ref().map(|home| home.join(".local/share")),
    };
    let data = data.map(|folder| folder.join("systemd/user"));
    [user_folder(paths, environment), data]
        .into_iter()
        .flatten()
        .chain(SYSTEM_FOLDERS.map(PathBuf::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::check::State;

    #[test]
    fn units_matter_only_where_there_is_a_manager() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        let environment: Environment = [
            ("HOME", text),
            ("XDG_RUNTIME_DIR", text),
            ("XDG_CONFIG_HOME", text),
        ]
        .into_iter()
        .collect();
        let paths = Paths::resolve(&environment).unwrap();
        assert_eq!(installed(&paths, &environment).state, State::Ok);

        fs::create_dir_all(folder.path().join("systemd/user")).unwrap();
        fs::write(folder.path().join("systemd/private"), "").unwrap();
        for unit in &UNITS[1..] {
            fs::write(folder.path().join("systemd/user").join(unit), "").unwrap();
        }
        let check = installed(&paths, &environment);
        assert_eq!(check.state, State::Fail);
        assert_eq!(check.detail, "missing: openclaw.target");
        fs::write(folder.path().join("systemd/user").join(UNITS[0]), "").unwrap();
        assert_eq!(installed(&paths, &environment).state, State::Ok);
    }
}
