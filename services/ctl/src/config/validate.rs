//! `config validate`.

use std::process::ExitCode;

use openclaw_config::substitute::Missing;
use openclaw_config::{Environment, Error, Paths};
use openclaw_foreground::environment_file;
use openclaw_settings::Settings;
use openclaw_settings::document;
use openclaw_settings::file::{self, Findings};
use openclaw_terminal::failure::{self, Failure};
use openclaw_terminal::output;
use serde_json::json;

use super::report::{self, Report};
use crate::cli::config::Validate;
use openclaw_sockets as sockets;

/// Units that do not grant what the configuration does.
const UNITS: &str = "the units do not know yet where the state or a workspace is; run: openclawctl \
                     sockets, then systemctl --user daemon-reload and systemctl --user restart \
                     openclaw.target 'openclaw-*.socket'";

/// Prints what is wrong; exit code 78 when something is, also where the file is used
/// without it.
pub(super) fn execute(
    arguments: &Validate,
    paths: &Paths,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = match &arguments.file {
        Some(file) => Paths {
            configuration: std::path::absolute(file)
                .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?,
            ..paths.clone()
        },
        None => paths.clone(),
    };
    // The agent-runner's variables answer references, too.
    let environment = environment.with_fallback(environment_file::read(&paths)?);
    let result = missing(arguments, &paths).and_then(|()| file::validate(&paths, &environment));
    let result = result.map(|mut findings| {
        findings.warnings.extend(cramped(&paths, &environment));
        if arguments.file.is_none() && !sockets::are_in_line(&environment) {
            findings.warnings.push(UNITS.to_owned());
        }
        findings
    });
    let findings = match &result {
        Ok(findings) => findings.clone(),
        Err(_) => Findings::of_invalid(&paths),
    };
    let is_whole = result.is_ok() && findings.faults.is_empty();
    if arguments.json {
        let mut problems = result.as_ref().err().map(Report::of).unwrap_or_default();
        problems.extend(findings.faults.iter().map(Report::from));
        output::document(&json!({
            "valid": is_whole,
            "path": paths.configuration,
            "problems": problems,
            "warnings": findings.warnings,
            "unused": findings.unused,
        }))?;
        return Ok(if is_whole {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(failure::CONFIG)
        });
    }
    tell(&findings);
    match result {
        Ok(_) if is_whole => {
            tell_valid(&paths)?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(_) => {
            report::print("error", &findings.faults);
            output::stderr_line("hint: the rest of the file is used");
            Ok(ExitCode::from(failure::CONFIG))
        }
        Err(Error::Invalid { problems, .. }) => {
            report::print("error", &problems);
            Ok(ExitCode::from(failure::CONFIG))
        }
        Err(error) => Err(error.into()),
    }
}

/// Says what is used, and is not what it seems.
fn tell(findings: &Findings) {
    for warning in &findings.warnings {
        output::stderr_line(&format!("warning: {}", output::line(warning)));
    }
    for unused in &findings.unused {
        output::stderr_line(&format!("note: {}", output::line(&unused.to_string())));
    }
}

fn tell_valid(paths: &Paths) -> Result<(), Failure> {
    let file = &paths.configuration;
    let absent = if file.exists() {
        ""
    } else {
        " (it is not there: the defaults are used)"
    };
    output::stdout_line(&format!("{} is valid{absent}", file.display()))?;
    Ok(())
}

/// Agents whose requests have no room for a conversation.
fn cramped(paths: &Paths, environment: &Environment) -> Vec<String> {
    let file = &paths.configuration;
    let document = document::read(file, environment, Missing::KeptForOwner);
    let settings =
        document.and_then(|document| Settings::assemble(paths.clone(), document, environment));
    let found = settings.as_ref().map(openclaw_prompt::cramped);
    let found = found.unwrap_or_default().into_iter();
    found
        .map(|(key, problem)| format!("{key} {problem}"))
        .collect()
}

/// A file that was named must be there.
fn missing(arguments: &Validate, paths: &Paths) -> Result<(), Error> {
    match arguments.file {
        Some(_) => openclaw_config::parse::read_existing(&paths.configuration).map(|_| ()),
        None => Ok(()),
    }
}
