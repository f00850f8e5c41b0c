//! The suite as services of the machine, whose turns are units of the machine's own manager.

use anyhow::{Context as _, Result, ensure};
use system_tests::{Account, Machine, Network};

use crate::stage::{PROGRAMS, bare_machine};

/// Where the daemons keep their state and have their sockets.
const PLACES: &str = "OPENCLAW_STATE_DIR=/var/lib/openclaw OPENCLAW_RUNTIME_DIR=/run/openclaw";

/// A socket and a service for each daemon, as an administrator might write them.
fn units() -> String {
    let mut script = String::from("mkdir -m 700 -p /run/openclaw /var/lib/openclaw\n");
    for (daemon, socket) in [
        ("gateway", "gateway"),
        ("agent-runner", "runner"),
        ("memory", "memory"),
    ] {
        script.push_str(&format!(
            "printf '%s\\n' '[Socket]' ListenStream=/run/openclaw/{socket}.sock FileDescriptorName=control \
               SocketMode=0600 >/etc/systemd/system/openclaw-{daemon}.socket\n\
             printf '%s\\n' '[Service]' Type=notify ExecStart={PROGRAMS}/openclaw-{daemon} \
               'Environment=HOME=/root {PLACES}' >/etc/systemd/system/openclaw-{daemon}.service\n"
        ));
    }
    script
        + "systemctl daemon-reload && systemctl start openclaw-gateway.socket openclaw-agent-runner.socket openclaw-memory.socket"
}

fn root(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Root, line)?.text()
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turns_are_units_of_the_machine_and_their_agents_are_nobody() -> Result<()> {
    let machine = bare_machine(Network::Own)?;
    root(&machine, &units())?;
    let ask = |text: &str| {
        root(
            &machine,
            &format!("{PLACES} {PROGRAMS}/openclawctl message '{text}'"),
        )
    };
    let who = ask("/run id; ls /run")?;
    ensure!(who.contains("(nobody)"), "{who}");
    ensure!(!who.contains("dbus"), "{who}");

    // The one that stands ready for the next message.
    let units = root(
        &machine,
        "systemctl list-units --plain --no-legend 'openclaw-turn-*'",
    )?;
    let unit = units
        .split_whitespace()
        .next()
        .context("no unit of a turn")?;
    let show = |property: &str| root(&machine, &format!("systemctl show -P {property} {unit}"));
    assert_eq!(show("Slice")?.trim(), "openclaw-turns.slice");
    assert_eq!(show("ProtectSystem")?.trim(), "strict");
    let run = format!("/proc/{}/root/run", show("MainPID")?.trim());
    let seen = root(
        &machine,
        &format!("find {run}/openclaw {run}/user {run}/dbus ! -type d | sort"),
    )?;
    // Those that host tools ask; the agent in it sees neither.
    let sockets = ["gateway.sock", "memory.sock"].map(|it| format!("{run}/openclaw/{it}"));
    assert_eq!(seen.lines().collect::<Vec<_>>(), sockets);
    Ok(())
}
