//! Which commands run at once and which wait until somebody allows them.
//!
//! The decision is made outside the sandbox, from the text of the call alone.
//! In doubt a command waits: everything that is not understood is a miss.

mod command;
mod reading;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy::glob;

use command::{Word, Words};

/// When somebody is asked (`tools.exec.ask`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// Never.
    Off,
    /// When the command only reads, or is listed, it runs; otherwise somebody
    /// is asked.
    OnMiss,
    /// Always.
    Always,
}

impl Ask {
    /// As it is written in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::OnMiss => "on-miss",
            Self::Always => "always",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Off, Self::OnMiss, Self::Always]
            .into_iter()
            .find(|ask| ask.name() == name)
    }
}

/// What commands are judged by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// When somebody is asked.
    pub ask: Ask,
    /// Patterns of commands that may run (`tools.exec.allowlist`): a simple
    /// command, words separated by one space, `*` for anything.
    pub allowlist: Vec<String>,
    /// Commands that somebody allowed for good, word for word.
    pub granted: Vec<String>,
}

/// What is to be done with a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Run,
    /// Somebody is asked, for this reason.
    Ask(String),
}

impl Rules {
    /// Judges a command as the tool was given it: a line for the shell, or a
    /// list of words. `plain` says that nothing else about the call matters;
    /// a changed environment, for one, does.
    #[must_use]
    pub fn judge(&self, command: &Value, plain: bool) -> Verdict {
        match self.ask {
            Ask::Off => return Verdict::Run,
            Ask::Always => return Verdict::Ask("every command is asked about".to_owned()),
            Ask::OnMiss => {}
        }
        let text = shown(command);
        if self.granted.contains(&text) && plain {
            return Verdict::Run;
        }
        if !plain {
            return Verdict::Ask("it changes the environment of the command".to_owned());
        }
        match self.miss(command) {
            None => Verdict::Run,
            Some(why) => Verdict::Ask(why),
        }
    }

    /// Judges a call of `tool` that runs no command, `shown` as people see it:
    /// one of a tool that is not known may do anything. It runs when the tool
    /// is listed, or the call was allowed for good.
    #[must_use]
    pub fn judge_other(&self, tool: &str, shown: &str, is_known: bool) -> Verdict {
        let listed = || {
            let granted = self.granted.iter().any(|granted| granted == shown);
            granted || self.allowlist.iter().any(|pattern| glob(pattern, tool))
        };
        match self.ask {
            Ask::Off => Verdict::Run,
            _ if is_known => Verdict::Run,
            Ask::OnMiss if listed() => Verdict::Run,
            _ => Verdict::Ask("what it does is not known".to_owned()),
        }
    }

    /// Why the command is not among those that run at once.
    fn miss(&self, command: &Value) -> Option<String> {
        let commands = match command {
            Value::String(line) => match command::parse(line) {
                Ok(commands) => commands,
                Err(why) => return Some(why.to_string()),
            },
            Value::Array(words) => {
                let plain = |word: &Value| Word {
                    text: word.as_str().unwrap_or_default().to_owned(),
                    is_pattern: false,
                };
                vec![words.iter().map(plain).collect::<Words>()]
            }
            _ => return Some("it is no command".to_owned()),
        };
        commands.iter().find_map(|words| {
            let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            let line = texts.join(" ");
            let listed = self.allowlist.iter().any(|pattern| glob(pattern, &line));
            match listed {
                true => None,
                false => reading::refuses(words),
            }
        })
    }
}

/// A command as people see it: words that need it are quoted.
#[must_use]
pub fn shown(command: &Value) -> String {
    match command {
        Value::String(line) => line.clone(),
        Value::Array(words) => {
            let words: Vec<String> = words
                .iter()
                .map(|word| quoted(word.as_str().unwrap_or_default()))
                .collect();
            words.join(" ")
        }
        other => other.to_string(),
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(allowlist: &[&str], granted: &[&str]) -> Rules {
        let owned = |list: &[&str]| list.iter().map(|entry| (*entry).to_owned()).collect();
        Rules {
            ask: Ask::OnMiss,
            allowlist: owned(allowlist),
            granted: owned(granted),
        }
    }

    fn runs(rules: &Rules, command: &str) -> bool {
        rules.judge(&json!(command), true) == Verdict::Run
    }

    #[test]
    fn what_only_reads_runs() {
        let rules = rules(&[], &[]);
        for command in [
            "ls -la",
            "cat notes.md | grep -n todo | head -5",
            "cd src && wc -l *.rs; pwd",
            "find . -name '*.md' -newer a",
            "grep 'a > b' file || echo none",
            "sort -u list | uniq -c",
            "ls # what is here",
            "cat 'a;b'",
        ] {
            assert!(runs(&rules, command), "{command}");
        }
    }

    #[test]
    fn whatever_could_change_something_waits() {
        let rules = rules(&[], &[]);
        for command in [
            "rm a",
            "test -v 'a[$(rm b)]'",
            "printf -v PATH /tmp",
            "ls > a",
            "ls >> a",
            "cat <(rm a)",
            "echo $(rm a)",
            "echo `rm a`",
            "echo \"$(rm a)\"",
            "echo $HOME",
            "ls; rm a",
            "ls\nrm a",
            "ls & rm a",
            "find . -delete",
            "find . -exec rm {} ;",
            "find . -fprint a",
            "sort -o a b",
            "sort -oa b",
            "sort --output=a b",
            "sort --outp a b",
            "sort --compress-program=sh a",
            "uniq a b",
            "PATH=/tmp ls",
            "/tmp/ls",
            "./ls",
            "l\\\ns",
            "git status",
            "env rm a",
            "xargs rm",
            "date -s now",
            "tree -o a",
            "rg --pre sh x",
            "(ls)",
            "{ ls; }",
            "if true; then ls; fi",
            "! ls",
            "cat a | tee b",
            "echo {a,b}",
            "ls 'unclosed",
            "",
            "sed -i s/a/b/ c",
            "awk 'BEGIN{system(\"rm a\")}'",
            "ls *",
        ] {
            let judged = rules.judge(&json!(command), true);
            let expected = command == "ls *";
            assert_eq!(judged == Verdict::Run, expected, "{command}: {judged:?}");
        }
    }

    #[test]
    fn lists_and_grants_add_to_it() {
        let rules = rules(&["cargo *", "make"], &["rm -r target; ls"]);
        assert!(runs(&rules, "cargo test --workspace"));
        assert!(runs(&rules, "cargo build && make"));
        assert!(!runs(&rules, "cargo build && make install"));
        assert!(!runs(&rules, "cargo build > log"));
        assert!(runs(&rules, "rm -r target; ls"));
        assert!(!runs(&rules, "rm -r target"));
        assert_eq!(rules.judge(&json!(["cargo", "fmt"]), true), Verdict::Run);
        assert!(matches!(rules.judge(&json!("ls"), false), Verdict::Ask(_)));
    }

    #[test]
    fn modes_hold_for_everything() {
        let with = |ask| Rules {
            ask,
            ..rules(&[], &["ls"])
        };
        assert_eq!(with(Ask::Off).judge(&json!("rm a"), false), Verdict::Run);
        assert!(matches!(
            with(Ask::Always).judge(&json!("ls"), true),
            Verdict::Ask(_)
        ));
    }

    #[test]
    fn words_are_shown_as_a_shell_would_take_them() {
        assert_eq!(
            shown(&json!(["echo", "it's", "a b", ""])),
            r"echo 'it'\''s' 'a b' ''"
        );
    }
}
