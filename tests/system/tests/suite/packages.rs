//! The packages that packaging/build made, on machines of their own: `OPENCLAW_TESTBED_SUITE` says which Debian.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use system_tests::{Account, Machine, Network, Outcome};

use crate::stage::eventually;

/// Where the machine sees them.
const PACKAGES: &str = "/opt/openclaw-packages";
/// What everything that is installed may take, in the unit of Installed-Size: a little more than it does. A tenth of it
/// is the table of memory's search.
const LARGEST_KIB: u64 = 37_000_000 / 1024;
/// How long a client may wait more than usual while the package is replaced.
const GAP_MS: u64 = 1000;
/// The one .deb of this machine's architecture.
const DEB: &str = "$(ls /opt/openclaw-packages/openclaw_*_$(dpkg --print-architecture).deb)";
/// How many units the package has that a user's suite cannot do without: neither templates nor the slice, which systemd
/// makes up where it is missing.
const COUNTED: &str = "cd /usr/lib/systemd/user && ls openclaw*.target openclaw*.socket openclaw*[!@].service | wc -l";
/// Makes the same package with a later version, as `/tmp/later.deb`.
const LATER: &str = "rm -rf /tmp/later && dpkg-deb -R $(ls /opt/openclaw-packages/openclaw_*_$(dpkg --print-architecture).deb) \
     /tmp/later && sed -i 's/^Version: .*/Version: 9.0/' /tmp/later/DEBIAN/control && dpkg-deb -Znone -b /tmp/later /tmp/later.deb";

/// The folder of the packages, if there is one.
fn packages() -> Option<PathBuf> {
    let named = std::env::var_os("OPENCLAW_TESTBED_BUILT").map(PathBuf::from);
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/packages");
    let folder = named.unwrap_or_else(usual);
    folder.join("SHA256SUMS").exists().then_some(folder)
}

/// A machine that sees the packages; none where nobody built them, which takes minutes.
fn machine() -> Result<Option<Machine>> {
    let Some(folder) = packages() else {
        test_skip::skipped("packages: run packaging/build first");
        return Ok(None);
    };
    let folder = folder.canonicalize().context("where are the packages?")?;
    Machine::boot(Network::Own, &[(folder, PACKAGES)]).map(Some)
}

fn user(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Claw, line)?.text()
}

fn root(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Root, line)?.text()
}

fn install(machine: &Machine, package: &str) -> Result<Outcome> {
    let line = format!("DEBIAN_FRONTEND=noninteractive apt-get install -y {package} 2>&1");
    machine.run(Account::Root, &line)?.success()
}

fn holds(text: &str, words: &[&str]) -> Result<()> {
    for words in words {
        ensure!(text.contains(words), "{words}: {text}");
    }
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn package_answers_an_ordinary_user_and_leaves_what_is_theirs() -> Result<()> {
    let Some(machine) = machine()? else {
        return Ok(());
    };
    install(&machine, DEB)?;
    let size = root(&machine, "dpkg-query -W -f '${Installed-Size}' openclaw")?;
    ensure!(size.parse::<u64>()? <= LARGEST_KIB, "{size} KiB");
    // Nobody has it who did not ask.
    let enabled = machine.run(
        Account::Root,
        "systemctl --global is-enabled openclaw.target",
    )?;
    assert_eq!(enabled.stdout.trim(), "disabled");
    root(
        &machine,
        "id openclaw-agent && journalctl --list-catalog | grep -qi openclaw",
    )?;
    let started = user(
        &machine,
        "systemctl --user enable --now openclaw.target && openclawctl message hello && openclawctl message '/run echo ran it'",
    )?;
    holds(&started, &["Hello!", "ran it"])?;
    for unit in ["gateway", "memory", "agent-runner"] {
        let shown = user(
            &machine,
            &format!(
                "systemctl --user show -P FragmentPath -P DropInPaths openclaw-{unit}.service"
            ),
        )?;
        holds(
            &shown,
            &["/usr/lib/systemd/user/openclaw-", "50-namespaces.conf"],
        )?;
    }
    let doctor = user(&machine, "openclawctl doctor")?;
    let units = root(&machine, COUNTED)?;
    let all_units = format!("all {units} are installed");
    holds(&doctor, &[&all_units, "all 6 are there"])?;

    root(&machine, "apt-get remove -y openclaw")?;
    let left = "pgrep -a -u claw -f '[o]penclaw-' ; ls /usr/lib/openclaw /usr/bin/openclawctl 2>/dev/null; true";
    assert_eq!(user(&machine, left)?, "");
    root(&machine, "apt-get purge -y openclaw")?;
    let system = "find /etc /usr /var/lib/systemd -name '*openclaw*' -not -path '/usr/share/doc/*' ; dpkg -l openclaw | grep -c ^ii; true";
    assert_eq!(root(&machine, system)?, "0");
    user(
        &machine,
        "test -s ~/.openclaw/state/ledger.sqlite && ls ~/.openclaw/agents/main/sessions/*.jsonl",
    )?;
    Ok(())
}

/// Asks all the time until `/tmp/done` is there; prints how long the longest answer took in milliseconds, and how many
/// there were.
const ASKING: &str = r#"
import os, subprocess, time
longest, count = 0, 0
while not os.path.exists("/tmp/done"):
    begin = time.monotonic()
    said = subprocess.run(["openclawctl", "message", "--session", "other", "hello"], capture_output=True, text=True)
    assert said.returncode == 0, said
    longest, count = max(longest, time.monotonic() - begin), count + 1
print(int(longest * 1000), count)
"#;

/// The longest that a client that asks all the time waited while the package was replaced, in milliseconds.
fn longest_wait_during_an_upgrade(machine: &Machine) -> Result<u64> {
    root(machine, "rm -f /tmp/done")?;
    let asking = machine.start(Account::Claw, &format!("python3 -c '{ASKING}'"))?;
    root(machine, "dpkg -i /tmp/later.deb && touch /tmp/done")?;
    let asked = asking.wait_with_output()?;
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    let Some((longest, _)) = said.trim().split_once(' ') else {
        bail!("{said}{}", String::from_utf8_lossy(&asked.stderr));
    };
    Ok(longest.parse()?)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn package_is_upgraded_below_a_turn_that_runs() -> Result<()> {
    let Some(machine) = machine()? else {
        return Ok(());
    };
    install(&machine, DEB)?;
    root(&machine, LATER)?;
    user(
        &machine,
        "systemctl --user start openclaw.target && openclawctl message hello",
    )?;
    let pid = "systemctl --user show -P MainPID openclaw-gateway.service";
    let before = user(&machine, pid)?;
    let turn = machine.start(
        Account::Claw,
        "openclawctl message '/run sleep 40; echo it slept'",
    )?;
    eventually("the turn runs", || {
        Ok(machine.run(Account::Claw, "pgrep -x sleep")?.status == 0)
    })?;
    let longest = longest_wait_during_an_upgrade(&machine)?;
    println!("the longest message took {longest} ms");
    ensure!(longest <= GAP_MS, "{longest} ms");
    assert_eq!(
        user(&machine, "pgrep -c -x sleep")?,
        "1",
        "the turn goes on"
    );
    assert_ne!(user(&machine, pid)?, before, "the new daemon serves");
    let answered = turn.wait_with_output()?;
    holds(&String::from_utf8_lossy(&answered.stdout), &["it slept"])?;
    let longest = longest_wait_during_an_upgrade(&machine)?;
    println!("the longest message took {longest} ms");
    ensure!(longest <= GAP_MS, "{longest} ms");
    Ok(())
}

/// The units of a home come before those of a package.
#[test]
#[ignore = "boots a machine, needs root"]
fn package_takes_the_place_of_an_installation_in_the_home() -> Result<()> {
    let Some(machine) = machine()? else {
        return Ok(());
    };
    user(
        &machine,
        "mkdir t && tar -C t -xf /opt/openclaw-packages/openclaw-*-linux-$(uname -m).tar.gz && t/*/install \
         && systemctl --user enable --now openclaw.target && openclawctl message 'the first one'",
    )?;
    let said = install(&machine, DEB)?.stdout;
    holds(
        &said,
        &[
            "claw has an installation",
            "/usr/bin/openclawctl doctor --fix",
        ],
    )?;
    let doctor = user(&machine, "/usr/bin/openclawctl doctor; true")?;
    holds(&doctor, &["come before those of the package"])?;
    user(&machine, "/usr/bin/openclawctl doctor --fix")?;
    let left = user(
        &machine,
        "find .local .config -name '*openclaw*' -not -path '*.target.wants/*' -not -path '.config/openclaw*'; true",
    )?;
    assert_eq!(left, "");
    let now = user(
        &machine,
        "hash -r; command -v openclawctl && systemctl --user show -P FragmentPath openclaw-gateway.service \
         && systemctl --user is-enabled openclaw.target && openclawctl message 'the second one' \
         && openclawctl sessions show main",
    )?;
    holds(
        &now,
        &[
            "/usr/bin/openclawctl",
            "/usr/lib/systemd/user/openclaw-gateway.service",
            "enabled",
            "messages     4",
        ],
    )?;
    // The tarball takes back what it installed, too, and nothing of the package's.
    user(
        &machine,
        "t/*/install && t/*/uninstall && openclawctl version",
    )?;
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn package_of_an_older_suite_refuses_a_newer_state_in_words() -> Result<()> {
    let Some(machine) = machine()? else {
        return Ok(());
    };
    install(&machine, DEB)?;
    user(
        &machine,
        "systemctl --user start openclaw.target && openclawctl message hello && systemctl --user stop openclaw.target",
    )?;
    let newer = "python3 -c 'import sqlite3, os; sqlite3.connect(os.path.expanduser(\"~/.openclaw/state/ledger.sqlite\"))\
         .execute(\"PRAGMA user_version = 999\")'";
    user(&machine, newer)?;
    let refused = machine.run(
        Account::Claw,
        "systemctl --user start openclaw.target && openclawctl message hello",
    )?;
    ensure!(refused.status == 78, "{}", refused.describe());
    let words = [
        "newer than",
        "install the version of openclaw that wrote it",
    ];
    holds(&refused.describe(), &words)
}
