//! The command line of `openclaw-sandbox`.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::doors;
use crate::plan::Plan;

/// The variable that the plan comes in, as JSON. Command lines are shown to every user of the
/// machine (proc_pid_cmdline(5)), and the plan names agents, folders and hosts; the program never
/// has it.
pub const PLAN: &str = "OPENCLAW_SANDBOX_PLAN";

/// What the command line asks for.
#[derive(Debug)]
pub enum Request {
    /// Run a program under a plan.
    Run {
        /// The plan, not yet checked.
        plan: Box<Plan>,
        /// Process expected to be the parent, if the turn is to end with it.
        parent: Option<i32>,
        /// Where listeners on the turn's own loopback are handed over.
        doors: Option<OwnedFd>,
        /// Absolute path of the program.
        program: PathBuf,
        /// Its arguments.
        args: Vec<OsString>,
    },
    /// Start processes for a daemon.
    Spawner {
        /// Process expected to be the parent, if everything is to end with it.
        parent: Option<i32>,
    },
    /// Try every confinement.
    Probe {
        /// Write JSON, not text.
        json: bool,
    },
}

/// A command line that asks for nothing known.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// Not one of the forms.
    #[error(
        "usage: openclaw-sandbox run [--parent PID] [--doors FD] -- PROGRAM [ARGUMENT…], with the plan in {PLAN}\n\
         \x20      openclaw-sandbox probe [--json]\n\
         \x20      openclaw-sandbox spawner [--parent PID]"
    )]
    Form,
    /// `--parent` takes a process id.
    #[error("--parent is not a process id")]
    Parent,
    /// `--doors` takes an open descriptor.
    #[error("--doors is not the number of an open descriptor")]
    Doors,
    /// The plan is not readable.
    #[error("{PLAN} is not a plan")]
    Plan(#[source] serde_json::Error),
}

/// Reads the arguments after the program's own name, and the value of [`PLAN`].
///
/// # Errors
/// Anything but the documented forms.
pub fn parse(
    mut args: impl Iterator<Item = OsString>,
    plan: Option<&OsStr>,
) -> Result<Request, UsageError> {
    match args.next().as_deref().and_then(|word| word.to_str()) {
        Some("run") => parse_run(args, plan.ok_or(UsageError::Form)?),
        Some("probe") => match (args.next().as_deref().map(|a| a == "--json"), args.next()) {
            (None, None) => Ok(Request::Probe { json: false }),
            (Some(true), None) => Ok(Request::Probe { json: true }),
            _ => Err(UsageError::Form),
        },
        Some("spawner") => parse_spawner(args),
        _ => Err(UsageError::Form),
    }
}

fn parse_spawner(mut args: impl Iterator<Item = OsString>) -> Result<Request, UsageError> {
    let parent = match (args.next(), args.next(), args.next()) {
        (None, ..) => None,
        (Some(option), Some(value), None) if option == "--parent" => {
            let value = value.to_str().ok_or(UsageError::Parent)?;
            Some(value.parse().map_err(|_| UsageError::Parent)?)
        }
        _ => return Err(UsageError::Form),
    };
    Ok(Request::Spawner { parent })
}

fn parse_run(
    mut args: impl Iterator<Item = OsString>,
    plan: &OsStr,
) -> Result<Request, UsageError> {
    let (mut parent, mut doors) = (None, None);
    loop {
        let option = args.next().ok_or(UsageError::Form)?;
        if option == "--" {
            break;
        }
        let value = args.next().ok_or(UsageError::Form)?;
        let value = value.to_str().ok_or(UsageError::Form)?;
        match option.to_str() {
            Some("--doors") => {
                let number = value.parse().map_err(|_| UsageError::Doors)?;
                doors = Some(doors::inherited(number).ok_or(UsageError::Doors)?);
            }
            Some("--parent") => parent = Some(value.parse().map_err(|_| UsageError::Parent)?),
            _ => return Err(UsageError::Form),
        }
    }
    let program = args.next().ok_or(UsageError::Form)?;
    let plan = serde_json::from_slice(plan.as_encoded_bytes()).map_err(UsageError::Plan)?;
    Ok(Request::Run {
        plan: Box::new(plan),
        parent,
        doors,
        program: program.into(),
        args: args.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str, plan: Option<&str>) -> Result<Request, UsageError> {
        let args = line.split_whitespace().map(OsString::from);
        parse(args, plan.map(OsStr::new))
    }

    #[test]
    fn wrong_forms_are_refused() {
        for line in [
            "",
            "walk",
            "probe --yaml",
            "spawner --parent",
            "probe --json x",
            "run",
            "run --plan {} -- x",
            "run --",
        ] {
            let refused = words(line, Some("{}"));
            assert!(matches!(refused, Err(UsageError::Form)), "{line}");
        }
        assert!(matches!(words("run -- x", None), Err(UsageError::Form)));
        assert!(matches!(
            words("run -- x", Some("{}")),
            Err(UsageError::Plan(_))
        ));
        assert!(matches!(
            words("run --parent me -- x", Some("{}")),
            Err(UsageError::Parent)
        ));
    }

    #[test]
    fn arguments_after_the_program_are_left_alone() {
        let plan = Plan::new("run", "main", std::path::Path::new("/"));
        let json = serde_json::to_string(&plan).unwrap();
        let line = "run --parent 7 -- /bin/sh -c -- --parent";
        let Ok(Request::Run {
            parent,
            program,
            args,
            ..
        }) = words(line, Some(&json))
        else {
            panic!("not a run");
        };
        assert_eq!((parent, program), (Some(7), PathBuf::from("/bin/sh")));
        assert_eq!(args, ["-c", "--", "--parent"]);
    }
}
