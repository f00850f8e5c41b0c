//! A configuration that cannot be used: the reply comes all the same, by other
//! settings than the user wrote.

use openclaw_config::{Environment, Paths};
use openclaw_proto::gateway::ConfigurationSeen;
use openclaw_terminal::{Failure, output};
use openclaw_watch::files;

/// What is used instead where the gateway has not read the file yet.
const BEFORE: &str = "the configuration before it";

/// Says, on one line of standard error, that the file is broken, and what is
/// used in its place. The gateway knows both; the file is read here only where
/// it is newer than what the gateway has read, because that costs as much
/// as the rest of this program.
pub(super) fn tell(environment: &Environment, seen: &ConfigurationSeen) {
    let newer = Paths::resolve(environment)
        .is_ok_and(|paths| files::may_have_changed(&paths, seen.read_ms));
    let problem = if newer {
        problem(environment).map(|failure| format!("{}; using {BEFORE}", failure.text()))
    } else {
        Some(seen.problem.clone()).filter(|problem| !problem.is_empty())
    };
    if let Some(problem) = problem {
        let problem = problem.replace("using the one before", &format!("using {BEFORE}"));
        let line = output::line(&format!("{problem} until it is mended"));
        output::stderr_line(&format!("warning: {line}"));
    }
}

fn problem(environment: &Environment) -> Option<Failure> {
    match openclaw_settings::load(environment) {
        // Of the environment the daemons have their own.
        Err(error) if !error.is_beyond_file() => Some(Failure::from(error)),
        _ => None,
    }
}
