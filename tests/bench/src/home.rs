//! One user's home and environment.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use openclaw_config::{Environment, Paths};

use crate::programs;

/// Who else may read the configuration: nobody.
const PRIVATE_DIR: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

/// What a login shell has on Debian.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The backend that answers.
#[derive(Debug, Clone)]
pub(crate) enum Backend {
    Native,
    Offline,
    /// The Claude Code CLI at this path.
    Claude(PathBuf),
}

/// A home with the suite's default places in it.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) paths: Paths,
    variables: Vec<(&'static str, String)>,
}

impl Home {
    pub(super) fn new(folder: &Path, backend: &Backend, model: &str) -> anyhow::Result<Self> {
        let name = match backend {
            Backend::Native => "native",
            Backend::Offline => "offline",
            Backend::Claude(_) => "claude-cli",
        };
        let mut variables = vec![
            ("PATH", PATH.to_owned()),
            ("HOME", folder.display().to_string()),
            ("OPENCLAW_BACKEND", name.to_owned()),
            ("ANTHROPIC_API_KEY", "scripted".to_owned()),
            ("ANTHROPIC_BASE_URL", model.to_owned()),
            // Any that is free: the default one may be in use.
            ("OPENCLAW_GATEWAY_PORT", "0".to_owned()),
        ];
        if let Backend::Claude(program) = backend {
            variables.push(("OPENCLAW_CLAUDE", program.display().to_string()));
        }
        let environment: Environment = variables.iter().cloned().collect();
        Ok(Self {
            paths: Paths::resolve(&environment)?,
            variables,
        })
    }

    /// Writes the configuration file, for its owner alone.
    pub(crate) fn configure(&self, document: &serde_json::Value) -> anyhow::Result<()> {
        let path = &self.paths.configuration;
        let context = || format!("cannot write {}", path.display());
        DirBuilder::new()
            .recursive(true)
            .mode(PRIVATE_DIR)
            .create(&self.paths.state)
            .with_context(context)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let file = options
            .mode(PRIVATE_FILE)
            .open(path)
            .with_context(context)?;
        serde_json::to_writer(file, document).with_context(context)
    }

    /// A command of this user.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = programs::command(program);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}
