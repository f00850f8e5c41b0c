//! Two users of one machine, each with a suite of his own.

use anyhow::{Context as _, Result, ensure};
use system_tests::{Account, Machine, Network};

use crate::stage::{PROGRAMS, SOURCE, bare_machine};

/// Who comes first has the port of the units.
const FIRST: &str = "http://127.0.0.1:18789";
const TAKEN: &str = "127.0.0.1:18789 is taken by the user claw";
const RELOAD: &str = "systemctl --user daemon-reload && systemctl --user restart openclaw.target 'openclaw-*.socket'";

fn run(machine: &Machine, account: Account, line: &str) -> Result<String> {
    machine.run(account, line)?.text()
}

/// Installs, starts, and has an answer; what the installation said.
fn install(machine: &Machine, account: Account) -> Result<String> {
    let said = run(
        machine,
        account,
        &format!("{SOURCE}/packaging/install --from {PROGRAMS}"),
    )?;
    run(machine, account, "systemctl --user start openclaw.target")?;
    answers(machine, account)?;
    Ok(said)
}

fn answers(machine: &Machine, account: Account) -> Result<()> {
    let said = run(machine, account, "openclawctl message hello")?;
    ensure!(said.starts_with("Hello!"), "{said}");
    Ok(())
}

/// The second one has a port of his own, is told which, and has it again after a
/// new installation. When the port of his configuration is another's later, his
/// target starts and answers all the same, and says what mends it.
#[test]
#[ignore = "boots a machine, needs root"]
fn second_user_has_a_port_of_his_own() -> Result<()> {
    let machine = bare_machine(Network::Own)?;
    let first = install(&machine, Account::Claw)?;
    ensure!(!first.contains("gateway.port"), "{first}");
    run(
        &machine,
        Account::Root,
        "useradd --create-home --shell /bin/bash guest && loginctl enable-linger guest \
         && systemctl start user@$(id -u guest).service",
    )?;
    let guest = |line: &str| run(&machine, Account::Guest, line);

    let said = install(&machine, Account::Guest)?;
    let line = said.lines().find(|line| line.contains("gateway.port is"));
    let line = line.with_context(|| format!("no port: {said}"))?;
    ensure!(line.contains(TAKEN), "{line}");
    let port = line.split_whitespace().nth(2).context("a number")?;
    let listens = format!("http://127.0.0.1:{port} ");
    let status = guest("openclawctl status")?;
    ensure!(status.contains(&listens), "{port}: {status}");
    let status = run(&machine, Account::Claw, "openclawctl status")?;
    ensure!(status.contains(FIRST), "the first one keeps his: {status}");
    let again = install(&machine, Account::Guest)?;
    ensure!(!again.contains("gateway.port is"), "it is kept: {again}");
    ensure!(guest("openclawctl status")?.contains(&listens));

    // As though the first user had come after the second one's installation.
    guest(&format!(
        "openclawctl config unset gateway.port && openclawctl sockets && ! {{ {RELOAD}; }}"
    ))?;
    guest("systemctl --user stop openclaw.target && systemctl --user start openclaw.target")?;
    answers(&machine, Account::Guest)?;
    let status = guest("openclawctl status")?;
    let doctor = machine.run(Account::Guest, "openclawctl doctor")?.stdout;
    for said in [status, doctor] {
        ensure!(said.contains(TAKEN), "{said}");
        ensure!(said.contains("openclawctl sockets --port auto"), "{said}");
    }
    guest(&format!("openclawctl sockets --port auto && {RELOAD}"))?;
    answers(&machine, Account::Guest)?;
    ensure!(guest("openclawctl status")?.contains(&listens));
    answers(&machine, Account::Claw)
}
