//! The question to people about a call.

use std::path::Path;

use openclaw_tools::approval::effect::{self, TurnPaths};
use openclaw_tools::approval::{Ask, Form, Grant, Rules, Verdict, only_once};
use openclaw_tools::catalog::{is_command, is_known};
use serde_json::Value;

use super::behind::Behind;

/// Why nothing is allowed for good where each call is asked about.
const ASKED_EACH_TIME: &str = "each command is asked about here (tools.exec.ask is always)";

/// A call that is to be judged.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) call_id: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Value,
    /// Whether the tool is said to change nothing.
    pub(crate) only_reads: bool,
    /// Who answers it in the agent's place and what that may reach, which an agent's own
    /// confinement does not say; empty: nobody else.
    pub(crate) reach: String,
}

/// A call about which somebody is asked, kept until they decide.
#[derive(Debug)]
pub(super) struct Asked {
    tool: String,
    arguments: Value,
    only_reads: bool,
    reach: String,
}

impl Asked {
    /// The verdict on it now: where its words lead may have changed meanwhile.
    pub(super) fn judge(&self, rules: &Rules, ground: &TurnPaths) -> Judgement {
        let question = Question {
            call_id: "",
            tool: &self.tool,
            arguments: &self.arguments,
            only_reads: self.only_reads,
            reach: self.reach.clone(),
        };
        question.judge(rules, ground)
    }
}

impl From<&Question<'_>> for Asked {
    fn from(question: &Question<'_>) -> Self {
        Self {
            tool: question.tool.to_owned(),
            arguments: question.arguments.clone(),
            only_reads: question.only_reads,
            reach: question.reach.clone(),
        }
    }
}

/// The verdict on a call.
#[derive(Debug)]
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    /// The grant, if it is allowed for good.
    pub(super) grant: Grant,
    /// Why that cannot be done; `None`: it can.
    pub(super) only_once: Option<String>,
}

impl Question<'_> {
    /// The verdict on it, and the grant if it is allowed for good.
    pub(super) fn judge(&self, rules: &Rules, ground: &TurnPaths) -> Judgement {
        let (verdict, grant, only_once) = if is_command(self.tool) {
            self.judge_command(rules, ground)
        } else {
            self.judge_call(rules, ground)
        };
        let is_useless = rules.ask == Ask::Always;
        Judgement {
            verdict,
            grant,
            only_once: only_once.or_else(|| is_useless.then(|| ASKED_EACH_TIME.to_owned())),
        }
    }

    /// The files that a command leads to. There are none for which only its words count.
    pub(super) fn behind(&self, judgement: &Judgement) -> Result<Option<Behind>, String> {
        let counts = is_command(self.tool) && judgement.only_once.is_some();
        let directory = Path::new(&judgement.grant.directory);
        let behind = counts.then(|| Behind::of(&self.arguments["command"], directory));
        behind.transpose()
    }

    fn judge_command(&self, rules: &Rules, ground: &TurnPaths) -> (Verdict, Grant, Option<String>) {
        let directory = self.arguments["workdir"].as_str().unwrap_or_default();
        let directory = ground.directory(directory).display().to_string();
        let command = &self.arguments["command"];
        let variables = self.arguments.get("env").and_then(Value::as_object);
        let variables = variables.cloned().unwrap_or_default();
        let only_once = if variables.is_empty() {
            only_once(command, Path::new(&directory))
        } else {
            Some("it changes the environment that it runs in".to_owned())
        };
        let grant = Grant::of_command(command, &variables, directory);
        let verdict = rules.judge(command, &grant, variables.is_empty());
        (verdict, grant, only_once)
    }

    fn judge_call(&self, rules: &Rules, ground: &TurnPaths) -> (Verdict, Grant, Option<String>) {
        let (concern, reached) = if effect::writes(self.tool) {
            self.writes(ground)
        } else {
            (self.concern(rules), Some(String::new()))
        };
        // Another time it may write anywhere else.
        let only_once = reached.is_none().then(|| concern.clone()).flatten();
        let reached = reached.unwrap_or_default();
        let grant = Grant {
            form: Form::Call,
            // What a link leads to may change; then it is another call.
            // So is one to somebody who can do something else by now.
            command: format!("{} {reached}{}{}", self.tool, self.arguments, self.by()),
            directory: ground.directory("").display().to_string(),
        };
        // What was granted before this was looked at does not hold either.
        let verdict = match (&only_once, rules.ask) {
            (Some(concern), Ask::OnMiss) if rules.granted.contains(&grant) => {
                rules.asks(concern.clone())
            }
            _ => rules.judge_call(self.tool, &grant, concern),
        };
        (verdict, grant, only_once)
    }

    /// On a line of its own, which no argument has: JSON writes line ends out.
    fn by(&self) -> String {
        match self.reach.as_str() {
            "" => String::new(),
            reach => format!("\n{reach}"),
        }
    }

    /// What there is to ask about a call that changes files, and which those are; `None`: that
    /// cannot be told.
    fn writes(&self, ground: &TurnPaths) -> (Option<String>, Option<String>) {
        match ground.outside(self.tool, self.arguments) {
            Ok(outside) if outside.is_empty() => (None, Some(String::new())),
            Ok(outside) => {
                let outside: Vec<_> = outside.iter().map(|it| it.display().to_string()).collect();
                let outside = outside.join(" ");
                let concern =
                    format!("it writes outside the workspace, or what git obeys in it: {outside}");
                (Some(concern), Some(format!("{outside} ")))
            }
            Err(why) => {
                let concern = format!("it cannot be told where it writes: {why}");
                (Some(concern), None)
            }
        }
    }

    /// What there is to ask about a call that neither runs a command nor changes a file.
    fn concern(&self, rules: &Rules) -> Option<String> {
        if rules.open_network && effect::fetches(self.tool) {
            return Some("it can tell any host anything".to_owned());
        }
        let is_known = is_known(self.tool);
        let only_reads = self.only_reads && rules.ask == Ask::OnMiss;
        (!is_known && !only_reads).then(|| "what it does is not known".to_owned())
    }
}
