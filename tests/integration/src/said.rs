//! What a program said, and how it ended.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Output;

use serde_json::Value;

/// A program's output and exit code.
#[derive(Debug, Clone)]
pub struct Said {
    what: String,
    /// As a shell has it: 128 and the signal's number for a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Said {
    /// What the program `what` said.
    pub fn of(what: String, output: &Output) -> Self {
        let signal = output.status.signal().unwrap_or_default();
        Self {
            what,
            code: output.status.code().unwrap_or(128 + signal),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// It ended with `code`.
    #[track_caller]
    pub fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// It ended well; its standard output.
    #[track_caller]
    pub fn ok(self) -> String {
        self.ended(0).stdout
    }

    /// Standard output has every one of `texts`.
    #[track_caller]
    pub fn says(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stdout.contains(text), "no {text:?}: {self}");
        }
        self
    }

    /// Standard error has every one of `texts`.
    #[track_caller]
    pub fn complains(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(self.stderr.contains(text), "no {text:?}: {self}");
        }
        self
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("not one JSON document: {error}: {self}"))
    }

    /// Standard output as JSON lines.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        let lines = self.stdout.lines().map(|line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}: {self}"))
        });
        lines.collect()
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "`{}` ended with {}\n--- stdout\n{}\n--- stderr\n{}",
            self.what, self.code, self.stdout, self.stderr
        )
    }
}
