//! An approval request as it is shown before the decision.

use openclaw_terminal::{live, output, width};

/// Rows below a command that are its end's: what "always" would allow, and the prompt.
const BELOW: usize = 4;
/// Rows of a heading, and of a place or a reason, that are said again.
const AGAIN: usize = 3;

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
    /// Empty: it can be allowed this time only,
    pub(crate) form: &'a str,
    /// for this reason.
    pub(crate) only_once: &'a str,
    /// How confined it would run; empty: that is not known.
    pub(crate) terms: &'a str,
}

/// What somebody has before them when they decide.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl Screen {
    /// The terminal's.
    pub(crate) fn here() -> Self {
        let (columns, rows) = live::size();
        Self { columns, rows }
    }

    /// `text`, in so many rows.
    fn cut(self, text: &str, rows: usize) -> String {
        width::cut(text, (self.columns * rows).saturating_sub(rows))
    }
}

impl Question<'_> {
    /// Whether it can be allowed from now on: nobody has what is longer than the screen
    /// before them when they decide.
    pub(crate) fn can_be_granted(&self, screen: Screen) -> bool {
        !self.form.is_empty() && self.is_on(screen)
    }

    /// Whether all of it is seen when the decision is made.
    pub(crate) fn is_on(&self, screen: Screen) -> bool {
        self.rows(screen) + BELOW <= screen.rows
    }

    fn rows(&self, screen: Screen) -> usize {
        width::rows(
            &format!("{}\n{}", self.heading(), self.command(INDENT)),
            screen.columns,
        )
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

    /// All of it, each line behind `indent`.
    pub(crate) fn text(&self, indent: &str, screen: Screen) -> String {
        let mut text = format!("{indent}{}\n", self.heading());
        text.push_str(&self.command(indent));
        text.push_str(&self.foot(indent, screen));
        text
    }

    /// The lines of the command have a mark before them, so that none passes for one of ours.
    fn command(&self, indent: &str) -> String {
        let command = output::block(self.command);
        let lines = command.split('\n');
        lines.map(|line| format!("{indent}│ {line}\n")).collect()
    }

    /// What is to be seen beside the decision: what "always" would allow, and of what is
    /// longer than the screen how it begins.
    fn foot(&self, indent: &str, screen: Screen) -> String {
        let grants = screen.cut(&format!("{indent}{}", self.grants(screen)), AGAIN);
        if self.is_on(screen) {
            return format!("{grants}\n");
        }
        let rows = self.rows(screen);
        let again = self.again(indent, screen);
        format!("{indent}({rows} rows; it begins with)\n{again}{grants}\n")
    }

    /// How it begins, in a few rows.
    pub(crate) fn again(&self, indent: &str, screen: Screen) -> String {
        let command = self.command(indent);
        let first = command.lines().next().unwrap_or_default();
        let heading = format!("{indent}{}", self.heading());
        let (heading, first) = (screen.cut(&heading, AGAIN), screen.cut(first, 1));
        format!("{heading}\n{first}\n")
    }

    /// What "always" would allow.
    fn grants(&self, screen: Screen) -> String {
        let place = match self.cwd {
            "" => "the workspace".to_owned(),
            cwd => output::line(cwd),
        };
        if self.can_be_granted(screen) {
            let terms = match self.terms {
                "" => String::new(),
                terms => format!("at {}, or stricter, ", output::line(terms)),
            };
            return format!("always: exactly this, word for word, {terms}in {place}");
        }
        let why = match self.only_once {
            _ if !self.is_on(screen) => "it is longer than the screen".to_owned(),
            "" => "it is not shown whole".to_owned(),
            why => output::line(why),
        };
        format!("this time only: {why}")
    }
}

/// Before the lines of a command at a prompt.
pub(crate) const INDENT: &str = "  ";

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Screen = Screen {
        columns: 80,
        rows: 24,
    };

    fn question(command: &str) -> Question<'_> {
        Question {
            tool: "execute_shell",
            command,
            cwd: "/ws\u{1b}]52;c;eA==\u{7}",
            reason: "rm may do more than read",
            session: "agent:main:main",
            origin: "\"P\u{202e}8\" (888) in the group \"G\" (-100)",
            form: "line",
            only_once: "",
            terms: "sandbox level off",
        }
    }

    /// What the last rows of a terminal show of `text` above a prompt.
    fn seen(text: &str, screen: Screen) -> String {
        let rows: Vec<String> = text
            .lines()
            .flat_map(|line| {
                let all: Vec<char> = line.chars().collect();
                let rows = all.chunks(screen.columns).map(|it| it.iter().collect());
                rows.collect::<Vec<String>>()
            })
            .collect();
        rows[rows.len().saturating_sub(screen.rows - 1)..].join("\n")
    }

    #[test]
    fn line_end_in_a_command_is_seen() {
        let wide = Screen {
            columns: 200,
            rows: 24,
        };
        let expected = "  execute_shell in /ws\\x1b]52;c;eA==\\x07, for agent:main:main, asked by \"P\\u{202e}8\" (888) in the group \"G\" (-100); rm may do more than read
  │ ls # list⏎
  │ rm -rf x
  always: exactly this, word for word, at sandbox level off, or stricter, in /ws\\x1b]52;c;eA==\\x07
";
        assert_eq!(question("ls # list\nrm -rf x").text("  ", wide), expected);
        let once = Question {
            form: "",
            only_once: "make obeys files",
            ..question("make")
        };
        let text = once.text("", wide);
        assert!(text.contains("this time only: make obeys files"), "{text}");
    }

    #[test]
    fn question_what_begins_above_the_screen_is_said_again_beside_the_decision() {
        let words: Vec<String> = (0..600).map(|number| format!("step{number:04}")).collect();
        let filler = format!("touch pwned; : {}; ls", words.join(" "));
        let lines = format!("touch pwned\n{}", "x\n".repeat(100));
        let wide = format!("touch pwned; : {}", "日".repeat(900));
        for command in [&filler, &lines, &wide] {
            let question = question(command);
            let seen = seen(&question.text("  ", SCREEN), SCREEN);
            assert!(
                seen.contains(&format!("({} rows; it", question.rows(SCREEN))),
                "{seen}"
            );
            assert!(seen.contains("│ touch pwned"), "{seen}");
            assert!(seen.contains("  execute_shell in /ws"), "{seen}");
            assert!(
                seen.contains("this time only: it is longer than the screen"),
                "{seen}"
            );
            assert!(!question.can_be_granted(SCREEN));
        }
        let long = "x".repeat(1000);
        let headed = Question {
            cwd: &long,
            reason: &long,
            only_once: &long,
            ..question("touch pwned")
        };
        let seen = seen(&headed.text("  ", SCREEN), SCREEN);
        assert!(
            seen.contains("│ touch pwned") && seen.contains("execute_shell"),
            "{seen}"
        );
        assert!(question("touch a").can_be_granted(SCREEN));
        assert!(!question("touch a").text("", SCREEN).contains("rows"));
    }
}
