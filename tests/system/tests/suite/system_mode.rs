//! The machine's own suite (`packaging/install --system`): daemons as users of their own, agents as another, people by
//! a group, every directive of the units tried from inside.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use system_tests::{Account, KEEP_MACHINE, Machine, Network, is_emulated};

use crate::stage::{PROGRAMS, SOURCE, bare_machine_with, eventually, quoted};

/// Where the model listens.
const MODEL: &str = "127.0.0.1:18798";
/// Each daemon's unit, its user, and the most that `systemd-analyze security` may say of it; the last is that of turns.
const UNITS: [(&str, &str, f64); 4] = [
    ("openclaw-gateway", "openclaw", 1.5),
    ("openclaw-memory", "openclaw-memory", 1.5),
    ("openclaw-agent-runner", "openclaw-runner", 3.0),
    ("openclaw-spawner", "openclaw-runner", 4.0),
];
/// CAP_SETGID and CAP_SETUID, as capabilities(7) numbers them.
const SETUID_AND_SETGID: u64 = 1 << 6 | 1 << 7;
/// Of the spawner: what agents and their namespaces need is left to them, and refused by their own sandbox.
const LEFT_TO_AGENTS: [&str; 13] = [
    "IPAddressDeny",
    "SystemCallArchitectures",
    "SystemCallFilter=~@chown",
    "SystemCallFilter=~@resources",
    "MemoryDenyWriteExecute",
    "RestrictNamespaces",
    "RestrictAddressFamilies=AF_INET",
    "PrivateNetwork",
    "ProtectHostname",
    "ProtectKernelTunables",
    "ProtectKernelLogs",
    "ProtectProc",
    "ProcSubset",
];
/// Of the gateway, which speaks over the network with this machine,
const WITH_LOOPBACK: [&str; 2] = ["RestrictAddressFamilies=AF_INET", "PrivateNetwork"];
/// and of the runner, which asks models.
const WITH_NETWORK: [&str; 3] = [
    "IPAddressDeny",
    "RestrictAddressFamilies=AF_INET",
    "PrivateNetwork",
];
/// What holds of an ordinary process in a container too, so that the trial proves nothing there.
const HELD_ANYWAY: [&str; 6] = [
    "RestrictRealtime",
    "CapabilityEffective",
    "ProtectControlGroups",
    "ProtectKernelLogs",
    "ProtectKernelModules",
    "ProtectKernelTunables",
];

fn root(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Root, line)?.text()
}

/// As the member of the group.
fn member(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Claw, line)?.text()
}

fn ask(machine: &Machine, text: &str) -> Result<String> {
    let text = quoted(text);
    member(machine, &format!("openclawctl --system message {text}"))
}

/// Installed and started, with a member of the group and a guest who is none.
fn machine() -> Result<Machine> {
    let machine = bare_machine_with(Network::Own, &[KEEP_MACHINE])?;
    root(
        &machine,
        &format!("{SOURCE}/packaging/install --system --from {PROGRAMS}"),
    )?;
    root(
        &machine,
        "usermod -aG openclaw claw && useradd --create-home guest && touch /tmp/marker-of-the-machine",
    )?;
    Ok(machine)
}

fn main_pid(machine: &Machine, unit: &str) -> Result<String> {
    root(
        machine,
        &format!("systemctl show -P MainPID {unit}.service"),
    )
}

/// A field of `/proc/PID/status`.
fn status(machine: &Machine, pid: &str, field: &str) -> Result<String> {
    root(
        machine,
        &format!("sed -n 's/^{field}:[[:space:]]*//p' /proc/{pid}/status"),
    )
}

#[test]
#[ignore = "boots a machine, needs root"]
fn suite_of_the_machine_answers_its_group_and_nobody_else() -> Result<()> {
    if is_emulated() {
        return Ok(());
    }
    let mut machine = machine()?;
    let complaints = root(
        &machine,
        "cd /usr/local/lib/systemd/system && systemd-analyze verify --man=no openclaw*.* 2>&1",
    )?;
    ensure!(complaints.is_empty(), "{complaints}");
    let absent = machine.run(Account::Claw, "openclawctl --system message hello")?;
    ensure!(
        absent.status != 0
            && absent
                .stderr
                .contains("sudo systemctl start openclaw.target"),
        "{}",
        absent.describe()
    );
    let started = root(&machine, "openclawctl --system start")?;
    ensure!(started.contains("openclaw is started"), "{started}");

    let answer = ask(&machine, "hello")?;
    ensure!(!answer.is_empty(), "no answer");
    let guest = machine.run(Account::Guest, "openclawctl --system message hello")?;
    ensure!(
        guest.status != 0
            && guest
                .stderr
                .contains("the group openclaw, and you are not in it"),
        "{}",
        guest.describe()
    );
    commands(&machine)?;
    users(&machine)?;
    agents(&machine)?;
    files(&machine)?;

    root(&machine, "systemctl enable openclaw.target")?;
    machine.reboot()?;
    let entries =
        "cat /var/lib/openclaw/agents/main/sessions/*.jsonl | grep -c '\"role\":\"user\"'";
    let before: u32 = root(&machine, entries)?.parse()?;
    ensure!(!ask(&machine, "and again")?.is_empty(), "no answer");
    let after: u32 = root(&machine, entries)?.parse()?;
    ensure!(after == before + 1, "{before} entries, then {after}");
    ensure!(
        root(&machine, "openclawctl --system doctor")?.contains("closed to other users"),
        "doctor"
    );

    root(
        &machine,
        &format!("{SOURCE}/packaging/install --system --remove"),
    )?;
    // systemd forgets units whose files are gone when it has the time.
    let left = "systemctl list-units --all --plain --no-legend 'openclaw*'; ls /usr/local/bin; test -d /var/lib/openclaw";
    let gone = eventually("nothing of the suite is left", || {
        Ok(!root(&machine, left)?.contains("openclaw"))
    });
    gone.or_else(|error| bail!("{error}: {}", root(&machine, left)?))
}

/// What openclawctl says and does of the machine's units.
fn commands(machine: &Machine) -> Result<()> {
    let said = member(machine, "openclawctl --system status")?;
    ensure!(said.contains("gateway"), "{said}");
    let doctor = root(machine, "openclawctl --system doctor")?;
    ensure!(doctor.contains("closed to other users"), "{doctor}");
    let refused = machine.run(Account::Claw, "openclawctl --system doctor")?;
    ensure!(
        refused.status != 0 && refused.stderr.contains("sudo openclawctl --system doctor"),
        "{}",
        refused.describe()
    );
    let log = root(machine, "openclawctl --system logs --lines 50")?;
    ensure!(log.contains("the turn ended"), "{log}");
    let stopped = root(machine, "openclawctl --system stop")?;
    ensure!(stopped.contains("openclaw is stopped"), "{stopped}");
    let active = "systemctl list-units --state=active --plain --no-legend 'openclaw-*.service' 'openclaw-*.socket'";
    eventually("nothing of the suite runs", || {
        Ok(root(machine, active)?.is_empty())
    })?;
    root(machine, "openclawctl --system start")?;
    ask(machine, "after the start").map(drop)
}

/// Whose the daemons are, and what they may.
fn users(machine: &Machine) -> Result<()> {
    ask(machine, "so that all of them run")?;
    for (unit, user, most) in UNITS {
        let pid = main_pid(machine, unit)?;
        let is = root(machine, &format!("ps -o user:32= -p {pid}"))?;
        ensure!(is == user, "{unit} is {is}");
        let expected = if user == "openclaw-runner" {
            SETUID_AND_SETGID
        } else {
            0
        };
        for set in ["CapBnd", "CapEff", "CapPrm", "CapAmb"] {
            let has = u64::from_str_radix(&status(machine, &pid, set)?, 16)?;
            ensure!(has == expected, "{unit}: {set} is {has:x}");
        }
        let line = format!("systemd-analyze security --no-pager {unit}.service | tail -n 1");
        let said = root(machine, &line)?;
        let figure = said
            .rsplit(": ")
            .next()
            .and_then(|it| it.split_whitespace().next());
        let figure: f64 = figure.context("no figure")?.parse()?;
        ensure!(figure <= most, "{unit}: {figure}");
    }
    Ok(())
}

/// What an agent gets of the machine without a sandbox: its own user is what is left.
fn agents(machine: &Machine) -> Result<()> {
    let who = ask(machine, "/run id; umask")?;
    ensure!(
        who.contains("(openclaw-agent)") && !who.contains("openclaw-state"),
        "{who}"
    );
    root(
        machine,
        "openclawctl --system config set sandbox.level off \
         && openclawctl --system config set tools.exec.ask off",
    )?;
    let owner = root(machine, "stat -c %U:%G:%a /var/lib/openclaw/openclaw.json")?;
    ensure!(owner == "openclaw:openclaw-state:640", "{owner}");
    let who = ask(machine, "/run id")?;
    ensure!(
        who.contains("(openclaw-agent)") && !who.contains("openclaw-state"),
        "{who}"
    );
    for line in [
        "ls /var/lib/openclaw",
        "cat /var/lib/openclaw/openclaw.json",
        "cat /var/lib/openclaw/auth.json",
        "ls /var/lib/openclaw/agents/main/sessions",
        "touch /var/lib/openclaw/planted",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"/run/openclaw/gateway.sock\")'",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"/run/openclaw/memory.sock\")'",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(\"/run/openclaw/spawner.sock\")'",
    ] {
        let said = ask(machine, &format!("/run {line}"))?;
        ensure!(said.contains("Permission denied"), "{line}: {said}");
    }
    // No way back to the user that started it, and nothing of that user's to look into.
    let said = ask(
        machine,
        "/run python3 -c 'import os, pwd; os.setresuid(*[pwd.getpwnam(\"openclaw-runner\").pw_uid] * 3)'",
    )?;
    ensure!(said.contains("Operation not permitted"), "{said}");
    let said = ask(
        machine,
        "/run grep -E '^(Cap|Uid|Groups)' /proc/self/status",
    )?;
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        ensure!(
            said.contains(&format!("{set}:\t0000000000000000")),
            "{said}"
        );
    }
    let said = ask(machine, "/run cat /proc/$PPID/environ /proc/$PPID/maps")?;
    ensure!(said.contains("Permission denied"), "{said}");
    // What it leaves behind does not stay, also where it closes it to its group.
    ask(
        machine,
        "/run mkdir -m 700 $TMPDIR/closed && touch $TMPDIR/closed/file",
    )?;
    eventually("the folders of turns are removed", || {
        let left = root(machine, "find /var/lib/openclaw-agent -name closed")?;
        Ok(left.is_empty())
    })?;
    for (account, line) in [
        (Account::Claw, "ls /var/lib/openclaw"),
        (Account::Guest, "ls /var/lib/openclaw"),
        (Account::Guest, "cat /var/lib/openclaw/openclaw.json"),
        (Account::Guest, "ls /var/lib/openclaw-agent"),
    ] {
        let outcome = machine.run(account, line)?;
        ensure!(
            outcome.stderr.contains("Permission denied"),
            "{}",
            outcome.describe()
        );
    }
    // They outlive the daemons, and end when they are told to.
    let slow = machine.start(
        Account::Claw,
        "openclawctl --system message '/run sleep 5; echo slept'",
    )?;
    let spawner = main_pid(machine, "openclaw-spawner")?;
    let sleeps = "pgrep -u openclaw-agent -x sleep";
    let sleeping = || Ok(machine.run(Account::Root, sleeps)?.status == 0);
    eventually("the command runs", sleeping)?;
    root(machine, "systemctl restart openclaw.target")?;
    let slow = slow.wait_with_output().context("the message")?;
    let said = String::from_utf8_lossy(&slow.stdout).into_owned();
    ensure!(said.contains("slept"), "{said}");
    ensure!(
        main_pid(machine, "openclaw-spawner")? == spawner,
        "it was restarted"
    );
    let endless = machine.start(
        Account::Claw,
        "openclawctl --system message '/run sleep 1000'",
    )?;
    eventually("the command runs", sleeping)?;
    member(machine, "openclawctl --system cancel")?;
    endless.wait_with_output().context("the message")?;
    eventually("the command has ended", || Ok(!sleeping()?))?;
    root(machine, "openclawctl --system config unset sandbox.level").map(drop)
}

/// Files of agents and daemons go both ways, those of daemons to one another.
fn files(machine: &Machine) -> Result<()> {
    root(
        machine,
        "openclawctl --system memory add 'the spare key is below the blue flowerpot'",
    )?;
    let said = ask(
        machine,
        "/run echo 'the agent was here' >>$(ls memory/*.md | head -n 1) && echo written",
    )?;
    ensure!(said.contains("written"), "{said}");
    let found = root(machine, "openclawctl --system memory search flowerpot")?;
    ensure!(found.contains("blue flowerpot"), "{found}");
    // A transcript, which the gateway wrote.
    ask(machine, "my boat is called Heliotrope")?;
    eventually("memory finds the transcript", || {
        Ok(root(machine, "openclawctl --system memory search Heliotrope")?.contains("Heliotrope"))
    })
}

#[test]
#[ignore = "boots a machine, needs root"]
fn directives_of_the_machines_units_hold_inside() -> Result<()> {
    if is_emulated() {
        return Ok(());
    }
    let machine = machine()?;
    let probe = format!("{SOURCE}/tests/system/tests/suite/system_mode/probe.py");
    let place = "/usr/local/lib/openclaw-probe.py";
    root(
        &machine,
        &format!("install -D -m 644 {probe} {place} && ip address add 10.9.9.9/32 dev lo"),
    )?;
    let outside = "uts=$(readlink /proc/self/ns/uts) net=$(readlink /proc/self/ns/net) mnt=$(readlink /proc/self/ns/mnt) \
                   dev=$(stat -c %d /dev) address=10.9.9.9";
    let kept = "capabilities=c0";
    let none = "capabilities=0";
    let open = trial(
        &machine,
        &format!(
            "systemd-run --quiet --wait --pipe --collect -p LimitRTPRIO=10 --uid=openclaw --gid=openclaw-state \
                  /usr/bin/python3 {place} {outside} {none}"
        ),
    )?;
    let proves_nothing: Vec<_> = open
        .iter()
        .filter(|(_, held)| **held)
        .map(|(name, _)| name.as_str())
        .collect();
    ensure!(
        proves_nothing.iter().all(|name| HELD_ANYWAY.contains(name)),
        "held without a unit: {proves_nothing:?}"
    );
    for (unit, user, _) in UNITS {
        let capabilities = if user == "openclaw-runner" {
            kept
        } else {
            none
        };
        // The unit as it is, with the trial in the place of the daemon.
        let line = format!(
            "cd /usr/local/lib/systemd/system && sed -e '/^ExecStart=/d; /^Type=/d; /^NotifyAccess=/d; /^Watchdog/d; \
               /^Restart/d; /^Requires=/d; /^StandardInput=/d; /^StandardOutput=/d; /^PartOf=/d; /^Conflicts=/d; /^Wants=/d' \
               -e \"s|^\\[Service\\]|&\\nType=oneshot\\nLimitRTPRIO=10\\nStandardOutput=file:/run/trial\\nExecStart=/usr/bin/python3 {place} $(echo {outside}) {capabilities}|\" \
               {unit}.service >/run/systemd/system/openclaw-trial.service \
             && rm -f /run/trial && systemctl daemon-reload && systemctl start openclaw-trial.service && cat /run/trial"
        );
        let held = trial(&machine, &line)?;
        let excepted: &[&str] = match unit {
            "openclaw-memory" => &[],
            "openclaw-gateway" => &WITH_LOOPBACK,
            "openclaw-spawner" => &LEFT_TO_AGENTS,
            _ => &WITH_NETWORK,
        };
        ensure!(held.len() == open.len(), "{unit}: {held:?}");
        let open: Vec<_> = held
            .iter()
            .filter(|(_, held)| !**held)
            .map(|(name, _)| name.as_str())
            .collect();
        let mut expected = excepted.to_vec();
        expected.retain(|name| !HELD_ANYWAY.contains(name) || open.contains(name));
        expected.sort_unstable();
        ensure!(
            open == expected,
            "{unit}: open are {open:?}, expected {expected:?}"
        );
    }
    Ok(())
}

/// By directive, whether it held.
fn trial(machine: &Machine, line: &str) -> Result<BTreeMap<String, bool>> {
    let said = root(machine, line)?;
    let lines = said.lines().filter_map(|line| line.split_once(' '));
    Ok(lines
        .map(|(name, word)| (name.to_owned(), word == "held"))
        .collect())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn key_of_the_machines_suite_lies_encrypted() -> Result<()> {
    if is_emulated() {
        return Ok(());
    }
    let machine = machine()?;
    root(
        &machine,
        &format!(
            "systemd-run --quiet --unit=model -p DynamicUser=yes {PROGRAMS}/scripted-model --listen {MODEL}"
        ),
    )?;
    let configuration = serde_json::json!({
        "agents": { "defaults": { "backend": "native", "model": "anthropic/claude-scripted" } },
        "models": { "providers": { "anthropic": { "baseUrl": format!("http://{MODEL}") } } },
        "sandbox": { "level": "off" },
        "tools": { "exec": { "ask": "off" } },
    });
    let configuration = quoted(&configuration.to_string());
    root(
        &machine,
        &format!("printf %s {configuration} >/var/lib/openclaw/openclaw.json"),
    )?;
    // As README.md has it.
    root(
        &machine,
        "install -d -m 700 /etc/openclaw && printf sk-ant-of-the-machine \
           | systemd-creds encrypt --name=anthropic-api-key - /etc/openclaw/anthropic.cred \
         && mkdir -p /etc/systemd/system/openclaw-agent-runner.service.d \
         && printf '[Service]\\nLoadCredentialEncrypted=anthropic-api-key:/etc/openclaw/anthropic.cred\\n' \
           >/etc/systemd/system/openclaw-agent-runner.service.d/keys.conf \
         && systemctl daemon-reload && openclawctl --system start",
    )?;
    let said = ask(&machine, "good morning")?;
    ensure!(said.contains("good morning"), "{said}");
    let requests = root(
        &machine,
        &format!(
            "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://{MODEL}/_requests\").read().decode())'"
        ),
    )?;
    ensure!(requests.contains("sk-ant-of-the-machine"), "{requests}");
    root(
        &machine,
        "! grep -rqs sk-ant-of-the-machine /etc /var/lib /run/openclaw",
    )?;
    // A tool call of the model's, without a sandbox.
    let said = ask(
        &machine,
        r#"[[scenario:tool exec {"command": "id; cat /var/lib/openclaw/openclaw.json"}]]"#,
    )?;
    ensure!(
        said.contains("(openclaw-agent)") && said.contains("Permission denied"),
        "{said}"
    );
    Ok(())
}
