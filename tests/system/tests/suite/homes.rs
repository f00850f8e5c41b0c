//! The first answer where a home, a shell or a mount is not as usual.

use anyhow::{Result, ensure};
use system_tests::{Account, Machine, Network, Outcome};

use crate::stage::{PROGRAMS, SOURCE, bare_machine, quoted};

/// A shell of the guest's after `su -`, which has a session of logind's, and one that has none.
const SU: &str = "su - guest -c";
const BARE: &str = "setpriv --reuid=guest --regid=guest --init-groups env -i HOME=/home/guest PATH=/usr/bin:/bin bash -c";

/// A machine with a user `guest` whose home is `home`.
fn machine(home: &str) -> Result<Machine> {
    let machine = bare_machine(Network::Own)?;
    let home = quoted(home);
    let line = format!("useradd --create-home --home-dir {home} --shell /bin/bash guest");
    machine.run(Account::Root, &line)?.success()?;
    Ok(machine)
}

/// What the guest's quickstart does in `shell`, with mounts of its own that `before`, run by root, changes, and after the
/// guest's own `first`.
fn quickstart(machine: &Machine, shell: &str, before: &str, first: &str) -> Result<Outcome> {
    let line = format!(
        "{first}; {SOURCE}/packaging/quickstart --from {PROGRAMS} hello && ~/.local/bin/openclawctl message '/run echo ran it' \
         && ~/.local/bin/openclawctl doctor"
    );
    let line = format!("{before} && exec {shell} {}", quoted(&line));
    machine.run(
        Account::Root,
        &format!("unshare --mount bash -c {}", quoted(&line)),
    )
}

fn answered(outcome: Outcome) -> Result<String> {
    let said = outcome.success()?.stdout;
    for words in ["the strictest level here: strict\n", "Hello!", "ran it"] {
        ensure!(said.contains(words), "{words}: {said}");
    }
    Ok(said)
}

#[test]
#[ignore = "boots a machine, needs root"]
fn home_with_a_blank_in_its_path_answers_with_units() -> Result<()> {
    let machine = machine("/home/two words")?;
    let linger = "loginctl enable-linger guest && systemctl start user@$(id -u guest).service";
    machine.run(Account::Root, linger)?.success()?;
    let said = answered(quickstart(&machine, SU, "true", "unset XDG_RUNTIME_DIR")?)?;
    for words in [
        "systemctl --user stop openclaw.target",
        "export XDG_RUNTIME_DIR=/run/user/",
    ] {
        ensure!(said.contains(words), "{words}: {said}");
    }
    Ok(())
}

/// None has a user's manager: the daemons run without units.
#[test]
#[ignore = "boots a machine, needs root"]
fn unusual_mounts_and_modes_leave_the_strictest_level() -> Result<()> {
    const TEMPORARY: &str = "mount -t tmpfs -o noexec,nodev,nosuid,mode=1777 none /tmp";
    let machine = machine("/home/guest")?;
    let anew = "~/.local/bin/openclawctl run --stop; rm -rf ~/.openclaw ~/.local; umask";
    for (before, first) in [
        (TEMPORARY, format!("{anew} 022")),
        ("true", format!("chmod 777 ~; {anew} 000")),
        ("true", format!("chmod 700 ~; {anew} 077")),
    ] {
        answered(quickstart(&machine, BARE, before, &first)?)?;
    }
    let open = "find ~guest/.openclaw ~guest/.local -perm /022 -not -type l";
    let open = machine.run(Account::Root, open)?.text()?;
    ensure!(open.is_empty(), "others may write: {open}");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn homes_what_no_home_can_do_without_is_said_at_once() -> Result<()> {
    let machine = machine("/home/guest")?;
    let read_only = "mount --bind ~guest ~guest && mount -o remount,bind,ro ~guest";
    for (before, words) in [
        (
            read_only,
            [
                "could not write /home/guest/.local/",
                "Read-only file system",
            ],
        ),
        (
            "mount -t tmpfs none /proc",
            ["Is /proc mounted?", "The suite ended at once"],
        ),
    ] {
        let refused = quickstart(&machine, BARE, before, "true")?;
        ensure!(refused.status == 1, "{}", refused.describe());
        for words in words {
            ensure!(refused.stderr.contains(words), "{}", refused.describe());
        }
    }
    Ok(())
}
