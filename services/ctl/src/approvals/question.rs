//! An approval request as it is shown before the decision.

use openclaw_terminal::output;

/// Lines of a command that are counted: more of them may not be on the screen
/// any more when the decision is made.
const COUNTED: usize = 20;

/// A call that waits to be allowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) tool: &'a str,
    pub(crate) command: &'a str,
    pub(crate) cwd: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) session: &'a str,
    /// Who has it done, and where; empty: whoever is asked, or it is not known.
    pub(crate) origin: &'a str,
    /// Empty: it can be allowed this time only.
    pub(crate) form: &'a str,
}

impl Question<'_> {
    /// Whether it can be allowed from now on.
    pub(crate) fn can_be_granted(&self) -> bool {
        !self.form.is_empty()
    }

    /// Who wants to do what, where and why it is asked about: one line.
    pub(crate) fn heading(&self) -> String {
        let named = |name: &str, value: &str| match value {
            "" => String::new(),
            value => format!("{name} {}", output::line(value)),
        };
        let facts = [
            output::line(self.tool),
            named(" in", self.cwd),
            named(", for", self.session),
            named(", asked by", self.origin),
            named(";", self.reason),
        ];
        facts.concat()
    }

    /// All of it, each line behind `indent`. The lines of the command have a
    /// mark before them, so that none passes for one of ours.
    pub(crate) fn text(&self, indent: &str) -> String {
        let mut text = format!("{indent}{}\n", self.heading());
        text.push_str(&self.command(indent));
        text.push_str(&format!("{indent}{}\n", self.grants()));
        text
    }

    /// The command.
    pub(crate) fn command(&self, indent: &str) -> String {
        let command = output::block(self.command);
        let lines = command.split('\n');
        let mut text: String = lines.map(|line| format!("{indent}│ {line}\n")).collect();
        let count = command.split('\n').count();
        if count > COUNTED {
            text.push_str(&format!("{indent}({count} lines)\n"));
        }
        text
    }

    /// What "always" would allow.
    pub(crate) fn grants(&self) -> String {
        let place = match self.cwd {
            "" => "the workspace".to_owned(),
            cwd => output::line(cwd),
        };
        if self.can_be_granted() {
            format!("always: exactly this, word for word, in {place}")
        } else {
            "it is not shown whole, and can be allowed this time only".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_end_in_a_command_is_seen() {
        let question = Question {
            tool: "execute_shell",
            command: "ls # list\nrm -rf x",
            cwd: "/ws\u{1b}]52;c;eA==\u{7}",
            reason: "rm may do more than read",
            session: "agent:main:main",
            origin: "\"P\u{202e}8\" (888) in the group \"G\" (-100)",
            form: "line",
        };
        let expected = "  execute_shell in /ws\\x1b]52;c;eA==\\x07, for agent:main:main, asked by \"P\\u{202e}8\" (888) in the group \"G\" (-100); rm may do more than read
  │ ls # list⏎
  │ rm -rf x
  always: exactly this, word for word, in /ws\\x1b]52;c;eA==\\x07
";
        assert_eq!(question.text("  "), expected);
        let long = Question {
            command: &"x\n".repeat(100),
            form: "",
            ..question
        };
        let text = long.text("");
        assert!(
            text.contains("(101 lines)") && text.contains("this time only"),
            "{text}"
        );
    }
}
