//! A machine with things worth reaching, and the suite twice: for an ordinary user, and for root.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use system_tests::{Machine, Network, Outcome, patience};

use super::agents::{self, Agent, HOSTILE, MODEL, everyone};
use super::attempt::Backend;
use super::attempts::{FUNCTIONS, all};
use super::side::{ROOT, Side, USER};
use crate::stage::{PROGRAMS, SOURCE, bare_machine, quoted};

/// The longest that the tool waits for a command.
const TOOL_SECONDS: u32 = 600;
/// Programs put into the machine.
const HOSTILES: [(&str, &str); 4] = [
    ("claude", include_str!("programs/claude.pl")),
    ("codex", include_str!("programs/codex.pl")),
    ("server.pl", include_str!("programs/server.pl")),
    ("websocket.pl", include_str!("programs/websocket.pl")),
];
/// What other processes of the user hold.
const WITNESS: &str = include_str!("programs/witness.pl");
/// Answers on addresses that only this machine has, and knocks at ports.
const SERVERS: &str = include_str!("programs/servers.pl");
/// Uses up the numbers that a turn's own processes may get in a namespace of theirs, so that those of the daemons and of
/// the witness are nobody's there.
const BURN: &str =
    "perl -e 'do { $p = fork // die; exit unless $p; waitpid($p, 0) } until $p > 20000'";
/// Files worth reading.
const FIXTURES: &str = include_str!("programs/fixtures.sh");

pub(crate) struct Scene {
    machine: Machine,
}

impl Scene {
    pub(crate) fn set() -> Result<Self> {
        let scene = Self {
            machine: bare_machine(Network::Own)?,
        };
        scene.start_servers()?;
        scene.root(&format!(
            "systemd-run --quiet --unit=model {PROGRAMS}/scripted-model --listen {MODEL}"
        ))?;
        for side in [&USER, &ROOT] {
            scene.furnish(side)?;
            scene.configure(side, false)?;
        }
        scene.user(&format!("{SOURCE}/packaging/install --from {PROGRAMS}"))?;
        scene.user("systemctl --user start openclaw.target")?;
        scene.root(&ROOT.units())?;
        for side in [&USER, &ROOT] {
            scene.by(side, "$CTL message ESCAPE-TRANSCRIPT")?;
            scene.by(side, "until test -e $H/witness.ready; do :; done")?;
        }
        Ok(scene)
    }

    fn start_servers(&self) -> Result<()> {
        let hostile: Vec<String> = HOSTILES
            .iter()
            .map(|(name, text)| {
                format!("cat >{HOSTILE}/{name} <<'END'\n{text}\nEND\nchmod 755 {HOSTILE}/{name}")
            })
            .collect();
        self.root(&format!(
            "{BURN}\n\
             for a in 10.11.12.13 169.254.169.254; do ip address add $a/32 dev lo; done\n\
             ip netns add outside && ip link add toward type veth peer name there netns outside\n\
             ip address add 44.33.22.1/24 dev toward && ip link set toward up\n\
             ip -n outside address add 44.33.22.11/24 dev there && ip -n outside link set there up\n\
             printf '127.0.0.1 localhost\\n44.33.22.11 public.example\\n10.11.12.13 private.example\\n' >>/etc/hosts\n\
             mkdir -p {HOSTILE}\n{}\n\
             cat >/root/servers.pl <<'END'\n{SERVERS}\nEND\n\
             systemd-run --quiet --unit=servers perl /root/servers.pl 10.11.12.13:80 169.254.169.254:80 44.33.22.1:443\n\
             systemd-run --quiet --unit=outside ip netns exec outside perl /root/servers.pl 44.33.22.11:80 44.33.22.11:443 44.33.22.11:8080",
            hostile.join("\n")
        ))
        .map(drop)
    }

    /// Puts what is worth reaching into a side's home.
    pub(crate) fn put_fixtures(&self, side: &Side) -> Result<()> {
        self.by(side, FIXTURES).map(drop)
    }

    /// The same, and starts its witness.
    fn furnish(&self, side: &Side) -> Result<()> {
        self.put_fixtures(side)?;
        self.by(
            side,
            &format!(
                "cat >$H/witness.pl <<'END'\n{WITNESS}\nEND\n\
                 ${{RUN}} --quiet --setenv=H=$H --setenv=SIDE=$SIDE --unit=witness perl $H/witness.pl"
            ),
        )
        .map(drop)
    }

    /// Writes a side's configuration, with the hostile MCP servers or without.
    pub(crate) fn configure(&self, side: &Side, servers: bool) -> Result<()> {
        self.write(side, &agents::configuration(side.workspaces, servers))
    }

    /// Writes it for those who leave things behind.
    pub(crate) fn configure_planters(
        &self,
        side: &Side,
        ids: &[&str],
        backend: &str,
    ) -> Result<()> {
        self.write(side, &agents::planting(side.workspaces, ids, backend))
    }

    fn write(&self, side: &Side, file: &serde_json::Value) -> Result<()> {
        self.by(
            side,
            &format!("cat >$STATE/openclaw.json <<'END'\n{file}\nEND"),
        )
        .map(drop)
    }

    /// Writes it where the suite runs already.
    pub(crate) fn reconfigure(&self, side: &Side, servers: bool) -> Result<()> {
        self.configure(side, servers)?;
        self.root(BURN)?;
        self.by(side, side.restart).map(drop)
    }

    /// Names of the attempts, and whether each got out, when `agent` tries all of them.
    pub(crate) fn tried_by(
        &self,
        side: &Side,
        agent: &Agent,
    ) -> Result<BTreeMap<&'static str, bool>> {
        self.prepare(side, agent)?;
        let turn = self.try_shell(side, agent, "bash attempts.sh 2>/dev/null")?;
        let said = &turn.stdout;
        ensure!(
            turn.status == 0 && said.contains("tried all"),
            "{} of {} did not come to the end, but to {:?}: {}",
            agent.id,
            side.name,
            self.last_tried(side, agent)?,
            turn.describe()
        );
        let looked = all()
            .enumerate()
            .filter_map(|(index, attempt)| Some((index, attempt.outside?)));
        let lines: Vec<String> = looked.map(try_line).collect();
        let outside = format!("{}\n{TRY}\n{}", self.around(side, agent)?, lines.join("\n"));
        let found = self.by(side, &outside)?;
        let escaped = |index: usize, outside: bool| {
            let said = if outside { &found } else { said };
            said.contains(&format!("escaped {index};"))
        };
        Ok(all()
            .enumerate()
            .map(|(index, attempt)| (attempt.name, escaped(index, attempt.outside.is_some())))
            .collect())
    }

    /// The attempt in which a turn ended.
    fn last_tried(&self, side: &Side, agent: &Agent) -> Result<Option<&'static str>> {
        let last = format!("tail -n 1 {}/trying | cut -d' ' -f2", folder(side, agent));
        let index: usize = self.by(side, &last)?.parse()?;
        Ok(all().nth(index).map(|attempt| attempt.name))
    }

    /// Variables and functions of the attempts.
    fn around(&self, side: &Side, agent: &Agent) -> Result<String> {
        let witness = self.by(side, "cat $H/witness.ready")?;
        let number = everyone().position(|one| one.id == agent.id).unwrap_or(0);
        Ok(format!(
            "{}\nexport A={} WORK={}/{} PORT={} KEY=sk-system-\n\
             export {witness} GATEWAY={} RUNNER={}\n{FUNCTIONS}",
            side.variables(),
            agent.id,
            side.workspaces,
            agent.id,
            side.first_port + number,
            self.main_pid(side, "openclaw-gateway")?,
            self.main_pid(side, "openclaw-agent-runner")?,
        ))
    }

    /// Puts the attempts where the agent finds them, and its victims into the home.
    fn prepare(&self, side: &Side, agent: &Agent) -> Result<()> {
        let lines: Vec<String> = all()
            .enumerate()
            .map(|(index, attempt)| try_line((index, attempt.inside)))
            .collect();
        let script = format!(
            "{}\n{TOP}\n{TRY}\n{}\necho tried all\n",
            self.around(side, agent)?,
            lines.join("\n")
        );
        let folder = folder(side, agent);
        self.by(
            side,
            &format!(
                "v=$H/victims/{id}; mkdir -p $v/folder $STATE/agents/{id}/auth {work} {folder}\n\
                 for f in linked movable exchanged truncatable emptied removable plain timed locked; do echo x >$v/$f; done\n\
                 chmod 600 $v/*[a-z]; echo kept >$STATE/agents/{id}/auth/kept.txt; echo ESCAPE-WORKSPACE >{work}/notes\n\
                 cat >{folder}/attempts.sh <<'END-OF-ATTEMPTS'\n{script}\nEND-OF-ATTEMPTS\n\
                 chmod 755 {folder}/attempts.sh; {}",
                side.give,
                id = agent.id,
                work = format_args!("{}/{}", side.workspaces, agent.id),
            ),
        )
        .map(drop)
    }

    fn main_pid(&self, side: &Side, daemon: &str) -> Result<String> {
        // Started, if nothing has asked for it yet.
        self.by(side, "$CTL status >/dev/null")?;
        self.by(
            side,
            &format!("$SYSTEMCTL show -P MainPID {daemon}.service"),
        )
    }

    /// What comes of a message with which an agent runs a line of shell.
    pub(crate) fn try_shell(&self, side: &Side, agent: &Agent, command: &str) -> Result<Outcome> {
        let seconds = (100 * patience()).min(TOOL_SECONDS);
        let hex: String = command.bytes().map(|byte| format!("{byte:02x}")).collect();
        let text = match agent.backend {
            Backend::Native => {
                let arguments = serde_json::json!({"command": command, "timeout_seconds": seconds});
                format!("[[scenario:tool execute_shell {arguments}]]")
            }
            Backend::Server => {
                format!(
                    "[[scenario:tool {}__run {{\"hex\":\"{hex}\"}}]]",
                    server(agent)
                )
            }
            Backend::Offline => format!("/run {command}"),
            Backend::Claude | Backend::Codex => format!("[[run {hex}]]"),
        };
        self.attempt(
            side,
            &format!("$CTL message --agent {} {}", agent.id, quoted(&text)),
        )
    }

    /// What the answer of an agent of the native backend says.
    pub(crate) fn tool(&self, id: &str, command: &str) -> Result<String> {
        self.try_tool(id, command)?.text()
    }

    /// The same, where the turn itself may fail.
    pub(crate) fn try_tool(&self, id: &str, command: &str) -> Result<Outcome> {
        let agent = everyone()
            .find(|agent| agent.id == id)
            .copied()
            .unwrap_or(Agent {
                id: agents::GREEDY,
                ..agents::CONFINED[0]
            });
        self.try_shell(&USER, &agent, command)
    }

    /// Whether the machine's root can do it, without any sandbox.
    pub(crate) fn can_root(&self, line: &str) -> Result<bool> {
        let outcome = self.attempt(&ROOT, &format!("{FUNCTIONS}\n{line}"))?;
        Ok(outcome.status == 0)
    }

    /// What a line of shell does on a side, with its variables.
    pub(crate) fn attempt(&self, side: &Side, line: &str) -> Result<Outcome> {
        let line = format!("{}\n{line}", side.variables());
        self.machine.run(side.account, &line)
    }

    /// Standard output of one that has to succeed.
    pub(crate) fn by(&self, side: &Side, line: &str) -> Result<String> {
        self.attempt(side, line)?.text().context(side.name)
    }

    pub(crate) fn user(&self, line: &str) -> Result<String> {
        self.by(&USER, line)
    }

    pub(crate) fn root(&self, line: &str) -> Result<String> {
        self.by(&ROOT, line)
    }
}

/// Where the agent's lines are run.
fn folder(side: &Side, agent: &Agent) -> String {
    match agent.backend {
        // It does not see the workspace.
        Backend::Server => format!("$STATE/agents/{}/mcp/{}", agent.id, server(agent)),
        _ => format!("{}/{}", side.workspaces, agent.id),
    }
}

/// The MCP server that an agent's attempts are made in.
fn server(agent: &Agent) -> &'static str {
    match agent.reach {
        super::attempt::Reach::Full => "wide",
        _ => "plain",
    }
}

/// Says which lines succeeded. Those that might wait for ever end themselves; the last one begun is in `trying`.
const TRY: &str = "try() { printf '%s %s\\n' $EPOCHREALTIME $1 >>trying; \
    if (eval \"$2\") </dev/null >/dev/null 2>&1; then printf 'escaped %s; ' $1; fi; }";

/// Finds the agent's own program, which started this shell.
const TOP: &str = "t=$$; while [ $t -gt 1 ]; do case $(cat /proc/$t/comm) in openclaw-agent|claude|codex|server.pl) break;; esac; \
    t=$(sed -n 's/^PPid:.//p' /proc/$t/status); done; export TOP=$t";

fn try_line((index, line): (usize, &str)) -> String {
    format!("try {index} {}", quoted(line))
}
