//! The agent CLIs that answer turns: the real ones, and what plays a broken one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::Site;

/// An agent CLI.
#[derive(Debug)]
pub struct Cli {
    /// Its program's name.
    pub name: &'static str,
    /// What it is called, for people.
    pub title: &'static str,
    /// Names it, or is `skip`.
    pub variable: &'static str,
    /// Where tests/run installs it, beneath the workspace's root.
    pub installed: &'static str,
}

impl Cli {
    /// The real CLI; `None` where the tests were told to do without.
    pub fn program(&self) -> Option<String> {
        let named = std::env::var(self.variable).unwrap_or_default();
        match named.as_str() {
            "skip" => {
                crate::skipped(&format!("{}: {} is skip", self.title, self.variable));
                None
            }
            "" => Some(self.find().unwrap_or_else(|| self.missing())),
            path if Path::new(path).is_file() => Some(path.to_owned()),
            path => panic!("{} is {path}, which is not there", self.variable),
        }
    }

    fn find(&self) -> Option<String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let installed = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(self.installed);
        std::env::split_paths(&path)
            .map(|folder| folder.join(self.name))
            .chain([installed])
            .find(|path| path.is_file())
            .map(|path| path.display().to_string())
    }

    fn missing(&self) -> ! {
        panic!(
            "the {} CLI is neither on the PATH nor in {}: run tests/run, which installs it, or \
             set {} to its path, or to `skip` to do without these tests",
            self.title, self.installed, self.variable
        )
    }

    /// A shell script in the place of the CLI. What the real one cannot be made
    /// to do, this does: crash, and write what is not its format.
    pub fn imitation(&self, site: &Site, script: &str) -> PathBuf {
        let folder = site.path("imitation");
        fs::create_dir_all(&folder).expect("make a folder");
        let path = folder.join(self.name);
        fs::write(&path, format!("#!/bin/sh\n{script}")).expect("write a script");
        for path in [&folder, &path] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("open it");
        }
        path
    }
}
