//! `channels logs`: what an account's daemon said.

use clap::Args;
use openclaw_config::Environment;
use openclaw_proto::channel_admin::AccountState;
use openclaw_service_manager as manager;
use openclaw_terminal::{Failure, output};

use crate::gateway::ContactsGateway;
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
    /// Prints what the log has of the account's daemon. A daemon that attends the
    /// account, and of which there is nothing, had nothing to say.
    pub(crate) async fn execute(&self, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
        let named = self.account.found(gateway.paths)?;
        let Some(nothing) = self.print(&named, gateway.environment)? else {
            return Ok(());
        };
        let accounts = gateway.client.accounts().await.unwrap_or_default();
        if is_attended(&named, &accounts) {
            return output::stdout_line(&format!(
                "{nothing}: its daemon attends the account, and had nothing to say"
            ));
        }
        Err(elsewhere(&named, &nothing))
    }

    /// Prints the file of `openclawctl run`, where that is the log, else the journal;
    /// that there is nothing in it, where there is not.
    fn print(&self, named: &Named, environment: &Environment) -> Result<Option<String>, Failure> {
        let lines = usize::try_from(self.lines).unwrap_or(usize::MAX);
        match openclaw_logs::of_daemon(&named.daemon(), lines, environment)? {
            Some(true) => return Ok(None),
            Some(false) => {
                let nothing = "the log of openclawctl run has nothing of";
                return Ok(Some(format!("{nothing} {}", named.shown())));
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
            .map_err(|error| elsewhere(named, &error.to_string()))?;
        if said.output().is_empty() {
            if said.complains() {
                return Err(elsewhere(named, &output::line(&said.complaint())));
            }
            return Ok(Some(format!("the journal has nothing of {unit}")));
        }
        for line in said.output().lines() {
            output::stdout_line(&output::line(line))?;
        }
        Ok(None)
    }
}

/// Whether a daemon attends the account of `accounts` that is `named`.
fn is_attended(named: &Named, accounts: &[AccountState]) -> bool {
    let mut attended = accounts
        .iter()
        .filter(|state| state.is_enabled && state.attended_since_ms.is_some());
    attended.any(|state| Named::of(&state.account, state.is_default).is(named))
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

    fn asked(script: Option<&str>) -> Result<Option<String>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        if let Some(script) = script {
            let program = folder.path().join("journalctl");
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        logs_of(folder.path())
    }

    /// Of a suite whose state and programs are in `folder`.
    fn logs_of(folder: &Path) -> Result<Option<String>, Failure> {
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
        logs.print(&logs.account.named().unwrap(), &environment)
    }

    #[test]
    fn log_is_that_of_the_accounts_unit() {
        let script = r#"case "$*" in
            *"--unit openclaw-telegram@work.service --lines 5") echo said;;
            *) exit 1;;
        esac"#;
        assert_eq!(asked(Some(script)).unwrap(), None);
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
        let nothing = logs_of(folder.path()).unwrap().unwrap();
        assert!(nothing.contains("nothing of telegram:work"), "{nothing}");
        fs::write(&file, line("telegram") + &line("telegram:work")).unwrap();
        assert_eq!(logs_of(folder.path()).unwrap(), None);
    }

    #[test]
    fn log_that_is_not_there_is_told_with_where_it_may_be() {
        for (script, why) in [
            (None, "journalctl"),
            (
                Some("echo No journal files were found. >&2; exit 1"),
                "No journal files",
            ),
        ] {
            let text = asked(script).unwrap_err().text();
            assert!(text.contains(why), "{text}");
        }
        let nothing = asked(Some("true")).unwrap().unwrap();
        let unit = "nothing of openclaw-telegram@work.service";
        assert!(nothing.contains(unit), "{nothing}");
    }

    #[test]
    fn account_is_attended_where_its_daemon_is_there() {
        let state = |name: &str, is_default, since| AccountState {
            account: openclaw_proto::channel::AccountName {
                channel: "telegram".to_owned(),
                account: name.to_owned(),
            },
            is_default,
            is_enabled: true,
            attended_since_ms: since,
            health: None,
            missing_token: String::new(),
            unanswered_groups: Vec::new(),
        };
        let accounts = [state("own", true, Some(1)), state("work", false, None)];
        let is_attended = |account: &str| {
            let account = openclaw_proto::channel::AccountName {
                channel: "telegram".to_owned(),
                account: account.to_owned(),
            };
            super::is_attended(&Named::of(&account, false), &accounts)
        };
        assert!(is_attended("default"));
        assert!(!is_attended("work") && !is_attended("other"));
    }
}
