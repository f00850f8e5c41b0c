//! Where the state is. The units as shipped say `~/.openclaw`; another folder,
//! of OPENCLAW_STATE_DIR or of OpenClaw's earlier names, they are told by a
//! drop-in.

use openclaw_config::Paths;
use openclaw_terminal::Failure;

use super::unit_text::{HEADER, escaped, socket as socket_text, unnameable, unquoted};
use super::units::Units;

/// Services whose drop-in says nothing else; memory's has workspaces, too.
pub(super) const UNITS: [&str; 3] = [
    "openclaw-gateway.service",
    "openclaw-agent-runner.service",
    SCHEDULE,
];

/// The service whose condition is a file of the state.
const SCHEDULE: &str = "openclaw-schedule.service";

/// Sockets that listen at nothing the configuration can change. They make the
/// state folder, as the others do: without it the services cannot see it.
pub(super) const SOCKETS: [&str; 3] = [
    "openclaw-memory.socket",
    "openclaw-control.socket",
    "openclaw-channel.socket",
];

/// The folder of the units as shipped, seen from the home.
const USUAL: &str = ".openclaw";

/// The service whose confinement hides the home.
const HIDDEN_FROM: &str = "openclaw-gateway.service";

/// The drop-in of `unit`; none where the unit as shipped will do.
pub(super) fn wanted(
    paths: &Paths,
    unit: &str,
    units: &Units<'_>,
) -> Result<Option<String>, Failure> {
    let Some(mut lines) = variable(paths)? else {
        return Ok(None);
    };
    if unit == HIDDEN_FROM && units.is_confined(unit) {
        let state = escaped(&paths.state)?;
        // It would be the first of two paths.
        if state.contains(':') {
            return Err(unnameable(&paths.state));
        }
        lines.push_str(&format!("BindPaths=\"-{state}\"\n"));
    }
    let mut head = String::new();
    if unit == SCHEDULE {
        let path = unquoted(&paths.scheduled())?;
        head = format!("[Unit]\nConditionPathExists=\nConditionPathExists={path}\n");
    }
    Ok(Some(format!("{HEADER}{head}[Service]\n{lines}")))
}

/// The lines of a socket that make this folder and no other; none where the
/// units as shipped will do. In a command `$` is a variable (systemd.service(5)).
pub(super) fn making(paths: &Paths) -> Result<Option<String>, Failure> {
    if variable(paths)?.is_none() {
        return Ok(None);
    }
    let state = escaped(&paths.state)?.replace('$', "$$");
    Ok(Some(format!(
        "ExecStartPre=\nExecStartPre=/bin/mkdir -p -m 0700 \"{state}\"\n"
    )))
}

/// The drop-in of a socket that needs no other lines.
pub(super) fn socket(paths: &Paths) -> Result<Option<String>, Failure> {
    let making = making(paths)?;
    Ok(making.map(|lines| socket_text("", &lines)))
}

/// The line that names the folder; none where the units name it already.
pub(super) fn variable(paths: &Paths) -> Result<Option<String>, Failure> {
    let usual = paths.home.as_ref();
    let usual = usual.map(|home| openclaw_config::paths::without_links(home.join(USUAL)));
    if usual.as_ref() == Some(&paths.state) {
        return Ok(None);
    }
    let state = escaped(&paths.state)?;
    Ok(Some(format!(
        "Environment=\"OPENCLAW_STATE_DIR={state}\"\n"
    )))
}
