//! Which commands run at once and which wait until somebody allows them.
//!
//! The decision is made outside the sandbox, from the text of the call alone.
//! In doubt a command waits: everything that is not understood is a miss.

mod command;
pub mod effect;
#[cfg(test)]
mod hostile;
mod listed;
mod reading;
pub mod safe;
mod settled;
mod shown;
pub mod target;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use openclaw_policy::glob;

use safe::SafeBins;

pub use command::{NotSimple, Word, Words, parse};
pub use settled::only_once;
pub use shown::shown;
use shown::shown_with;

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
    /// command, words without quotation marks, `*` for anything.
    pub allowlist: Vec<String>,
    /// What somebody allowed for good.
    pub granted: Vec<Grant>,
    /// Programs that may run as filters of streams.
    pub safe_bins: SafeBins,
    /// Whether only what is listed or granted runs at once, and not also what
    /// only reads (`tools.exec.security`).
    pub only_listed: bool,
    /// Whether what somebody would be asked about is refused instead
    /// (`tools.exec.ask` is off where only what is listed runs).
    #[serde(default)]
    pub refuses: bool,
    /// Whether what runs here reaches every host of the network, so that
    /// fetching a page can tell anybody anything.
    pub open_network: bool,
}

/// What somebody allowed for good: word for word, in one directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// How the command is given.
    pub form: Form,
    /// The command as [`shown`] has it, whole.
    pub command: String,
    /// Where it runs: absolute, links followed.
    pub directory: String,
}

/// How a command is given. Two that are shown alike are not the same: a word
/// may mean something to the shell that it does not mean to execve(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A line for the shell.
    Line,
    /// A program and its arguments.
    Words,
    /// A tool with its arguments.
    Call,
}

impl Form {
    /// As it is written in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Words => "words",
            Self::Call => "call",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Line, Self::Words, Self::Call]
            .into_iter()
            .find(|form| form.name() == name)
    }
}

impl Grant {
    /// What is granted when `command` is, as the tool was given it, with these
    /// variables, in `directory`.
    #[must_use]
    pub fn of_command(command: &Value, variables: &Map<String, Value>, directory: String) -> Self {
        Self {
            form: match command {
                Value::Array(_) => Form::Words,
                _ => Form::Line,
            },
            command: shown_with(command, variables),
            directory,
        }
    }
}

/// What is to be done with a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Run,
    /// Somebody is asked, for this reason.
    Ask(String),
    /// It does not run, for this reason, and nobody is asked.
    Refuse(String),
}

impl Rules {
    /// Judges a command as the tool was given it: a line for the shell, or a
    /// list of words; `grant` is what allowing it for good would grant. `plain`
    /// says that nothing else about the call matters; a changed environment,
    /// for one, does.
    #[must_use]
    pub fn judge(&self, command: &Value, grant: &Grant, plain: bool) -> Verdict {
        match self.ask {
            Ask::Off => return Verdict::Run,
            Ask::Always => return self.asks("every command is asked about".to_owned()),
            Ask::OnMiss => {}
        }
        if !plain {
            return self.asks("it changes the environment of the command".to_owned());
        }
        if self.granted.contains(grant) && only_once(command, Path::new(&grant.directory)).is_none()
        {
            return Verdict::Run;
        }
        match self.miss(command) {
            None => Verdict::Run,
            Some(why) => self.asks(why),
        }
    }

    /// What is done with a call that does not run by itself.
    #[must_use]
    pub fn asks(&self, why: String) -> Verdict {
        if self.refuses {
            Verdict::Refuse(why)
        } else {
            Verdict::Ask(why)
        }
    }

    /// Judges a call of `tool` that runs no command. `concern` is what there
    /// is to ask about; without it the call runs. It runs too when the tool is
    /// listed, or the call was allowed for good.
    #[must_use]
    pub fn judge_call(&self, tool: &str, grant: &Grant, concern: Option<String>) -> Verdict {
        let listed = || {
            let listed = self.allowlist.iter().any(|pattern| glob(pattern, tool));
            listed || self.granted.contains(grant)
        };
        match (self.ask, concern) {
            (Ask::Off, _) | (_, None) => Verdict::Run,
            (Ask::OnMiss, _) if listed() => Verdict::Run,
            (_, Some(concern)) => self.asks(concern),
        }
    }

    /// Why the command is not among those that run at once.
    fn miss(&self, command: &Value) -> Option<String> {
        let commands = match command {
            Value::String(line) => parse(line).map_err(|why| why.to_string()),
            Value::Array(words) => list(words).map(|words| vec![words]),
            _ => Err("it is no command".to_owned()),
        };
        match commands {
            Ok(commands) => commands.iter().find_map(|words| self.miss_of(words)),
            Err(why) => Some(why),
        }
    }

    fn miss_of(&self, words: &[Word]) -> Option<String> {
        let is_listed = |pattern: &String| listed::fits(pattern, words);
        if self.allowlist.iter().any(is_listed) || self.safe_bins.admit(words) {
            return None;
        }
        if self.only_listed {
            let name = words.first().map_or("", |name| name.text.as_str());
            return Some(format!(
                "{name:?}, as it is called, is neither in tools.exec.allowlist nor a safe bin"
            ));
        }
        reading::refuses(words)
    }
}

/// The words of a command that no shell reads.
fn list(words: &[Value]) -> Result<Words, String> {
    if words.is_empty() {
        return Err(NotSimple::Empty.to_string());
    }
    let word = |word: &Value| {
        let text = word.as_str().ok_or("it is no command")?;
        match command::control(text) {
            Some(c) => Err(NotSimple::Character(c).to_string()),
            None => Ok(Word::plain(text)),
        }
    };
    words.iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(allowlist: &[&str], granted: &[&str]) -> Rules {
        let owned = |list: &[&str]| list.iter().map(|entry| (*entry).to_owned()).collect();
        let granted = granted.iter().map(|command| here(&json!(command)));
        Rules {
            ask: Ask::OnMiss,
            allowlist: owned(allowlist),
            granted: granted.collect(),
            safe_bins: SafeBins::default(),
            only_listed: false,
            refuses: false,
            open_network: false,
        }
    }

    fn here(command: &Value) -> Grant {
        Grant::of_command(command, &Map::new(), "/here".to_owned())
    }

    fn judge(rules: &Rules, command: &Value, plain: bool) -> Verdict {
        rules.judge(command, &here(command), plain)
    }

    fn runs(rules: &Rules, command: &str) -> bool {
        judge(rules, &json!(command), true) == Verdict::Run
    }

    #[test]
    fn approval_what_only_reads_runs() {
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
            "find . -maxdepth 0 \"-ex\\\nec\" rm a \\;",
            "sort \"--out\\\nput=f\"",
            "rg \"--pr\\\ne\" sh x",
            "ls 'a\nb'",
            "ls a # b\r",
            "uniq - a",
            "uniq -- a b",
            "uniq -c a b",
            "date 01020304",
            "date -u 01020304",
            "date +%s 01020304",
            "ls ~",
            "diff -l a b",
            "file -z a",
            "tail -f a",
            "ls *",
        ] {
            let judged = judge(&rules, &json!(command), true);
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
        assert!(!runs(&rules, "'cargo x/y'"));
        let list = |words| judge(&rules, &words, true) == Verdict::Run;
        assert!(list(json!(["cargo", "fmt"])));
        assert!(list(json!(["cat", "a b"])));
        assert!(!list(json!(["cargo x"])));
        assert!(!list(json!(["cargo", 1])));
        assert!(!list(json!(["cat", "a\nb"])));
        assert!(!list(json!([])));
        assert!(matches!(
            judge(&rules, &json!("ls"), false),
            Verdict::Ask(_)
        ));
    }

    #[test]
    fn approval_only_what_is_listed_runs_where_that_is_said() {
        let names = ["wc".to_owned(), "sort".to_owned()];
        let strict = Rules {
            safe_bins: SafeBins::new(&names, &Default::default(), &[]),
            only_listed: true,
            ..rules(&["cat notes.md"], &["rm a"])
        };
        for command in ["cat notes.md | sort -k 1 | wc -l", "rm a", "wc -l"] {
            assert!(runs(&strict, command), "{command}");
        }
        for command in ["ls", "cat other.md", "wc -l notes.md", "sort notes.md"] {
            assert!(!runs(&strict, command), "{command}");
        }
        let lax = Rules {
            only_listed: false,
            refuses: false,
            ..strict
        };
        assert!(runs(&lax, "ls") && runs(&lax, "wc -l notes.md"));
        assert!(!runs(&lax, "sort -o notes.md"));
    }

    #[test]
    fn grant_holds_for_its_directory_and_its_form() {
        let rules = rules(&[], &["rm clean", "rm 'a b'"]);
        let command = json!("rm clean");
        let elsewhere = Grant::of_command(&command, &Map::new(), "/elsewhere".to_owned());
        assert!(matches!(
            rules.judge(&command, &elsewhere, true),
            Verdict::Ask(_)
        ));
        assert!(runs(&rules, "rm clean") && runs(&rules, "rm 'a b'"));
        for words in [json!(["rm", "clean"]), json!(["rm", "a b"])] {
            assert!(
                matches!(judge(&rules, &words, true), Verdict::Ask(_)),
                "{words}"
            );
        }
        let call = Grant {
            form: Form::Call,
            command: "rm clean".to_owned(),
            directory: "/here".to_owned(),
        };
        let judged = rules.judge_call("rm", &call, Some("why".to_owned()));
        assert_eq!(judged, Verdict::Ask("why".to_owned()));
    }

    /// Those of before this was looked at, and those whose words lead elsewhere by now.
    #[test]
    fn grant_of_what_words_do_not_settle_is_asked_about() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let here = |command: &Value| {
            let directory = root.display().to_string();
            Grant::of_command(command, &Map::new(), directory)
        };
        let commands = ["make", "sh build.sh", "touch sub/a"].map(|line| json!(line));
        let rules = Rules {
            granted: commands.iter().map(here).collect(),
            ..rules(&[], &[])
        };
        let runs = |command: &Value| rules.judge(command, &here(command), true) == Verdict::Run;
        assert_eq!(commands.each_ref().map(runs), [false, false, true]);
        std::os::unix::fs::symlink("/tmp", root.join("sub")).unwrap();
        assert!(!runs(&commands[2]));
    }

    #[test]
    fn modes_hold_for_everything() {
        let with = |ask| Rules {
            ask,
            ..rules(&[], &["ls"])
        };
        assert_eq!(judge(&with(Ask::Off), &json!("rm a"), false), Verdict::Run);
        assert!(matches!(
            judge(&with(Ask::Always), &json!("ls"), true),
            Verdict::Ask(_)
        ));
    }
}
