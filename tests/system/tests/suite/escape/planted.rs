//! What a hostile turn leaves behind, and what comes of it: the next turns of every backend and the user's own commands
//! go on, the user's files stay as they are byte for byte, and no value of the runner's environment and no secret
//! appears anywhere.

use anyhow::{Result, ensure};

use super::attempts::FUNCTIONS;
use super::plants::{GROUPS, Plant};
use super::scene::Scene;
use super::side::Side;
use crate::stage::quoted;

/// Who answers the turns after the hostile one.
const BACKENDS: [&str; 4] = [FIRST, "codex-cli", "native", "offline"];
/// Who answers the hostile turn. Its CLI stands ready for the next message, and has prepared the turn's folder for the
/// host's coming back to it.
const FIRST: &str = "claude-cli";
/// Waits until it has.
const STANDS_READY: &str = "until test -s $STATE/agents/$A/home/started; do sleep 0.05; done; rm $STATE/agents/$A/home/started";
/// How long one command of the user's may take; the slowest here takes some seconds.
const PATIENCE: u32 = 60;
/// What must not be found anywhere: values of the runner's environment, and secrets of the user's.
const SECRETS: &str =
    "sk-system-test|escape-marker-value|ESCAPE-(SSH|LOGIN|TOKEN|HISTORY|GATEWAY|ELSEWHERE)";

/// What is needed outside.
const TOOLS: &str = include_str!("programs/planted.sh");
/// What the user does between and after the turns. `$OUT` keeps all that is said.
const COMMANDS: [&str; 10] = [
    "$CTL status --verbose",
    "$CTL doctor",
    "$CTL turns --json",
    "$CTL sessions list --json",
    "$CTL memory search --agent $A needle",
    "$CTL memory search --agent $A FIXTURE",
    "$CTL sessions show agent:$A:main --transcript",
    "$CTL export --output $OUT/archive-$A.tar.gz",
    "$CTL approvals list",
    // The machine's own suite has no such socket here.
    "[ $SIDE = root ] || perl /opt/hostile/websocket.pl sessions.list '{}'",
];

/// Lays all plants, lets everybody go on, and looks at what came of it.
pub(crate) fn planted_on(scene: &Scene, side: &Side) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let tool = |line: &str| scene.by(side, &format!("{TOOLS}\n{line}"));
    tool("prepare")?;
    let before = tool("snapshot")?;
    scene.plant_with(side, FIRST)?;
    for (agent, plants) in GROUPS {
        let laid = scene.plant(side, agent, plants)?;
        problems.extend(laid);
    }
    for backend in BACKENDS {
        if backend != FIRST {
            scene.plant_with(side, backend)?;
        }
        if backend == FIRST {
            problems.extend(scene.goes_on(side, GROUPS[0].0, STANDS_READY)?);
        }
        for (agent, _) in GROUPS {
            // Twice: what the first one prepares, the second one finds.
            for text in ["hello needle", "and again"] {
                let line = format!("$CTL message --agent {agent} '{text}'");
                problems.extend(scene.goes_on(side, agent, &line)?);
            }
        }
    }
    for (agent, _) in GROUPS {
        for line in COMMANDS {
            problems.extend(scene.goes_on(side, agent, line)?);
        }
    }
    let after = tool("snapshot")?;
    let changed: Vec<&str> = after
        .lines()
        .filter(|line| !before.contains(line))
        .collect();
    let gone = before.lines().filter(|line| !after.contains(line)).count();
    if before != after {
        problems.push(format!(
            "the user's files: {gone} are not as they were, now {changed:?}"
        ));
    }
    let leaks = tool(&format!("leaks '{SECRETS}'"))?;
    problems.extend(leaks.lines().map(|line| format!("a secret is in {line}")));
    for (agent, plants) in GROUPS {
        problems.extend(scene.harmed(side, agent, plants)?);
    }
    scene.by(side, "rm -rf $OUT")?;
    // What the careless host took away.
    scene.put_fixtures(side)?;
    Ok(problems)
}

impl Scene {
    /// Has all agents that plant answered by `backend` from now on.
    fn plant_with(&self, side: &Side, backend: &str) -> Result<()> {
        let agents: Vec<&str> = GROUPS.iter().map(|(agent, _)| *agent).collect();
        self.configure_planters(side, &agents, backend)?;
        self.by(side, side.restart).map(drop)
    }

    /// Runs the lines in a turn; says which did not succeed.
    fn plant(&self, side: &Side, agent: &str, plants: &[Plant]) -> Result<Vec<String>> {
        let lines: Vec<String> = plants
            .iter()
            .enumerate()
            .map(|(index, plant)| {
                format!(
                    "(eval {}) >/dev/null 2>&1 || echo \"failed {index};\"",
                    quoted(plant.line)
                )
            })
            .collect();
        let script = format!(
            "{}\nexport A={agent}\n{}\necho planted all",
            side.variables(),
            lines.join("\n")
        );
        let hex: String = script.bytes().map(|byte| format!("{byte:02x}")).collect();
        let outcome = self.attempt(side, &format!("mkdir -p {work} $STATE/agents/{agent}/auth; {}\n$CTL message --agent {agent} '[[cost -1000000]] [[run {hex}]]'", side.give, work = format_args!("{}/{agent}", side.workspaces)))?;
        ensure!(
            outcome.stdout.contains("planted all"),
            "{}",
            outcome.describe()
        );
        Ok(plants
            .iter()
            .enumerate()
            .filter(|(index, _)| outcome.stdout.contains(&format!("failed {index};")))
            .map(|(_, plant)| format!("{}: could not be planted", plant.name))
            .collect())
    }

    /// Whether a command of the user's ends, in time; what it says is kept.
    fn goes_on(&self, side: &Side, agent: &str, line: &str) -> Result<Option<String>> {
        let outcome = self.attempt(
            side,
            &format!(
                "export A={agent}; timeout {PATIENCE} bash -c {} >>$OUT/said 2>>$OUT/complained",
                quoted(line)
            ),
        )?;
        let hangs = outcome.status == 124;
        Ok(hangs.then(|| format!("{agent}, {line}: hangs")))
    }

    /// Which plants did harm; and which do none even where a careless host obeys them.
    fn harmed(&self, side: &Side, agent: &str, plants: &[Plant]) -> Result<Vec<String>> {
        let around = format!(
            "{}\nexport A={agent} AH=$STATE/agents/{agent}/home WORK={}/{agent}\n{FUNCTIONS}\n{TOOLS}",
            side.variables(),
            side.workspaces
        );
        let mut lines = vec![around];
        for (index, plant) in plants.iter().enumerate() {
            lines.push(format!(
                "if (eval {}) >/dev/null 2>&1; then echo \"harm {index};\"; fi",
                quoted(plant.harm)
            ));
        }
        for (index, plant) in plants.iter().enumerate() {
            lines.push(format!(
                "(eval {}) >/dev/null 2>&1; if ! (eval {}) >/dev/null 2>&1; then echo \"useless {index};\"; fi",
                quoted(plant.careless),
                quoted(plant.harm)
            ));
        }
        let said = self.by(side, &lines.join("\n"))?;
        let of = |word: &str| -> Vec<String> {
            let hit = |index: &usize| said.contains(&format!("{word} {index};"));
            let names = (0..plants.len())
                .filter(hit)
                .map(|index| plants[index].name);
            names.map(|name| format!("{name}: {word}")).collect()
        };
        Ok([of("harm"), of("useless")].concat())
    }
}
