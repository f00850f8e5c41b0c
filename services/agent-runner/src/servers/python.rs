//! What a program in a virtual environment of Python needs: the environment, and
//! the Python that it was made with.

use std::path::{Path, PathBuf};

use openclaw_sandbox::{Closed, Plan};

/// Makes a folder one (PEP 405).
const MARK: &str = "pyvenv.cfg";

/// Folders to be granted for `program` in a `plan`, beside those of the system; none where it is in
/// no such environment, nor where an agent could have made it one and chosen its Python.
pub(super) fn environment(plan: &Plan, program: &Path, closed: &Closed) -> Vec<PathBuf> {
    let folder = program.parent().and_then(Path::parent);
    let Some(folder) = folder.filter(|folder| folder.join(MARK).is_file()) else {
        return Vec::new();
    };
    if folder.canonicalize().is_ok_and(|it| plan.is_contested(&it)) {
        return Vec::new();
    }
    let python = folder.join("bin/python").canonicalize().ok();
    let installed = python.as_deref().and_then(installation);
    let all = [Some(folder), installed].into_iter().flatten();
    all.filter(|folder| !closed.is_too_wide(folder))
        .map(Path::to_path_buf)
        .collect()
}

/// The folder with the library of a `python`, which is in its `bin`.
fn installation(python: &Path) -> Option<&Path> {
    let folder = python.parent()?.parent()?;
    let libraries = folder.join("lib").read_dir().ok()?;
    let is_python = |name: std::ffi::OsString| name.to_string_lossy().starts_with("python3");
    let mut names = libraries.flatten().map(|entry| entry.file_name());
    names.any(is_python).then_some(folder)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn environment_and_its_python_are_granted() {
        let root = tempfile::tempdir_in("/tmp").unwrap();
        let home = root.path().join("home");
        let (venv, python) = (home.join("venv"), home.join("cpython-3.13"));
        for folder in [
            venv.join("bin"),
            python.join("bin"),
            python.join("lib/python3.13"),
        ] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(python.join("bin/python3.13"), "").unwrap();
        symlink(python.join("bin/python3.13"), venv.join("bin/python")).unwrap();
        fs::write(venv.join("bin/mcp-server"), "").unwrap();
        let closed = Closed::new(Some(&home), &home.join(".openclaw"));
        let mut plan = Plan::new("r", "main", Path::new("/"));
        let granted = |plan: &Plan| environment(plan, &venv.join("bin/mcp-server"), &closed);
        assert!(granted(&plan).is_empty());
        fs::write(venv.join(MARK), "").unwrap();
        assert_eq!(
            granted(&plan),
            [venv.clone(), python.canonicalize().unwrap()]
        );
        // An environment that is a home is none.
        fs::write(home.join(MARK), "").unwrap();
        fs::create_dir(home.join("bin")).unwrap();
        assert!(!environment(&plan, &home.join("bin/x"), &closed).contains(&home));
        // One in an agent's place is what the agent made it.
        plan.contested = vec![home.clone()];
        assert!(granted(&plan).is_empty());
    }
}
