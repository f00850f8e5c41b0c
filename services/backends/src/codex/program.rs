//! Which file of an installation of Codex is the program.

use std::fs;
use std::path::{Path, PathBuf};

/// The names of the packages with the program, beside the one of its script.
const PLATFORM: &str = "codex-linux-";

/// npm installs a script that needs Node and starts the program of a package beside its own (since
/// 0.100 or within it): here that program is started itself. Anything else is taken as it is.
pub(super) fn native(found: PathBuf) -> PathBuf {
    let is_script = found.extension().is_some_and(|extension| extension == "js");
    if is_script {
        beside(&found).unwrap_or(found)
    } else {
        found
    }
}

/// The program of the package that `script` (`PACKAGE/bin/codex.js`) is in.
fn beside(script: &Path) -> Option<PathBuf> {
    let package = script.parent()?.parent()?;
    let within = package.join("node_modules/@openai");
    let siblings = [Some(within.as_path()), package.parent()];
    let packages = siblings
        .into_iter()
        .flatten()
        .flat_map(entries)
        .filter(|path| name(path).starts_with(PLATFORM));
    std::iter::once(package.to_path_buf())
        .chain(packages)
        .flat_map(|package| entries(&package.join("vendor")))
        .flat_map(|target| [target.join("bin/codex"), target.join("codex/codex")])
        .find(|program| program.is_file())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_of_npm_leads_to_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("@openai/codex/bin/codex.js");
        let program = folder
            .path()
            .join("@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex");
        for path in [&script, &program] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(native(script.clone()), program);
        fs::remove_file(&program).unwrap();
        assert_eq!(native(script.clone()), script);
        assert_eq!(native(program.clone()), program);
    }
}
