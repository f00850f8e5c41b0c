//! Changes of the configuration file.

use openclaw_config::{Environment, Error, Paths};
use openclaw_settings::file::File;
use serde_json::Value;

/// Merges `patch` into the file; whether that changed it. A file that would be
/// wrong with it stays as it is.
pub(crate) fn merge(
    patch: &Value,
    paths: &Paths,
    environment: &Environment,
) -> Result<bool, Error> {
    let mut file = File::open(paths)?;
    file.patch(patch)?;
    let problems = file.problems(environment)?;
    if !problems.new.is_empty() {
        return Err(Error::invalid(file.path(), problems.new));
    }
    let is_changed = file.is_changed();
    if is_changed {
        file.save()?;
    }
    Ok(is_changed)
}
