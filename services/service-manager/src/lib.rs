//! The user's service manager, asked through systemd's own programs.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use nix::unistd::{User, geteuid};
use openclaw_config::{Environment, paths, programs};

/// Beneath the root: users whose manager runs without a session (`loginctl
/// enable-linger`).
pub const LINGERING: &str = "var/lib/systemd/linger";

/// There where the machine's own manager is systemd.
const BOOTED: &str = "/run/systemd/system";
/// Who is meant, as systemd's programs are told.
const OF_USER: &str = "--user";
const OF_MACHINE: &str = "--system";

/// Why a program did not do what it was told.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not there.
    #[error("{0} is not on the PATH")]
    Absent(String),
    /// It was not started.
    #[error("cannot start {program}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// It refused.
    #[error("{line}: {complaint}")]
    Refused {
        /// How it was called.
        line: String,
        /// What it said.
        complaint: String,
    },
}

/// What a program said.
#[derive(Debug)]
pub struct ProgramOutput {
    status: ExitStatus,
    output: String,
    complaints: String,
}

impl ProgramOutput {
    /// What it wrote to standard output, or else to standard error.
    #[must_use]
    pub fn text(&self) -> &str {
        match self.output.as_str() {
            "" => &self.complaints,
            output => output,
        }
    }

    /// What it wrote to standard output.
    #[must_use]
    pub fn output(&self) -> &str {
        &self.output
    }

    /// Whether it said why it failed.
    #[must_use]
    pub fn complains(&self) -> bool {
        !self.complaints.is_empty()
    }

    /// Whether it ended with status 0.
    #[must_use]
    pub fn is_content(&self) -> bool {
        self.status.success()
    }

    /// The first line that says why it failed.
    #[must_use]
    pub fn complaint(&self) -> String {
        let mut lines = self.complaints.lines().chain(self.output.lines());
        let line = lines.find(|line| !line.trim().is_empty());
        line.map_or_else(|| self.status.to_string(), |line| line.trim().to_owned())
    }
}

/// Where the manager runs: the runtime directory of a user, in which its private socket is, or
/// for the suite of the machine that of its own manager (sd_booted(3)).
#[must_use]
pub fn runtime(environment: &Environment) -> Option<PathBuf> {
    if environment.is_of_machine() {
        return Some(PathBuf::from(BOOTED)).filter(|folder| folder.is_dir());
    }
    let runtime = paths::runtime_of_user(environment).ok().flatten()?;
    runtime.join("systemd/private").exists().then_some(runtime)
}

/// The name of whoever runs this. Without it loginctl looks for a login session,
/// and a shell of su(1) or a service has none.
#[must_use]
pub fn user() -> Option<String> {
    Some(User::from_uid(geteuid()).ok()??.name)
}

/// Runs a program to its end; what it said, whether it was content or not. It
/// finds the user's manager as we do, also in a shell that does not say where
/// that is. Of the suite of the machine, `--user` is `--system`.
///
/// # Errors
/// It is not there, or cannot be started.
pub fn ask(
    name: &str,
    arguments: &[&str],
    environment: &Environment,
) -> Result<ProgramOutput, Error> {
    ask_with(name, arguments, &[], environment)
}

/// The same, with `input` at its standard input, which is to be short.
///
/// # Errors
/// As [`ask`].
#[expect(
    clippy::disallowed_methods,
    reason = "systemd's own programs and ours, with fixed arguments: no agent"
)]
pub fn ask_with(
    name: &str,
    arguments: &[&str],
    input: &[u8],
    environment: &Environment,
) -> Result<ProgramOutput, Error> {
    let program =
        programs::on_path(name, environment).ok_or_else(|| Error::Absent(name.to_owned()))?;
    let mut command = Command::new(program);
    let stdin = match input {
        [] => Stdio::null(),
        _ => Stdio::piped(),
    };
    command.args(meant(arguments, environment)).stdin(stdin);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Ok(Some(runtime)) = paths::runtime_of_user(environment) {
        command.env("XDG_RUNTIME_DIR", runtime);
    }
    let failed = |source| Error::Start {
        program: name.to_owned(),
        source,
    };
    let mut child = command.spawn().map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that reads nothing says itself why it failed.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(failed)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(ProgramOutput {
        status: output.status,
        output: text(&output.stdout),
        complaints: text(&output.stderr),
    })
}

/// The arguments, with the manager that the suite of `environment` is of.
fn meant<'a>(arguments: &[&'a str], environment: &Environment) -> Vec<&'a str> {
    let is_of_machine = environment.is_of_machine();
    let arguments = arguments.iter().map(|argument| match *argument {
        OF_USER if is_of_machine => OF_MACHINE,
        other => other,
    });
    arguments.collect()
}

/// Makes a program do what it is told.
///
/// # Errors
/// As [`ask`], and when it ends with another status than 0.
pub fn tell(name: &str, arguments: &[&str], environment: &Environment) -> Result<(), Error> {
    let said = ask(name, arguments, environment)?;
    if said.status.success() {
        return Ok(());
    }
    Err(Error::Refused {
        line: format!("{name} {}", meant(arguments, environment).join(" ")),
        complaint: said.complaint(),
    })
}

/// `path` as a word between double quotes of a unit file (systemd.syntax(7),
/// systemd.unit(5)); None where no unit can name it.
pub fn quoted(path: &Path) -> Option<String> {
    let text = unquoted(path)?;
    Some(text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `path` as the rest of a line of a unit file, without quotes; None where no unit
/// can name it.
pub fn unquoted(path: &Path) -> Option<String> {
    let text = path.to_str().filter(|text| !text.contains(['\n', '\r']))?;
    Some(text.replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ask_tells_what_was_said_and_tell_whether_it_went_well() {
        let nothing: Environment = [("", ""); 0].into_iter().collect();
        let sh = |line: &str| ask("/bin/sh", &["-c", line], &nothing).unwrap();
        assert_eq!(sh("echo a; echo b >&2").text(), "a");
        assert_eq!(sh("echo b >&2; exit 1").text(), "b");
        let told = |line: &str| tell("/bin/sh", &["-c", line], &nothing);
        told("echo b >&2").unwrap();
        let refused = |line: &str| told(line).unwrap_err().to_string();
        let why = refused("echo a; echo; echo b >&2; exit 1");
        assert!(why.starts_with("/bin/sh -c "), "{why}");
        assert!(why.ends_with(": b"), "{why}");
        assert!(refused("exit 7").ends_with("exit status: 7"));
        let absent = ask("/no/such/program", &[], &nothing).unwrap_err();
        assert_eq!(absent.to_string(), "/no/such/program is not on the PATH");
    }

    #[test]
    fn ask_means_the_manager_of_the_suite() {
        let users: Environment = [("", ""); 0].into_iter().collect();
        let said = |environment: &Environment| {
            let line = ["-c", "echo \"$@\"", "sh", "--user", "x"];
            let said = ask("/bin/sh", &line, environment).unwrap();
            said.output().to_owned()
        };
        assert_eq!(said(&users), "--user x");
        assert_eq!(said(&users.of_machine()), "--system x");
    }

    #[test]
    fn ask_with_gives_it_what_it_reads() {
        let nothing: Environment = [("", ""); 0].into_iter().collect();
        let cat = ask_with("/bin/cat", &[], b"what", &nothing).unwrap();
        assert!(cat.is_content());
        assert_eq!(cat.output(), "what");
        let gone = ask_with("/bin/false", &[], b"what", &nothing).unwrap();
        assert!(!gone.is_content());
    }

    #[test]
    fn ask_tells_the_program_where_the_manager_is() {
        let environment = Environment::inherit();
        let expected = paths::runtime_of_user(&environment).unwrap();
        let line = "echo \"$XDG_RUNTIME_DIR\"";
        let there: Environment = [("XDG_RUNTIME_DIR", "/there")].into_iter().collect();
        let said = |environment| {
            let said = ask("/bin/sh", &["-c", line], environment).unwrap();
            said.text().to_owned()
        };
        assert_eq!(said(&there), "/there");
        let expected = expected.map(|path| path.display().to_string());
        assert_eq!(said(&environment), expected.unwrap_or_default());
    }
}
