//! Ways out of a turn, tried by an agent with a shell.
//!
//! Every attempt is made twice, at level strict and with the sandbox off: what does not succeed without a sandbox
//! proves nothing about one.

mod attempts;
mod scene;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use anyhow::{Result, anyhow, ensure};
use system_tests::is_emulated;

use self::scene::{GREEDY, OPEN, STRICT, Scene};

/// What the suite promises to try at least.
const LEAST: usize = 40;

fn scene() -> Result<MutexGuard<'static, Scene>> {
    static SCENE: OnceLock<Result<Mutex<Scene>, String>> = OnceLock::new();
    let scene = SCENE
        .get_or_init(|| {
            Scene::set()
                .map(Mutex::new)
                .map_err(|error| format!("{error:#}"))
        })
        .as_ref()
        .map_err(|error| anyhow!("the scene is not set: {error}"))?;
    Ok(scene.lock().unwrap_or_else(PoisonError::into_inner))
}

fn names<'a>(all: &std::collections::BTreeMap<&'a str, bool>, wanted: bool) -> Vec<&'a str> {
    let those = all.iter().filter(|(_, got_out)| **got_out == wanted);
    those.map(|(name, _)| *name).collect()
}

#[test]
#[ignore = "boots a machine, needs root"]
fn nothing_escapes_and_everything_would() -> Result<()> {
    let scene = scene()?;
    let strict = scene.tried_by(STRICT)?;
    let open = scene.tried_by(OPEN)?;
    ensure!(strict.len() >= LEAST, "only {} attempts", strict.len());
    let (out, held) = (names(&strict, true), names(&open, false));
    ensure!(
        out.is_empty() && held.is_empty(),
        "got out at level strict: {out:?}; did not even without a sandbox: {held:?}"
    );
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn a_turn_does_not_fill_the_disk() -> Result<()> {
    const FILL: &str =
        "cd fill && for i in $(seq 400); do head -c 1M /dev/zero >$i || exit 0; sleep 0.01; done";
    let scene = scene()?;
    for agent in [STRICT, OPEN] {
        scene.user(&format!("mkdir -p ~/work/{agent}/fill"))?;
        // What stands ready for the next turn does not see what is mounted now.
        scene.tool(agent, "true")?;
        scene.root(&format!(
            "mount -t tmpfs -o size=200m,uid=1000,gid=1000 fill /home/claw/work/{agent}"
        ))?;
        scene.user(&format!("mkdir -p ~/work/{agent}/fill"))?;
        let outcome = scene.try_tool(agent, FILL)?;
        let free = scene.user(&format!("df --output=avail -k ~/work/{agent} | tail -1"))?;
        scene.root(&format!("umount -l /home/claw/work/{agent}"))?;
        let free: u64 = free.trim().parse()?;
        match agent {
            STRICT => {
                ensure!(free > 1024, "{free} KiB are left: {outcome:?}");
                ensure!(outcome.stderr.contains("used up the disk"), "{outcome:?}");
            }
            _ => ensure!(free < 1024, "{free} KiB are left: {outcome:?}"),
        }
    }
    Ok(())
}

/// Proves something only where the machine has cgroup v2 of its own: elsewhere nobody holds the unit to its memory.
#[test]
#[ignore = "boots a machine, needs root"]
fn a_turn_that_uses_too_much_memory_is_ended_and_told_so() -> Result<()> {
    const BOMB: &str = "perl -e '$x = \"x\" x (600 << 20); print length $x'";
    if !is_emulated() {
        return Ok(());
    }
    let scene = scene()?;
    let outcome = scene.try_tool(GREEDY, BOMB)?;
    ensure!(outcome.status != 0, "{}", outcome.describe());
    ensure!(outcome.stderr.contains("memory"), "{}", outcome.describe());
    let after = scene.tool(GREEDY, "echo alive")?;
    ensure!(after.contains("alive"), "the next turn: {after}");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn endless_output_ends() -> Result<()> {
    /// The answer repeats what the tool said.
    const MOST: usize = 256 * 1024;
    let scene = scene()?;
    let said = scene.tool(STRICT, "timeout 3 yes")?;
    ensure!(said.contains("y\ny\ny\n"), "nothing was put out: {said}");
    ensure!(said.len() < MOST, "{} bytes were kept", said.len());
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn a_list_of_hosts_is_a_list() -> Result<()> {
    let scene = scene()?;
    let tunnel = |target: &str| {
        format!(
            "perl -MSocket -MMIME::Base64 -e '1' 2>/dev/null; perl -MSocket -e '\
             my ($u, $h, $p) = $ENV{{https_proxy}} =~ m{{//(.*)@(.*):(\\d+)}}; \
             my $b = pack(\"u\", $u); $b =~ s/^.//mg; $b =~ tr|` -_|AA-Za-z0-9+/|; $b =~ s/\\n//g; \
             my $n = (3 - length($u) % 3) % 3; substr($b, -$n) = \"=\" x $n if $n; \
             socket(S, PF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($p, inet_aton($h))) or die $!; \
             syswrite S, \"CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\nProxy-Authorization: Basic $b\\r\\n\\r\\n\"; \
             while (sysread(S, my $x, 4096)) {{ print $x; last if $x =~ /outside|sandbox|refused|resolved/ }}'"
        )
    };
    for (target, words) in [
        ("public.example:443", "from outside"),
        ("private.example:443", "inside this machine or its networks"),
        ("localhost:80", "inside this machine or its networks"),
        ("other.example:443", "not among the hosts"),
        ("44.33.22.11:443", "not among the hosts"),
        ("169.254.169.254:80", "not among the hosts"),
        ("public.example:22", "not among the hosts"),
    ] {
        let said = scene.tool("listed", &tunnel(target))?;
        ensure!(said.contains(words), "{target}: {said}");
    }
    let direct = scene.tool(
        "listed",
        "(exec 3<>/dev/tcp/44.33.22.11/80) && echo REACHED; echo done",
    )?;
    ensure!(
        !direct.contains("REACHED") && direct.contains("done"),
        "{direct}"
    );
    Ok(())
}
