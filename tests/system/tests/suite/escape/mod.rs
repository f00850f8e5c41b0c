//! Ways out of a turn, tried by an agent with a shell: with every backend, level and network, for an ordinary user and
//! for root.
//!
//! Every attempt is also made with the sandbox off: what does not succeed without a sandbox proves nothing about one.

mod agents;
mod attempt;
mod attempts;
mod planted;
mod plants;
mod scene;
mod side;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, ensure};
use system_tests::is_emulated;

use self::agents::{Agent, CONFINED, FREE, GREEDY, OPEN, STRICT};
use self::attempt::{Backend, Gap};
use self::attempts::{FUNCTIONS, all};
use self::scene::Scene;
use self::side::{ROOT, Side, USER};

/// What the suite promises to try at least.
const LEAST: usize = 150;

/// Attempts against a limit that counts from what runs on the whole machine when a turn begins: where that becomes less
/// (another bomb, of an agent without a sandbox, ended meanwhile), they have that much room.
const BESIDE_OTHERS: &[&str] = &["fork bomb"];

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

/// What got out of one agent's turn.
struct Tried {
    side: &'static str,
    agent: &'static str,
    /// Against a promise.
    out: Vec<&'static str>,
    /// Where nothing is promised, with the reason.
    open: Vec<(&'static str, Gap)>,
    /// Where nothing is promised, but it was held.
    held: Vec<&'static str>,
}

impl Tried {
    fn new(side: &Side, agent: &Agent, abi: i32, results: &BTreeMap<&'static str, bool>) -> Self {
        let setting = agent.setting(side.is_root);
        let mut tried = Self {
            side: side.name,
            agent: agent.id,
            out: Vec::new(),
            open: Vec::new(),
            held: Vec::new(),
        };
        for attempt in all() {
            match (results[attempt.name], attempt.gap(&setting, abi)) {
                (true, None) => tried.out.push(attempt.name),
                (true, Some(gap)) => tried.open.push((attempt.name, gap)),
                (false, None) => {}
                (false, Some(_)) => tried.held.push(attempt.name),
            }
        }
        tried
    }

    /// A line for whoever reads the test's output.
    fn describe(&self) -> String {
        format!(
            "{}/{}: got out against a promise: {:?}; not promised: {:?} got out, {:?} did not",
            self.side, self.agent, self.out, self.open, self.held,
        )
    }
}

/// The version of Landlock, which says what level workspace can promise.
fn landlock(scene: &Scene) -> Result<i32> {
    Ok(scene
        .root("perl -e 'print syscall(444, 0, 0, 1)'")?
        .parse()?)
}

/// What `tried` comes to when nothing else runs, if all that got out may have got out because other things did.
fn tried_alone(scene: &Scene, tried: Tried, abi: i32) -> Result<Tried> {
    let may_be_others = |name: &&str| BESIDE_OTHERS.contains(name);
    if tried.out.is_empty() || !tried.out.iter().all(may_be_others) {
        return Ok(tried);
    }
    let side = [&USER, &ROOT]
        .into_iter()
        .find(|side| side.name == tried.side);
    let agent = CONFINED.iter().find(|agent| agent.id == tried.agent);
    let (Some(side), Some(agent)) = (side, agent) else {
        return Ok(tried);
    };
    // Also for what stands ready with limits of before.
    scene.reconfigure(side, agent.backend == Backend::Server)?;
    let again = Tried::new(side, agent, abi, &scene.tried_by(side, agent)?);
    tell(&again);
    Ok(again)
}

/// What is done for the user and for root at the same time: neither sees anything of the other.
fn on_both<T: Send>(work: impl Fn(&Side) -> Result<T> + Sync) -> Result<[T; 2]> {
    let (user, root) = std::thread::scope(|scope| {
        let user = scope.spawn(|| work(&USER));
        let root = work(&ROOT);
        (user.join(), root)
    });
    let user = user.map_err(|_| anyhow!("what is done for the user broke off"))?;
    Ok([user?, root?])
}

/// Seen at once with `--nocapture`.
#[expect(clippy::print_stdout, reason = "what a test found")]
fn tell(tried: &Tried) {
    println!("{}", tried.describe());
}

/// What every agent of a side comes to, and the names of the attempts that succeed without a sandbox.
fn tried_on(scene: &Scene, side: &Side, abi: i32) -> Result<(Vec<Tried>, BTreeSet<&'static str>)> {
    let (mut all_tried, mut proved) = (Vec::new(), BTreeSet::new());
    for servers in [false, true] {
        if servers {
            scene.reconfigure(side, true)?;
        }
        let those = |agent: &&Agent| (agent.backend == Backend::Server) == servers;
        for agent in FREE.iter().filter(those) {
            let results = scene.tried_by(side, agent)?;
            proved.extend(
                results
                    .into_iter()
                    .filter_map(|(name, out)| out.then_some(name)),
            );
        }
        for agent in CONFINED.iter().filter(those) {
            let tried = Tried::new(side, agent, abi, &scene.tried_by(side, agent)?);
            tell(&tried);
            all_tried.push(tried);
        }
    }
    scene.reconfigure(side, false)?;
    Ok((all_tried, proved))
}

#[test]
#[ignore = "boots a machine, needs root"]
fn escape_nothing_escapes_and_everything_would() -> Result<()> {
    let count = all().count();
    ensure!(count >= LEAST, "only {count} attempts");
    let scene = scene()?;
    let abi = landlock(&scene)?;
    let started = Instant::now();
    let (mut all_tried, mut proved) = (Vec::new(), BTreeSet::new());
    for (tried, succeeded) in on_both(|side| tried_on(&scene, side, abi))? {
        for tried in tried {
            all_tried.push(tried_alone(&scene, tried, abi)?);
        }
        proved.extend(succeeded);
    }
    let mut useless = Vec::new();
    for attempt in all().filter(|attempt| !proved.contains(attempt.name)) {
        if !attempt.optional || scene.can_root(attempt.inside)? {
            useless.push(attempt.name);
        }
    }
    println!(
        "{count} attempts of {} agents in {:.0} s",
        all_tried.len(),
        started.elapsed().as_secs_f64()
    );
    let escapes: Vec<String> = all_tried
        .iter()
        .filter(|tried| !tried.out.is_empty())
        .map(|tried| format!("{}/{}: {:?}", tried.side, tried.agent, tried.out))
        .collect();
    ensure!(
        escapes.is_empty() && useless.is_empty(),
        "got out: {escapes:#?}; did not even without a sandbox: {useless:?}"
    );
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn escape_nothing_that_is_left_behind_is_followed_or_obeyed() -> Result<()> {
    let scene = scene()?;
    let problems = on_both(|side| {
        let found = planted::planted_on(&scene, side)?;
        let named = found.into_iter();
        Ok(named
            .map(|problem| format!("{}: {problem}", side.name))
            .collect::<Vec<_>>())
    })?
    .concat();
    ensure!(problems.is_empty(), "{problems:#?}");
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn turn_does_not_fill_the_disk() -> Result<()> {
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
fn turn_that_uses_too_much_memory_is_ended_and_told_so() -> Result<()> {
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
fn list_of_hosts_is_a_list() -> Result<()> {
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

/// A network namespace of its own is the other machine.
#[test]
#[ignore = "boots a machine, needs root"]
fn server_with_the_whole_network_reaches_other_machines_and_not_this_one() -> Result<()> {
    let scene = scene()?;
    let agent = CONFINED.iter().find(|agent| agent.id == "server-wide");
    let agent = agent.context("no server has the whole network")?;
    scene.reconfigure(&USER, true)?;
    for (target, is_reached) in [
        ("44.33.22.11:443", true),
        ("public.example:80", true),
        // Public, and this machine's.
        ("44.33.22.1:443", false),
        ("10.11.12.13:80", false),
        ("private.example:80", false),
        ("169.254.169.254:80", false),
        ("localhost:18789", false),
    ] {
        let asked = format!("{FUNCTIONS}\nfetch {target} && echo reached || echo refused");
        let line = format!("bash 2>&1 <<'END'\n{asked}\nEND");
        let said = scene.try_shell(&USER, agent, &line)?.text()?;
        let expected = if is_reached { "reached" } else { "refused" };
        let why = || {
            scene
                .user("journalctl --user -n 30 -o cat --no-pager")
                .unwrap_or_default()
        };
        ensure!(said.contains(expected), "{target}: {said}\n{}", why());
    }
    scene.reconfigure(&USER, false)
}
