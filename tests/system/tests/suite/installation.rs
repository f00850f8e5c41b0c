//! The installer, on machines of its own.

use anyhow::{Result, ensure};
use system_tests::{Account, Machine, Network};

use crate::stage::{PROGRAMS, SOURCE, bare_machine};

#[test]
#[ignore = "boots a machine, needs root"]
fn installation_can_be_repeated_and_taken_back() -> Result<()> {
    let machine = bare_machine(Network::Own)?;
    install(&machine, "")?;
    let first = files(&machine)?;
    ensure!(
        first.contains("openclaw-gateway.service.d/50-namespaces.conf"),
        "{first}"
    );
    install(&machine, "")?;
    assert_eq!(files(&machine)?, first);
    user(&machine, "systemctl --user enable --now openclaw.target")?;
    user(&machine, &format!("{SOURCE}/packaging/install --remove"))?;
    assert_eq!(files(&machine)?, "");
    ensure!(user(&machine, "ls -d ~/.openclaw")?.ends_with(".openclaw"));
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn installation_another_prefix_is_written_into_the_units() -> Result<()> {
    let machine = bare_machine(Network::Own)?;
    install(&machine, "--prefix ~/elsewhere")?;
    user(&machine, "systemctl --user start openclaw.target")?;
    user(&machine, "~/elsewhere/bin/openclawctl message hello")?;
    Ok(())
}

/// The folder of `OPENCLAW_STATE_DIR` and one of an earlier name: the daemons
/// have the state there, with notes and a configuration of its own, and make no
/// other one. The same conversation goes on in both shells.
#[test]
#[ignore = "boots a machine, needs root"]
fn installation_another_state_folder_reaches_the_daemons() -> Result<()> {
    for (folder, variable) in [
        ("elsewhere/claw", "OPENCLAW_STATE_DIR=$HOME/elsewhere/claw"),
        (".clawdbot", "HOME=$HOME"),
    ] {
        let machine = bare_machine(Network::Own)?;
        let line = |line: &str| user(&machine, &format!("export {variable}; {line}"));
        line(&format!(
            "umask 077; mkdir -p ~/{folder} && echo '{{ agents: {{ list: [{{ id: \"main\", name: \"Elsewhere\" }}] }} }}' \
             >~/{folder}/openclaw.json && {SOURCE}/packaging/install --from {PROGRAMS}"
        ))?;
        line("systemctl --user start openclaw.target")?;
        line("openclawctl message '/remember The spare key hangs behind the clock.'")?;
        let found = line("openclawctl message '/search spare key'")?;
        ensure!(found.contains("behind the clock"), "{found}");
        let agents = line("openclawctl status --json")?;
        ensure!(agents.contains(&format!("/{folder}")), "{agents}");
        let here = line(&format!(
            "ls -d ~/{folder}/agents/main/sessions/*.jsonl && ls ~/{folder}/workspace/memory"
        ))?;
        ensure!(here.contains(".jsonl"), "{here}");
        let there = machine.run(Account::Claw, "ls -d ~/.openclaw")?;
        ensure!(there.status != 0, "{}", there.describe());
    }
    Ok(())
}

fn install(machine: &Machine, options: &str) -> Result<String> {
    user(
        machine,
        &format!("{SOURCE}/packaging/install --from {PROGRAMS} {options}"),
    )
}

fn files(machine: &Machine) -> Result<String> {
    user(
        machine,
        "find .local .config -type f -o -type l | sort | xargs -r sha256sum",
    )
}

fn user(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Claw, line)?.text()
}
