//! Where memory writes notes: in workspaces, which may be anywhere. Its unit, as
//! shipped, lets it write in the state folder alone.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use openclaw_settings::Settings;
use openclaw_terminal::Failure;

use super::state;
use super::unit_text::{HEADER, escaped, unnameable};
use super::units::Units;

/// The service.
pub(super) const UNIT: &str = "openclaw-memory.service";

/// Folders of the state folder that are read-only for memory.
const READ_ONLY: [&str; 1] = ["agents"];

/// Folders of which the unit has its own, empty at each start.
const ITS_OWN: [&str; 3] = ["/tmp", "/var/tmp", "/run/user"];

/// The drop-in; none where the unit as shipped will do.
pub(super) fn wanted(settings: &Settings, units: &Units<'_>) -> Result<Option<String>, Failure> {
    let granted = granted(settings);
    let is_confined = units.is_confined(UNIT);
    let variable = state::variable(&settings.paths)?;
    let mut lines = variable.clone().unwrap_or_default();
    if is_confined {
        if variable.is_some() {
            lines.push_str(&of_state(&settings.paths.state)?);
        }
        if !granted.is_empty() {
            lines.push_str("# Workspaces in which memory writes notes.\n");
        }
        for path in &granted {
            lines.push_str(&line(path)?);
        }
    }
    Ok((!lines.is_empty()).then(|| format!("{HEADER}[Service]\n{lines}")))
}

/// What the unit as shipped grants of the usual state folder.
fn of_state(state: &Path) -> Result<String, Failure> {
    let mut lines = line(state)?;
    for folder in READ_ONLY {
        let folder = escaped(&state.join(folder))?;
        lines.push_str(&format!("ReadOnlyPaths=\"-{folder}\"\n"));
    }
    Ok(lines)
}

/// Workspaces that the unit as shipped does not let it write to.
pub(super) fn granted(settings: &Settings) -> Vec<PathBuf> {
    let state = &settings.paths.state;
    let is_granted = |path: &PathBuf| {
        let within = path.strip_prefix(state);
        within.is_ok_and(|within| !READ_ONLY.iter().any(|folder| within.starts_with(folder)))
    };
    let workspaces = settings
        .agents
        .values()
        .map(|agent| agent.workspace.to_path_buf());
    let mut granted: Vec<PathBuf> = workspaces.filter(|it| !is_granted(it)).collect();
    granted.sort();
    granted.dedup();
    granted
}

/// Makes them: what is not there when the unit starts cannot be granted.
pub(super) fn make(workspaces: &[PathBuf]) -> Result<(), Failure> {
    for path in workspaces {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("cannot make the folder {}", path.display()))?;
    }
    Ok(())
}

/// One that is not there (any more) keeps memory from nothing else.
fn line(path: &Path) -> Result<String, Failure> {
    let is_its_own = ITS_OWN.iter().any(|folder| path.starts_with(folder));
    let word = escaped(path)?;
    if !is_its_own {
        return Ok(format!("ReadWritePaths=\"-{word}\"\n"));
    }
    // It would be the first of two paths.
    if word.contains(':') {
        return Err(unnameable(path));
    }
    Ok(format!("BindPaths=\"-{word}\"\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_one_word_of_a_unit() {
        let line = |path: &str| super::line(Path::new(path)).unwrap();
        assert_eq!(
            line("/home/u/my \"x\" 5%"),
            "ReadWritePaths=\"-/home/u/my \\\"x\\\" 5%%\"\n"
        );
        assert_eq!(line("/tmp/a"), "BindPaths=\"-/tmp/a\"\n");
        assert!(super::line(Path::new("/tmp/a:b")).is_err());
        assert!(super::line(Path::new("/home/u/two\nlines")).is_err());
    }
}
