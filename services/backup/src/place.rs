//! Where workspaces from outside the state directory go on this machine.

use std::path::{Path, PathBuf};

use openclaw_config::Paths;

use crate::manifest::Manifest;

/// Where `path` of the machine that was backed up is here: below this state
/// directory or this home what was below that one.
pub(crate) fn moved(path: &Path, manifest: &Manifest, paths: &Paths) -> PathBuf {
    if let Ok(below) = path.strip_prefix(&manifest.state) {
        return joined(&paths.state, below);
    }
    let home = manifest.home.as_ref().zip(paths.home.as_ref());
    if let Some((old, new)) = home
        && let Ok(below) = path.strip_prefix(old)
    {
        return joined(new, below);
    }
    path.to_owned()
}

fn joined(folder: &Path, below: &Path) -> PathBuf {
    // Joining nothing would add a slash.
    if below.as_os_str().is_empty() {
        folder.to_owned()
    } else {
        folder.join(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_what_was_in_the_home_is_in_this_one() {
        let manifest = Manifest {
            home: Some("/home/old".into()),
            state: "/home/old/.openclaw".into(),
            ..Manifest::default()
        };
        let variables = [("HOME", "/home/new"), ("OPENCLAW_STATE_DIR", "/srv/s")];
        let paths = Paths::resolve(&variables.into_iter().collect()).unwrap();
        for (old, new) in [
            ("/home/old/notes", "/home/new/notes"),
            ("/home/old", "/home/new"),
            ("/home/older", "/home/older"),
            ("/home/old/.openclaw/x", "/srv/s/x"),
            ("/mnt/x", "/mnt/x"),
        ] {
            assert_eq!(moved(Path::new(old), &manifest, &paths), Path::new(new));
        }
    }
}
