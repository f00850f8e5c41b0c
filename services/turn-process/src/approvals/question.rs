//! What a call wants to do, in the words that people are asked with.

use openclaw_tools::approval::effect::{self, TurnPaths};
use openclaw_tools::approval::{Ask, Form, Grant, Rules, Verdict};
use openclaw_tools::catalog::{is_command, is_known};
use serde_json::Value;

/// A call that is to be judged.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) call_id: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Value,
    /// Whether the tool is said to change nothing.
    pub(crate) only_reads: bool,
}

impl Question<'_> {
    /// What is to be done with it, and what allowing it for good grants.
    pub(super) fn judge(&self, rules: &Rules, ground: &TurnPaths) -> (Verdict, Grant) {
        if is_command(self.tool) {
            self.judge_command(rules, ground)
        } else {
            self.judge_call(rules, ground)
        }
    }

    fn judge_command(&self, rules: &Rules, ground: &TurnPaths) -> (Verdict, Grant) {
        let directory = self.arguments["workdir"].as_str().unwrap_or_default();
        let directory = ground.directory(directory).display().to_string();
        let command = &self.arguments["command"];
        let variables = self.arguments.get("env").and_then(Value::as_object);
        let variables = variables.cloned().unwrap_or_default();
        let grant = Grant::of_command(command, &variables, directory);
        (rules.judge(command, &grant, variables.is_empty()), grant)
    }

    fn judge_call(&self, rules: &Rules, ground: &TurnPaths) -> (Verdict, Grant) {
        let (concern, reached) = if effect::writes(self.tool) {
            self.writes(ground)
        } else {
            (self.concern(rules), String::new())
        };
        let grant = Grant {
            form: Form::Call,
            // What a link leads to may change; then it is another call.
            command: format!("{} {reached}{}", self.tool, self.arguments),
            directory: ground.directory("").display().to_string(),
        };
        (rules.judge_call(self.tool, &grant, concern), grant)
    }

    /// What there is to ask about a call that changes files, and which those
    /// are.
    fn writes(&self, ground: &TurnPaths) -> (Option<String>, String) {
        match ground.outside(self.tool, self.arguments) {
            Ok(outside) if outside.is_empty() => (None, String::new()),
            Ok(outside) => {
                let outside: Vec<_> = outside.iter().map(|it| it.display().to_string()).collect();
                let outside = outside.join(" ");
                let concern =
                    format!("it writes outside the workspace, or what git obeys in it: {outside}");
                (Some(concern), format!("{outside} "))
            }
            Err(why) => {
                let concern = format!("it cannot be told where it writes: {why}");
                (Some(concern), String::new())
            }
        }
    }

    /// What there is to ask about a call that neither runs a command nor
    /// changes a file.
    fn concern(&self, rules: &Rules) -> Option<String> {
        if rules.open_network && effect::fetches(self.tool) {
            return Some("it can tell any host anything".to_owned());
        }
        let is_known = is_known(self.tool);
        let only_reads = self.only_reads && rules.ask == Ask::OnMiss;
        (!is_known && !only_reads).then(|| "what it does is not known".to_owned())
    }
}
