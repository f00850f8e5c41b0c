//! The programs of the suite as one file, as packages have it: what six programs are made of is
//! on the disk once. It is each of them under its name.
//!
//! `openclaw-sandbox` is none of them: whatever is linked into it is trusted with the confinement
//! of agents.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

#[path = "../../agent/src/main.rs"]
mod agent;
#[path = "../../gateway/src/main.rs"]
mod gateway;
#[path = "../../memory/src/main.rs"]
mod memory;
#[path = "../../agent-runner/src/main.rs"]
mod runner;
#[path = "../../telegram/src/main.rs"]
mod telegram;

/// What one name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    Agent,
    Ctl,
    Gateway,
    Memory,
    Runner,
    Telegram,
}

impl Program {
    /// The one that is called so. Under any other name it is what people call.
    fn called(path: &OsStr) -> Self {
        let name = Path::new(path).file_name().and_then(OsStr::to_str);
        match name {
            Some("openclaw-agent") => Self::Agent,
            Some("openclaw-agent-runner") => Self::Runner,
            Some("openclaw-gateway") => Self::Gateway,
            Some("openclaw-memory") => Self::Memory,
            Some("openclaw-telegram") => Self::Telegram,
            _ => Self::Ctl,
        }
    }
}

fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    match Program::called(&called) {
        Program::Agent => agent::main(),
        Program::Ctl => openclawctl::main(),
        Program::Gateway => gateway::main(),
        Program::Memory => memory::main(),
        Program::Runner => runner::main(),
        Program::Telegram => telegram::main(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_the_one_that_it_is_called() {
        for (path, expected) in [
            ("/usr/lib/openclaw/openclaw-gateway", Program::Gateway),
            ("openclaw-agent-runner", Program::Runner),
            ("./openclaw-memory", Program::Memory),
            ("/opt/a b/openclaw-telegram", Program::Telegram),
            ("openclaw-agent", Program::Agent),
            ("/usr/bin/openclawctl", Program::Ctl),
            ("", Program::Ctl),
        ] {
            assert_eq!(Program::called(OsStr::new(path)), expected, "{path}");
        }
    }
}
