//! `channels logs`: what an account's daemon said.

use clap::Args;
use openclaw_config::Environment;
use openclaw_service_manager as manager;
use openclaw_terminal::{Failure, output};

use crate::name::{Named, Typed};

/// Arguments of `channels logs`.
#[derive(Debug, Args)]
pub(crate) struct Logs {
    #[command(flatten)]
    account: Typed,
    /// How many of the last lines
    #[arg(
        long,
        short = 'n',
        value_name = "NUMBER",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    lines: u32,
}

impl Logs {
    /// Prints what the journal has of the account's unit.
    pub(crate) fn execute(&self, environment: &Environment) -> Result<(), Failure> {
        let named = self.account.named()?;
        let unit = named.unit();
        let lines = self.lines.to_string();
        let asked = [
            "--user",
            "--no-pager",
            "--quiet",
            "--unit",
            &unit,
            "--lines",
            &lines,
        ];
        let said = manager::ask("journalctl", &asked, environment)
            .map_err(|error| elsewhere(&named, &error.to_string()))?;
        if said.output().is_empty() {
            let why = if said.complains() {
                output::line(&said.complaint())
            } else {
                format!("the journal has nothing of {unit}")
            };
            return Err(elsewhere(&named, &why));
        }
        for line in said.output().lines() {
            output::stdout_line(&output::line(line))?;
        }
        Ok(())
    }
}

/// There is nothing in the journal; where it may be.
fn elsewhere(named: &Named, why: &str) -> Failure {
    Failure::new(format!("there is no log of {}: {why}", named.shown())).hint(format!(
        "without systemd the log of every daemon is what openclawctl run prints, in lines of {}; \
         openclawctl channels status shows the last error",
        named.program()
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn asked(script: Option<&str>) -> Result<(), Failure> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(script) = script {
            let program = folder.path().join("journalctl");
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = [("PATH", folder.path().to_str().unwrap())];
        let environment: Environment = path.into_iter().collect();
        let logs = Logs {
            account: Typed {
                channel: "telegram:work".to_owned(),
                account: None,
            },
            lines: 5,
        };
        logs.execute(&environment)
    }

    #[test]
    fn log_is_that_of_the_accounts_unit() {
        let script = r#"case "$*" in
            *"--unit openclaw-telegram@work.service --lines 5") echo said;;
            *) exit 1;;
        esac"#;
        assert!(asked(Some(script)).is_ok());
    }

    #[test]
    fn log_that_is_not_there_is_told_with_where_it_may_be() {
        for (script, why) in [
            (None, "journalctl"),
            (Some("true"), "nothing of openclaw-telegram@work.service"),
            (
                Some("echo No journal files were found. >&2; exit 1"),
                "No journal files",
            ),
        ] {
            let text = asked(script).unwrap_err().text();
            assert!(text.contains(why), "{text}");
        }
    }
}
