//! The command line.

use std::path::PathBuf;

use clap::Parser;
use openclaw_config::{Environment, programs};

use crate::parts::Part;

/// Measures the running suite. Build all of it first: cargo build --release
#[derive(Debug, Parser)]
#[command(name = "suite-bench", version)]
pub(crate) struct Arguments {
    /// The Claude Code CLI [default: `claude` on the PATH; without one that part is skipped]
    #[arg(long, value_name = "PATH", env = "OPENCLAW_TEST_CLAUDE")]
    claude: Option<PathBuf>,
    /// The folder that OpenClaw was installed in by npm; without one it is not compared with
    #[arg(long, value_name = "PATH", env = "OPENCLAW_TEST_OPENCLAW")]
    openclaw: Option<PathBuf>,
    /// Measure only these parts, in the order of the list
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<Part>,
    /// Measure round trips through the running suite of this user's service manager instead, with
    /// this agent of it, which speaks with a scripted model
    #[arg(long, value_name = "AGENT", conflicts_with = "only")]
    pub(crate) units: Option<String>,
}

impl Arguments {
    /// What to measure.
    pub(crate) fn parts(&self) -> Vec<Part> {
        if self.only.is_empty() {
            Part::ALL.into()
        } else {
            self.only.clone()
        }
    }

    /// The folder of OpenClaw's own programs, if there is one.
    pub(crate) fn openclaw(&self) -> Option<PathBuf> {
        let named = self
            .openclaw
            .as_ref()
            .and_then(|path| std::path::absolute(path).ok());
        named.filter(|path| path.join("node_modules/openclaw/openclaw.mjs").is_file())
    }

    /// The Claude Code CLI, if there is one.
    pub(crate) fn claude(&self) -> Option<PathBuf> {
        let named = self.claude.clone().map(std::path::absolute);
        match named {
            Some(path) => path.ok(),
            None => programs::on_path("claude", &Environment::inherit()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn parts_are_chosen_by_name() {
        let all = Arguments::try_parse_from(["suite-bench"]).unwrap();
        assert_eq!(all.parts(), Part::ALL);
        let two = Arguments::try_parse_from(["suite-bench", "--only", "spawn,start"]).unwrap();
        assert_eq!(two.parts(), [Part::Spawn, Part::Start]);
    }
}
