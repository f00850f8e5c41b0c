//! systemd's journal, through journalctl(1): it knows the journal's format of
//! each version, and what this user may see of it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use nix::unistd::{User, geteuid};
use openclaw_config::{Environment, programs};
use openclaw_settings::LogLevel;
use openclaw_settings::channels::CHANNELS;
use openclaw_terminal::Failure;

use crate::filter::{Filter, Unit};
use crate::record::{Record, Take};

/// Bytes of what journalctl complains of.
const COMPLAINT: u64 = 4096;
/// Services of the suite, of which systemd itself says when they start and fail.
const SERVICES: [&str; 4] = [
    "openclaw-gateway.service",
    "openclaw-agent-runner.service",
    "openclaw-memory.service",
    "openclaw-telegram.service",
];

/// The users that the daemons of the machine's own suite are, and its schedule and turns with them.
const USERS_OF_MACHINE: [&str; 3] = ["openclaw", "openclaw-memory", "openclaw-runner"];

/// Gives what `filter` wants to `take`.
pub(crate) fn read(
    environment: &Environment,
    filter: &Filter,
    follow: bool,
    take: &mut Take<'_>,
) -> Result<(), Failure> {
    let mut arguments = options(filter, follow);
    arguments.extend(matches(filter, environment));
    lines(
        environment,
        &arguments,
        &mut |line| match Record::of_journal(line) {
            Some(record) if filter.admits(&record) => take(record),
            _ => Ok(()),
        },
    )
}

/// The values that a field has anywhere in the journal.
pub(crate) fn values(environment: &Environment, field: &str) -> Vec<String> {
    let arguments = ["-q".to_owned(), format!("--field={}", field.to_uppercase())];
    let mut values = Vec::new();
    // What cannot be read is told when the records are.
    let _ = lines(environment, &arguments, &mut |line| {
        values.push(line.to_owned());
        Ok(())
    });
    values
}

fn options(filter: &Filter, follow: bool) -> Vec<String> {
    let mut options = ["-q", "--no-pager", "--output=json"]
        .map(str::to_owned)
        .to_vec();
    if follow {
        options.push("--follow".to_owned());
    }
    match filter.lines {
        Some(lines) => options.push(format!("--lines={lines}")),
        // With --follow the journal begins with ten.
        None => options.push("--lines=all".to_owned()),
    }
    let seconds = |ms: i64| format!("@{}", ms.div_euclid(1000));
    options.extend(filter.since_ms.map(|ms| format!("--since={}", seconds(ms))));
    // Whole seconds, and what is too late is left out afterwards.
    options.extend(
        filter
            .until_ms
            .map(|ms| format!("--until={}", seconds(ms + 1000))),
    );
    options.extend(
        filter
            .level
            .and_then(priority)
            .map(|it| format!("--priority={it}")),
    );
    options
}

/// The most that tracing-journald gives to records of a level.
fn priority(level: LogLevel) -> Option<u8> {
    match level {
        LogLevel::Debug => None,
        LogLevel::Info => Some(5),
        LogLevel::Warn => Some(4),
        LogLevel::Error | LogLevel::Silent => Some(3),
    }
}

/// The users whose records are those of daemons, which nobody else can claim to be, and that of
/// the manager.
fn senders(environment: &Environment) -> (Vec<String>, Vec<String>) {
    if !environment.is_of_machine() {
        let user = format!("_UID={}", geteuid());
        return (vec![user.clone()], vec![user]);
    }
    let users = USERS_OF_MACHINE.iter();
    let found = users.filter_map(|name| User::from_name(name).ok().flatten());
    let of = |user: User| format!("_UID={}", user.uid);
    // Without any of them there is nothing to be shown.
    let mut daemons: Vec<String> = found.map(of).collect();
    if daemons.is_empty() {
        daemons.push("_UID=0".to_owned());
    }
    (daemons, vec!["_PID=1".to_owned()])
}

/// Values of one field are alternatives, fields go together, and `+` begins
/// another set (journalctl(1)).
fn matches(filter: &Filter, environment: &Environment) -> Vec<String> {
    let (mut matches, of_manager) = senders(environment);
    let units = filter.unit.map_or(Unit::ALL.to_vec(), |unit| vec![unit]);
    matches.extend(
        units
            .iter()
            .map(|unit| format!("SYSLOG_IDENTIFIER=openclaw-{}", unit.part())),
    );
    if filter.unit.is_none() {
        let channels = CHANNELS
            .iter()
            .filter(|name| **name != Unit::Telegram.part());
        matches.extend(channels.map(|name| format!("SYSLOG_IDENTIFIER=openclaw-{name}")));
    }
    let fields = filter.fields();
    matches.extend(fields.map(|(name, value)| format!("{}={value}", name.to_uppercase())));
    if filter.fields().next().is_none() && filter.unit.is_none() {
        matches.push("+".to_owned());
        matches.extend(of_manager);
        let unit = if environment.is_of_machine() {
            "UNIT"
        } else {
            "USER_UNIT"
        };
        matches.extend(SERVICES.map(|name| format!("{unit}={name}")));
    }
    matches
}

/// Gives the lines that journalctl prints to `take`.
#[expect(
    clippy::disallowed_methods,
    reason = "systemd's own program, with arguments that begin with a name of ours: no agent"
)]
fn lines(
    environment: &Environment,
    arguments: &[String],
    take: &mut dyn FnMut(&str) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let program = programs::on_path("journalctl", environment)
        .ok_or_else(|| Failure::new("journalctl is not on the PATH"))?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start journalctl")?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut taken = Ok(());
    if let Some(stdout) = stdout {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.context("cannot read what journalctl says")?;
            taken = take(&String::from_utf8_lossy(&line));
            if taken.is_err() {
                // Nobody reads on.
                let _ = child.kill();
                break;
            }
        }
    }
    let mut complaint = String::new();
    if let Some(stderr) = stderr {
        let _ = stderr.take(COMPLAINT).read_to_string(&mut complaint);
    }
    let status = child.wait().context("cannot wait for journalctl")?;
    taken?;
    let complaint = complaint.trim();
    if !status.success() && !complaint.is_empty() {
        return Err(Failure::new(format!(
            "journalctl cannot read the journal: {complaint}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_is_told_to_the_journal() {
        let filter = Filter {
            level: Some(LogLevel::Warn),
            run: Some("r1".to_owned()),
            unit: Some(Unit::Turn),
            since_ms: Some(1500),
            lines: Some(3),
            ..Filter::default()
        };
        let options = options(&filter, true).join(" ");
        assert_eq!(
            options,
            "-q --no-pager --output=json --follow --lines=3 --since=@1 --priority=4"
        );
        let user = format!("_UID={}", geteuid());
        let expected = [&user, "SYSLOG_IDENTIFIER=openclaw-turn", "OPENCLAW_RUN=r1"];
        assert_eq!(matches(&filter, &Environment::default()), expected);
        let all = matches(&Filter::default(), &Environment::default());
        assert!(all.contains(&"+".to_owned()), "{all:?}");
        assert!(all.contains(&"USER_UNIT=openclaw-gateway.service".to_owned()));
    }
}
