//! Folders as unit files name them.

use std::path::Path;

use openclaw_terminal::Failure;

/// The drop-ins' name, after the units' own and before a user's.
pub(super) const DROP_IN: &str = "50-openclaw.conf";
/// The first line of each.
pub(super) const HEADER: &str =
    "# Written by `openclawctl sockets` from the configuration; it replaces this file.\n";

/// No unit can name `path`.
pub(super) fn unnameable(path: &Path) -> Failure {
    let name = path.display();
    Failure::new(format!("{name} has a name that no unit can have")).hint(
        "choose another place: agents.*.workspace, OPENCLAW_STATE_DIR, channels.telegram.tokenFile \
         (`openclawctl channels login telegram` keeps a token where its daemon sees it)",
    )
}

/// As a quoted word of a unit file.
pub(super) fn escaped(path: &Path) -> Result<String, Failure> {
    openclaw_service_manager::quoted(path).ok_or_else(|| unnameable(path))
}

/// As the rest of a line of a unit file, which has no quotes.
pub(super) fn unquoted(path: &Path) -> Result<String, Failure> {
    openclaw_service_manager::unquoted(path).ok_or_else(|| unnameable(path))
}

/// A drop-in of a socket with these lines of its section.
pub(super) fn socket(head: &str, lines: &str) -> String {
    match lines {
        "" => format!("{HEADER}{head}"),
        lines => format!("{HEADER}{head}[Socket]\n{lines}"),
    }
}
