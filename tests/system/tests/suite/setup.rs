//! `openclawctl setup` and `doctor --fix` for a user who has logged on to a machine and has the suite installed.

use anyhow::{Context as _, Result, ensure};
use system_tests::{Account, Machine, Network};

use crate::stage::{EQUIPPED, PROGRAMS, SOURCE, bare_machine_with, eventually, quoted};

/// The session of somebody at a terminal: while it lasts, so does the user's manager.
const SESSION: &str =
    "systemd-run --quiet --unit=session -p PAMName=login -p User=guest sleep infinity";
/// As in a shell that does not know the folder of the programs.
const ELSEWHERE: &str = "export PATH=/usr/local/bin:/usr/bin:/bin";

/// What a person at a terminal sees and answers: `steps` are questions and answers.
const TERMINAL: &str = r#"
import os, pty, sys
steps = [line.split("\t") for line in sys.argv[1].splitlines()]
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b""
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    sys.stdout.buffer.write(part)
    shown += part
    if steps and steps[0][0].encode() in shown:
        os.write(terminal, steps.pop(0)[1].encode() + b"\n")
        shown = b""
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(code or len(steps))
"#;

/// A machine on which a user has logged on and installed the suite, and Ollama runs.
fn machine() -> Result<Machine> {
    let machine = bare_machine_with(Network::Own, &EQUIPPED)?;
    let ollama = format!("{PROGRAMS}/scripted-model --listen 127.0.0.1:11434");
    machine
        .run(
            Account::Root,
            &format!(
                "useradd --create-home --shell /bin/bash guest && {SESSION} \
                 && systemd-run --quiet --unit=ollama -p DynamicUser=yes {ollama}"
            ),
        )?
        .success()?;
    eventually("the session has a manager", || {
        let asked = machine.run(Account::Guest, "systemctl --user show-environment")?;
        Ok(asked.status == 0)
    })?;
    user(
        &machine,
        &format!("{SOURCE}/packaging/install --from {PROGRAMS}"),
    )?;
    Ok(machine)
}

fn user(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Guest, line)?.text()
}

fn root(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Root, line)?.text()
}

/// Looks that the step `name` ended as `state`.
fn ended(said: &str, name: &str, state: &str) -> Result<()> {
    let line = said.lines().find(|line| line.starts_with(name));
    let line = line.with_context(|| format!("no {name}: {said}"))?;
    ensure!(
        line.split_whitespace().nth(1) == Some(state),
        "{line}: {said}"
    );
    Ok(())
}

/// Whether a new login finds the programs.
fn login_finds_the_programs(machine: &Machine) -> Result<()> {
    let found = user(
        machine,
        "env -i HOME=$HOME TERM=dumb bash -lc 'command -v openclawctl'",
    )?;
    ensure!(found.ends_with("/.local/bin/openclawctl"), "{found}");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn setup_asks_nothing_and_the_model_answers_when_the_user_has_gone() -> Result<()> {
    let machine = machine()?;
    let setup = format!("{ELSEWHERE}; ~/.local/bin/openclawctl setup --yes");
    // Debian's own profile knows the folder.
    user(&machine, "rm ~/.profile")?;
    let said = user(&machine, &setup)?;
    for (name, state) in [
        ("PATH", "done"),
        ("linger", "done"),
        ("bus", "ok"),
        ("suite", "done"),
        ("model", "done"),
    ] {
        ended(&said, name, state)?;
    }
    ensure!(said.contains("ollama/scripted:8b"), "{said}");
    ensure!(!said.contains("No model is connected"), "{said}");
    login_finds_the_programs(&machine)?;
    ensure!(user(&machine, "systemctl --user is-enabled openclaw.target")? == "enabled");
    let again = user(&machine, &setup)?;
    for name in ["PATH", "linger", "bus", "suite", "model"] {
        ended(&again, name, "ok")?;
    }

    root(&machine, "systemctl stop session.service")?;
    // That of the manager is one too, for newer systemds.
    let sessions =
        "loginctl list-sessions --no-legend | grep ' guest ' | grep -v ' manager '; true";
    eventually("the session has ended", || {
        Ok(root(&machine, sessions)?.is_empty())
    })?;
    ensure!(root(&machine, "loginctl show-user guest -P Linger")? == "yes");
    let said = user(&machine, "openclawctl message --json 'are you there?'")?;
    ensure!(said.contains("scripted:8b"), "{said}");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn setup_asks_at_a_terminal_and_doctor_mends_what_was_left_out() -> Result<()> {
    let machine = machine()?;
    // Lingering is declined, of the models Ollama's is taken.
    let steps = "logged out, too? [Y/n] \tn\nor nothing: \t1";
    let line = format!(
        "{ELSEWHERE}; cat >terminal.py <<'END'\n{TERMINAL}\nEND\n\
         python3 terminal.py {} ~/.local/bin/openclawctl setup",
        quoted(steps)
    );
    let said = user(&machine, &line)?;
    // Of the profile that Debian gives a new user.
    for (name, state) in [
        ("PATH", "ok"),
        ("linger", "skipped"),
        ("bus", "ok"),
        ("suite", "done"),
        ("model", "done"),
    ] {
        ended(&said, name, state)?;
    }
    login_finds_the_programs(&machine)?;
    ensure!(root(&machine, "loginctl show-user guest -P Linger")? == "no");

    user(&machine, "openclawctl config set gateway.port 28789")?;
    let mended = user(&machine, "openclawctl doctor --fix; true")?;
    for right in [
        "the suite goes on when you log out",
        "the units say what the configuration does",
    ] {
        ensure!(mended.contains(right), "{right}: {mended}");
    }
    ensure!(root(&machine, "loginctl show-user guest -P Linger")? == "yes");
    user(
        &machine,
        "systemctl --user restart openclaw.target 'openclaw-*.socket' && openclawctl message hello",
    )?;
    let status = user(&machine, "openclawctl status")?;
    ensure!(status.contains("http://127.0.0.1:28789 "), "{status}");
    let again = user(&machine, "openclawctl doctor --fix; true")?;
    ensure!(
        again.contains("there is nothing that could be mended"),
        "{again}"
    );
    Ok(())
}
