//! The level of the sandbox where none is set, on machines that give less: the first answer always comes, and what the
//! machine lacks is said with what gives it.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use system_tests::{Account, Machine, Network, is_emulated};

use crate::stage::{PROGRAMS, SOURCE, bare_machine, eventually};

/// As though nobody had used the suite yet.
const FORGET: &str = "systemctl --user stop openclaw.target 'openclaw-*'; rm -rf ~/.openclaw";
/// What the user's manager, and with it every unit of it, is kept from.
const NO_NAMESPACES: &str = "RestrictNamespaces=~user\\n";
const NO_LANDLOCK: &str = "SystemCallFilter=~landlock_create_ruleset landlock_add_rule landlock_restrict_self\\n\
    SystemCallErrorNumber=ENOSYS\\n";

/// Starts the user's manager anew, with these lines. Debian 13's systemd, where control groups are of the first version,
/// is not told that a manager has ended, and waits for it.
fn keep_from(machine: &Machine, lines: &str) -> Result<()> {
    let script = format!(
        "mkdir -p /etc/systemd/system/user@.service.d \
         && printf '[Service]\\nTimeoutStopSec=5\\n{lines}' >/etc/systemd/system/user@.service.d/less.conf \
         && systemctl daemon-reload && systemctl restart user@1000.service"
    );
    machine.run(Account::Root, &script)?.success().map(drop)
}

pub(crate) fn user(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Claw, line)?.text()
}

/// What a user without a model does first.
fn quickstart() -> String {
    format!("{SOURCE}/packaging/quickstart --from {PROGRAMS} hello")
}

/// Has a new user begin with quickstart, and looks what is said of the level.
pub(crate) fn greeted(machine: &Machine, level: &str) -> Result<Value> {
    let said = user(machine, &format!("{FORGET}; {}", quickstart()))?;
    let status = user(machine, "openclawctl status --json")?;
    judged(&said, &status, level)
}

/// Whether what quickstart and the status say are those of `level`; the runner's status.
fn judged(said: &str, status: &str, level: &str) -> Result<Value> {
    let words = format!("the strictest level here: {level}");
    ensure!(said.contains(&words), "{words}: {said}");
    ensure!(said.contains("Hello!"), "{said}");
    ensure!(
        said.contains("level \"text\"") == (level == "text"),
        "{said}"
    );
    let status: Value = serde_json::from_str(status).context("a status")?;
    let runner = status["runner"].clone();
    ensure!(runner["sandboxLevel"] == level, "{level}: {runner}");
    ensure!(
        runner["sandboxStricter"].is_null() == (level == "strict"),
        "{runner}"
    );
    Ok(runner)
}

/// Does it as root without a service manager, as in a container: `shell` runs a line of shell there.
pub(crate) fn greeted_by_run(level: &str, shell: impl Fn(&str) -> Result<String>) -> Result<Value> {
    let script = format!(
        "export HOME=$(mktemp -d) && export PATH=$HOME/.local/bin:$PATH && {} && echo STATUS && openclawctl status --json \
         && openclawctl run --stop >/dev/null && rm -rf $HOME",
        quickstart()
    );
    let told = shell(&script)?;
    ensure!(told.contains("openclawctl run --stop"), "{told}");
    let (said, status) = told.split_once("STATUS").with_context(|| told.clone())?;
    judged(said, status, level)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn users_suite_answers_at_the_level_that_is_left() -> Result<()> {
    // There its own switches are tried (kernels.rs).
    if is_emulated() {
        test_skip::skipped("levels by the filters of a user's manager: tried without QEMU");
        return Ok(());
    }
    let machine = bare_machine(Network::Own)?;
    greeted(&machine, "strict")?;
    keep_from(&machine, NO_LANDLOCK)?;
    greeted(&machine, "namespaces")?;
    keep_from(&machine, &format!("{NO_NAMESPACES}{NO_LANDLOCK}"))?;
    greeted(&machine, "text")?;
    keep_from(&machine, NO_NAMESPACES)?;
    greeted(&machine, "workspace")?;
    let ran = user(&machine, "openclawctl message '/run echo one command'")?;
    ensure!(ran.contains("one command"), "{ran}");
    let said = user(
        &machine,
        "openclawctl doctor | grep -A1 '^warn  sandbox level'",
    )?;
    ensure!(
        said.contains("no namespaces of a turn's own") && said.contains("fix: "),
        "{said}"
    );
    let log = user(
        &machine,
        "journalctl --user -u openclaw-agent-runner.service --no-pager",
    )?;
    ensure!(log.contains("the sandbox is at level workspace: "), "{log}");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn level_that_is_set_is_refused_until_the_user_says_otherwise() -> Result<()> {
    let machine = bare_machine(Network::Own)?;
    keep_from(&machine, NO_NAMESPACES)?;
    user(
        &machine,
        &format!(
            "mkdir -m 700 ~/.openclaw && echo '{{ sandbox: {{ level: \"strict\" }} }}' >~/.openclaw/openclaw.json \
             && {SOURCE}/packaging/install --from {PROGRAMS} && systemctl --user start openclaw.target"
        ),
    )?;
    let refused = machine.run(Account::Claw, "openclawctl message hello")?;
    ensure!(refused.status == 1, "{}", refused.describe());
    for words in ["own_root", "sandbox.missing", "sandbox.level"] {
        let is_said = refused.stderr.contains(words);
        ensure!(is_said, "{words}: {}", refused.describe());
    }
    let status = user(&machine, "openclawctl status")?;
    ensure!(status.contains("strict, refused"), "{status}");
    user(&machine, "openclawctl config set sandbox.missing weaken")?;
    eventually("the daemons have read it", || {
        let hello = machine.run(Account::Claw, "openclawctl message hello")?;
        Ok(hello.status == 0)
    })?;
    let status = user(&machine, "openclawctl status")?;
    ensure!(
        status.contains("workspace") && status.contains("weakened"),
        "{status}"
    );
    Ok(())
}

/// On a server, where nobody but root is: its own manager runs the units.
#[test]
#[ignore = "boots a machine, needs root"]
fn root_with_a_manager_of_its_own_answers() -> Result<()> {
    let machine = bare_machine(Network::Own)?;
    let root = |line: &str| machine.run(Account::Root, line)?.text();
    root("systemctl start user@0.service")?;
    let said = root(&quickstart())?;
    ensure!(
        said.contains("systemctl --user stop openclaw.target"),
        "{said}"
    );
    let status = root("~/.local/bin/openclawctl status --json")?;
    let runner = judged(&said, &status, "strict")?;
    ensure!(runner["agentUser"] == "openclaw-agent", "{runner}");
    Ok(())
}

/// As a container has it that was given nothing: some capabilities, and a filter.
#[test]
#[ignore = "boots a machine, needs root"]
fn root_without_systemd_answers_at_the_level_that_is_left() -> Result<()> {
    const SOME: &str = "CAP_CHOWN CAP_DAC_OVERRIDE CAP_FSETID CAP_FOWNER CAP_NET_RAW CAP_SETGID CAP_SETUID CAP_SETFCAP \
        CAP_SETPCAP CAP_NET_BIND_SERVICE CAP_SYS_CHROOT CAP_KILL CAP_AUDIT_WRITE";
    let machine = bare_machine(Network::Own)?;
    let contained = |properties: &[&str], line: &str| {
        let mut words = String::from("systemd-run --quiet --wait --pipe --collect");
        for property in properties {
            words.push_str(&format!(" -p '{property}'"));
        }
        // Not that of a unit: the runner is to find no service manager.
        let line = format!("unset SYSTEMD_EXEC_PID; {line}");
        let line = line.replace('\'', r"'\''");
        machine
            .run(Account::Root, &format!("{words} bash -c '{line}'"))?
            .text()
    };
    let some = format!("CapabilityBoundingSet={SOME}");
    let refused = "SystemCallFilter=~unshare setns mount umount2 pivot_root";
    let landlock =
        "SystemCallFilter=~landlock_create_ruleset landlock_add_rule landlock_restrict_self";
    // First, because it can become nobody else, and make no user for the agents.
    let stuck = [
        "CapabilityBoundingSet=",
        refused,
        landlock,
        "SystemCallErrorNumber=EPERM",
    ];
    let runner = greeted_by_run("text", |line| contained(&stuck, line))?;
    ensure!(
        runner["sandboxWeaker"]
            .to_string()
            .contains("agents run as root"),
        "{runner}"
    );
    greeted_by_run("strict", |line| contained(&[], line))?;
    greeted_by_run("namespaces", |line| {
        contained(&[landlock, "SystemCallErrorNumber=EPERM"], line)
    })?;
    let container = [some.as_str(), refused, "SystemCallErrorNumber=EPERM"];
    let runner = greeted_by_run("text", |line| contained(&container, line))?;
    let stricter = runner["sandboxStricter"].as_str().unwrap_or_default();
    ensure!(stricter.contains("--cap-add SYS_ADMIN"), "{runner}");
    let without = [
        some.as_str(),
        refused,
        landlock,
        "SystemCallErrorNumber=EPERM",
    ];
    greeted_by_run("text", |line| contained(&without, line))?;
    Ok(())
}
