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
    /// Prints what the log has of the account's daemon: the file of `openclawctl run`,
    /// where that is the log, else the journal.
    pub(crate) fn execute(&self, environment: &Environment) -> Result<(), Failure> {
        let named = self.account.named()?;
        let lines = usize::try_from(self.lines).unwrap_or(usize::MAX);
        match openclaw_logs::of_daemon(&named.shown(), lines, environment)? {
            Some(true) => return Ok(()),
            Some(false) => {
                let why = format!(
                    "the log of openclawctl run has nothing of {}",
                    named.shown()
                );
                return Err(elsewhere(&named, &why));
            }
            None => {}
        }
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
    use std::path::Path;

    use super::*;

    fn asked(script: Option<&str>) -> Result<(), Failure> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(script) = script {
            let program = folder.path().join("journalctl");
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        logs_of(folder.path())
    }

    /// Of a suite whose state and programs are in `folder`.
    fn logs_of(folder: &Path) -> Result<(), Failure> {
        let folder = folder.to_str().unwrap();
        // There is a service manager, as far as can be seen.
        fs::create_dir_all(format!("{folder}/systemd/private")).unwrap();
        let places = [
            ("PATH", folder),
            ("OPENCLAW_STATE_DIR", folder),
            ("XDG_RUNTIME_DIR", folder),
        ];
        let environment: Environment = places.into_iter().collect();
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
    fn log_without_a_journal_is_that_of_the_suite_in_the_foreground() {
        let folder = tempfile::tempdir().unwrap();
        let place = [("OPENCLAW_STATE_DIR", folder.path().to_str().unwrap())];
        let environment: Environment = place.into_iter().collect();
        let paths = openclaw_config::Paths::resolve(&environment).unwrap();
        let file = openclaw_logs::log_file(&paths);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let line = |daemon: &str| {
            format!(
                r#"{{"timestamp":"2026-11-14T22:13:20Z","level":"warn","message":"slow","context":{{"daemon":"{daemon}"}}}}"#
            ) + "\n"
        };
        fs::write(&file, line("telegram")).unwrap();
        let text = logs_of(folder.path()).unwrap_err().text();
        assert!(text.contains("nothing of telegram:work"), "{text}");
        fs::write(&file, line("telegram") + &line("telegram:work")).unwrap();
        assert!(logs_of(folder.path()).is_ok());
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
