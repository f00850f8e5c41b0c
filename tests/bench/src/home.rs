//! One user's home and environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use openclaw_config::{Environment, Paths};

use crate::programs;

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

    /// A command of this user.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = programs::command(program);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}
