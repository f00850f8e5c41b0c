//! A machine with things worth reaching, and two agents: one at level strict, one without a sandbox.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use system_tests::{Account, Machine, Network, Outcome, patience};

use super::attempts::{ALL, FUNCTIONS};
use crate::stage::{KEY, PROGRAMS, SOURCE, bare_machine, quoted};

/// Agents, each with a workspace of its own.
pub(crate) const STRICT: &str = "strict";
pub(crate) const OPEN: &str = "open";
/// May address more than its unit may use.
pub(crate) const GREEDY: &str = "greedy";
/// The longest that the tool waits for a command.
const TOOL_SECONDS: u32 = 600;
/// Where the scripted model listens in the machine.
const MODEL: &str = "127.0.0.1:18999";

/// What other processes of the user hold: an open file, a folder, an abstract socket, a segment of shared memory.
const WITNESS: &str = r#"
chdir $ENV{HOME}; use Socket; $| = 1;
open(STDIN, "<", "$ENV{HOME}/.ssh/id_ed25519") or die;
socket(S, PF_UNIX, SOCK_STREAM, 0) && bind(S, pack_sockaddr_un("\0escape-witness")) && listen(S, 99) or die;
my $segment = shmget(7, 4096, 01666) // die;
open(F, ">", "$ENV{HOME}/witness") or die; print F "WITNESS=$$ SEGMENT=$segment\n"; close F;
rename "$ENV{HOME}/witness", "$ENV{HOME}/witness.ready";
sleep 10000;
"#;

/// Answers on addresses that only this machine has.
const SERVERS: &str = r#"
use Socket; my @all;
for (["10.11.12.13", 80], ["169.254.169.254", 80], ["44.33.22.11", 80], ["44.33.22.11", 443]) {
    my $s; socket($s, PF_INET, SOCK_STREAM, 0) && setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1)
        && bind($s, pack_sockaddr_in($$_[1], inet_aton($$_[0]))) && listen($s, 99) or die "$$_[0]: $!";
    push @all, $s;
}
for my $s (@all) { if (!fork) { while (accept(my $c, $s)) { syswrite $c, "from outside\n"; close $c } exit } }
print "up\n"; sleep 10000;
"#;

pub(crate) struct Scene {
    machine: Machine,
}

impl Scene {
    pub(crate) fn set() -> Result<Self> {
        let scene = Self {
            machine: bare_machine(Network::Own)?,
        };
        scene.start_servers()?;
        scene.user(&format!(
            "umask 077; mkdir -p ~/.ssh ~/.openclaw/agents/main/agent ~/.config/openclaw\n\
             echo ESCAPE-SSH >~/.ssh/id_ed25519\n\
             echo '{}' >~/.openclaw/agents/main/agent/auth-profiles.json\n\
             echo ANTHROPIC_API_KEY={KEY} >~/.config/openclaw/env\n\
             cat >~/witness.pl <<'END'\n{WITNESS}\nEND\n\
             cat >~/.openclaw/openclaw.json <<'END'\n{}\nEND\n\
             systemd-run --user --quiet --unit=witness perl ~/witness.pl\n\
             systemd-run --user --quiet --unit=model {PROGRAMS}/scripted-model --listen {MODEL}",
            auth_profiles(),
            configuration()
        ))?;
        scene.user(&format!("{SOURCE}/packaging/install --from {PROGRAMS}"))?;
        scene.user("systemctl --user start openclaw.target")?;
        scene.user("openclawctl message ESCAPE-TRANSCRIPT")?;
        scene.user("until test -e ~/witness.ready; do :; done")?;
        Ok(scene)
    }

    fn start_servers(&self) -> Result<()> {
        self.root(&format!(
            "for a in 10.11.12.13 169.254.169.254 44.33.22.11; do ip address add $a/32 dev lo; done\n\
             printf '127.0.0.1 localhost\\n44.33.22.11 public.example\\n10.11.12.13 private.example\\n' >>/etc/hosts\n\
             cat >/root/servers.pl <<'END'\n{SERVERS}\nEND\n\
             systemd-run --quiet --unit=servers perl /root/servers.pl"
        ))?;
        Ok(())
    }

    /// Names of the attempts, and whether each got out, when `agent` tries all of them.
    pub(crate) fn tried_by(&self, agent: &str) -> Result<BTreeMap<&'static str, bool>> {
        self.prepare(agent)?;
        let said = self.tool(agent, "bash attempts.sh 2>/dev/null")?;
        ensure!(
            said.contains("tried all"),
            "{agent} did not come to the end: {said}"
        );
        ALL.iter()
            .enumerate()
            .map(|(index, attempt)| {
                let got_out = match attempt.outside {
                    Some(line) => self.attempt(line)?.status == 0,
                    None => said.contains(&format!("escaped {index};")),
                };
                Ok((attempt.name, got_out))
            })
            .collect()
    }

    /// Puts everything back that a former turn changed, and the attempts into the agent's workspace.
    fn prepare(&self, agent: &str) -> Result<()> {
        let lines: Vec<String> = ALL
            .iter()
            .enumerate()
            .map(|(index, attempt)| format!("try {index} {}", quoted(attempt.inside)))
            .collect();
        let witness = self.user("cat ~/witness.ready")?;
        let script = format!(
            "export H=/home/claw R=/run/user/$(id -u) KEY=sk-system-\n\
             export {witness}\n\
             export GATEWAY={} RUNNER={}\n{FUNCTIONS}\n\
             try() {{ if timeout {} bash -c \"$2\" </dev/null >/dev/null 2>&1; then printf 'escaped %s; ' $1; fi; }}\n\
             {}\necho tried all\n",
            self.main_pid("openclaw-gateway")?,
            self.main_pid("openclaw-agent-runner")?,
            20 * patience(),
            lines.join("\n")
        );
        self.user(&format!(
            "rm -rf ~/escape-* /tmp/escape-* /var/tmp/escape-* /dev/shm/escape-* ~/.local/bin/escape-* ~/.openclaw/escape-* \
             ~/.config/systemd/user/escape.service\n\
             sed -i '/# escape/d' ~/.bashrc; pkill -x sleep\n\
             cd ~ && for f in victim movable truncatable removable; do rm -f $f; echo x >$f; chmod 600 $f; done\n\
             mkdir -p ~/work/{agent} && cd ~/work/{agent} && cat >attempts.sh <<'END-OF-ATTEMPTS'\n{script}\nEND-OF-ATTEMPTS"
        ))
        .map(drop)
    }

    fn main_pid(&self, daemon: &str) -> Result<String> {
        // Started, if nothing has asked for it yet.
        self.user("openclawctl status >/dev/null")?;
        self.user(&format!(
            "systemctl --user show -P MainPID {daemon}.service"
        ))
    }

    /// What the answer says when the agent runs a line of shell.
    pub(crate) fn tool(&self, agent: &str, command: &str) -> Result<String> {
        let outcome = self.try_tool(agent, command)?;
        outcome.text()
    }

    /// The same, where the turn itself may fail.
    pub(crate) fn try_tool(&self, agent: &str, command: &str) -> Result<Outcome> {
        let seconds = (100 * patience()).min(TOOL_SECONDS);
        let arguments = serde_json::json!({"command": command, "timeout_seconds": seconds});
        let text = format!("[[scenario:tool execute_shell {arguments}]]");
        self.attempt(&format!(
            "openclawctl message --agent {agent} {}",
            quoted(&text)
        ))
    }

    pub(crate) fn attempt(&self, line: &str) -> Result<Outcome> {
        self.machine.run(Account::Claw, line)
    }

    pub(crate) fn user(&self, line: &str) -> Result<String> {
        self.attempt(line)?.text()
    }

    pub(crate) fn root(&self, line: &str) -> Result<String> {
        self.machine
            .run(Account::Root, line)?
            .text()
            .context("as root")
    }
}

fn auth_profiles() -> serde_json::Value {
    serde_json::json!({"version": 1, "profiles": {
        "openai:default": {"type": "api_key", "provider": "openai", "key": "ESCAPE-AUTH"}
    }})
}

/// The open agent has no limit that matters, so that it is the strict one's limits that hold.
fn configuration() -> serde_json::Value {
    let agent = |id: &str, sandbox: serde_json::Value, limits: serde_json::Value| {
        serde_json::json!({
            "id": id, "backend": "native", "model": "anthropic/claude-scripted",
            "workspace": format!("/home/claw/work/{id}"), "sandbox": sandbox, "limits": limits,
            "tools": {"exec": {"ask": "off"}},
        })
    };
    let narrow = serde_json::json!({"processes": 64, "openFiles": 1024, "fileSizeMib": 8, "addressSpaceMib": 512});
    let wide = serde_json::json!({"processes": 100_000, "openFiles": 65_536, "fileSizeMib": 4096,
        "addressSpaceMib": 65_536, "tasksMax": 100_000, "memoryMax": "8G"});
    serde_json::json!({
        "agents": {
            "defaults": {"backend": "offline", "timeoutSeconds": 1200, "noOutputSeconds": 1200},
            "list": [
                agent(STRICT, serde_json::json!({}), narrow.clone()),
                agent(OPEN, serde_json::json!({"level": "off", "network": "full"}), wide),
                agent("listed", serde_json::json!({
                    "network": "allowlist", "hosts": ["public.example", "private.example", "localhost"],
                }), narrow),
                agent(GREEDY, serde_json::json!({}), serde_json::json!({"memoryMax": "200M", "addressSpaceMib": 4096})),
            ],
        },
        "gateway": {"auth": {"token": "ESCAPE-GATEWAY-0123456789abcdef0123456789abcdef"}},
        "models": {"providers": {"anthropic": {"baseUrl": format!("http://{MODEL}")}}},
    })
}
