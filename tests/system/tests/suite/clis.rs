//! The agent CLIs that tests/run has installed, as a machine sees them.

use std::path::{Path, PathBuf};

/// An agent CLI, as npm installs it.
pub(crate) struct Cli {
    pub(crate) name: &'static str,
    /// Names its program here, or is `skip`.
    pub(crate) variable: &'static str,
    /// Where the machine sees the folder it is installed in.
    pub(crate) at: &'static str,
    /// Its program in that folder, as a pattern of the shell.
    pub(crate) program: &'static str,
}

pub(crate) const CLIS: [Cli; 2] = [
    Cli {
        name: "claude",
        variable: "OPENCLAW_TEST_CLAUDE",
        at: "/opt/openclaw-claude",
        program: "node_modules/.bin/claude",
    },
    // Not what npm links to, which needs Node.
    Cli {
        name: "codex",
        variable: "OPENCLAW_TEST_CODEX",
        at: "/opt/openclaw-codex",
        program: "node_modules/@openai/codex-linux-*/vendor/*/bin/codex",
    },
];

impl Cli {
    /// The folder it is installed in; `None`, which is said, without one.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let named = std::env::var(self.variable).ok();
        let folder = match named.as_deref() {
            // node_modules/.bin/NAME in it.
            Some(program) => Path::new(program).ancestors().nth(3).map(Path::to_owned),
            None => Some(self.installed()),
        };
        let folder = folder.filter(|folder| folder.join("node_modules").is_dir());
        if folder.is_none() {
            let (name, variable) = (self.name, self.variable);
            test_skip::skipped(&format!(
                "{name} in units: {variable} names no installed one"
            ));
        }
        folder
    }

    /// Where tests/run puts it by default.
    fn installed(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../target")
            .join(self.name)
    }
}
