//! Commands that only read, whatever their arguments, apart from options that
//! are named here.
//!
//! Left out on purpose: git, whose repository's own configuration names
//! programs that it runs (core.fsmonitor, diff.external); env, xargs, nice and
//! others that run what they are given; sed, awk, tee, dd and uniq with a
//! second name, which write; less and man, which start programs; printf and
//! test, with which bash sets variables and evaluates what it is given.

use super::command::Word;

/// A program and the beginnings of options with which it does more than read.
struct Program {
    name: &'static str,
    /// Long options, of which any unambiguous beginning counts, and options of
    /// programs such as find that have but one dash.
    refused: &'static [&'static str],
    /// One-letter options, also among others after one dash.
    letters: &'static str,
}

const fn reads(name: &'static str) -> Program {
    Program {
        name,
        refused: &[],
        letters: "",
    }
}

const PROGRAMS: &[Program] = &[
    reads("basename"),
    reads("cat"),
    reads("cd"),
    reads("cksum"),
    reads("cmp"),
    reads("column"),
    reads("comm"),
    reads("cut"),
    Program {
        name: "date",
        refused: &["--set"],
        letters: "s",
    },
    reads("df"),
    reads("diff"),
    reads("dirname"),
    reads("du"),
    reads("echo"),
    reads("egrep"),
    reads("expr"),
    reads("false"),
    reads("fgrep"),
    Program {
        name: "file",
        refused: &["--compile"],
        letters: "C",
    },
    Program {
        name: "find",
        refused: &[
            "-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0", "-fprintf", "-ok",
            "-okdir",
        ],
        letters: "",
    },
    reads("fold"),
    reads("free"),
    reads("grep"),
    reads("head"),
    reads("hexdump"),
    reads("id"),
    reads("join"),
    reads("ls"),
    reads("md5sum"),
    reads("nl"),
    reads("nproc"),
    reads("od"),
    reads("paste"),
    reads("ps"),
    reads("pwd"),
    reads("readlink"),
    reads("realpath"),
    reads("rev"),
    Program {
        name: "rg",
        refused: &["--pre", "--hostname-bin", "--search-zip"],
        letters: "z",
    },
    reads("seq"),
    reads("sha1sum"),
    reads("sha256sum"),
    reads("sha512sum"),
    Program {
        name: "sort",
        refused: &["--output", "--compress-program"],
        letters: "oT",
    },
    reads("stat"),
    reads("strings"),
    reads("tac"),
    reads("tail"),
    reads("tr"),
    reads("true"),
    reads("uname"),
    reads("wc"),
    reads("whoami"),
];

/// Why these words may do more than read; `None` when they do not.
pub(super) fn refuses(words: &[Word]) -> Option<String> {
    let Some((name, arguments)) = words.split_first() else {
        return Some("a command is missing".to_owned());
    };
    let name = name.text.as_str();
    if name == "uniq" {
        return uniq(arguments);
    }
    let Some(program) = PROGRAMS.iter().find(|program| program.name == name) else {
        return Some(format!("{name:?} is not among the commands that only read"));
    };
    let refused = arguments.iter().find(|argument| program.refuses(argument));
    refused.map(|argument| format!("{name} with {:?} may do more than read", argument.text))
}

impl Program {
    fn refuses(&self, argument: &Word) -> bool {
        // A pattern may become a file's name, which may look like an option.
        let is_danger = argument.is_pattern && !self.is_plain();
        is_danger || self.refuses_option(&argument.text)
    }

    fn is_plain(&self) -> bool {
        self.refused.is_empty() && self.letters.is_empty()
    }

    fn refuses_option(&self, argument: &str) -> bool {
        let Some(option) = argument.strip_prefix('-') else {
            return false;
        };
        let word = argument.split('=').next().unwrap_or_default();
        if let Some(long) = word.strip_prefix("--") {
            let begins = |refused: &&str| {
                refused
                    .strip_prefix("--")
                    .is_some_and(|all| all.starts_with(long))
            };
            return !long.is_empty() && self.refused.iter().any(begins);
        }
        self.refused.contains(&argument) || option.chars().any(|c| self.letters.contains(c))
    }
}

/// Its second name is a file that it writes.
fn uniq(arguments: &[Word]) -> Option<String> {
    let mut names = arguments.iter().filter(|word| !word.text.starts_with('-'));
    match names.clone().count() > 1 || names.any(|word| word.is_pattern) {
        true => Some("uniq with a second file writes it".to_owned()),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(line: &str) -> bool {
        let commands = super::super::command::parse(line).unwrap();
        refuses(&commands[0]).is_some()
    }

    #[test]
    fn options_that_write_or_run_are_refused_in_every_spelling() {
        for line in [
            "sort -o a",
            "sort -uo a",
            "sort --out=a b",
            "sort --compress-program sh",
            "date -s x",
            "date -us x",
            "file -C",
            "find . -execdir sh",
            "rg --pre=sh x",
            "sort *",
            "uniq a b",
        ] {
            assert!(is_refused(line), "{line}");
        }
        for line in [
            "sort -u a",
            "sort --reverse a",
            "find . -name '*.rs'",
            "ls *",
            "uniq -c a",
        ] {
            assert!(!is_refused(line), "{line}");
        }
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(PROGRAMS.windows(2).all(|two| two[0].name < two[1].name));
    }
}
