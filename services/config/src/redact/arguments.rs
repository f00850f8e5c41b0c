//! Arguments of programs that may be secrets: all that is not plainly something else.
//! Programs call what lets them in as they like (`-k`, `--api`, `-H "X: …"`), so what
//! follows an option that is not known, and what sets or says something, counts as one.

use super::texts::{has_secret_url, is_said};
use super::{is_reference, is_secret_variable};

/// Options whose values are places, names, and how a program is to behave.
const PLAIN_OPTIONS: [&str; 45] = [
    "address",
    "allow",
    "base-url",
    "bind",
    "branch",
    "cache",
    "channel",
    "config",
    "cwd",
    "db",
    "dir",
    "directory",
    "encoding",
    "endpoint",
    "file",
    "folder",
    "format",
    "from",
    "host",
    "image",
    "interval",
    "lang",
    "level",
    "locale",
    "log-level",
    "m",
    "mode",
    "model",
    "module",
    "name",
    "network",
    "package",
    "path",
    "port",
    "profile",
    "project",
    "region",
    "repo",
    "repository",
    "root",
    "timeout",
    "transport",
    "url",
    "workdir",
    "workspace",
];

/// Options behind which nothing of theirs comes.
const FLAGS: [&str; 20] = [
    "all",
    "d",
    "debug",
    "help",
    "i",
    "init",
    "interactive",
    "it",
    "n",
    "no-cache",
    "offline",
    "q",
    "quiet",
    "read-only",
    "rm",
    "stdio",
    "v",
    "verbose",
    "y",
    "yes",
];

/// Options that name a variable, or set one.
const VARIABLES: [&str; 2] = ["e", "env"];

/// Digits of a number that is not a secret: a port, an amount.
const DIGITS: usize = 6;

/// Whether the argument at `at` may be a secret.
pub(super) fn is_secret(arguments: &[&str], at: usize) -> bool {
    let argument = arguments[at];
    if !is_said(argument) || is_plain_word(argument) {
        return false;
    }
    if argument.starts_with('-') {
        return is_secret_option(argument);
    }
    let before = at.checked_sub(1).and_then(|it| option(arguments[it]));
    match before {
        Some(option) if VARIABLES.contains(&option) => is_secret_assignment(argument),
        Some(option) if PLAIN_OPTIONS.contains(&option) => has_secret_url(argument),
        Some(option) if !FLAGS.contains(&option) => !is_scoped_package(argument),
        _ => is_secret_operand(argument),
    }
}

/// Whether a line of a shell, or a program with its arguments in one text, may have a
/// secret in it.
pub(super) fn is_secret_line(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    (0..words.len()).any(|at| is_secret(&words, at))
}

/// What an option without a value is called, whose value may follow.
fn option(argument: &str) -> Option<&str> {
    let name = argument.strip_prefix('-')?;
    let name = name.strip_prefix('-').unwrap_or(name);
    (!name.contains('=')).then_some(name)
}

/// `--name=value`, or a letter with its value behind it.
fn is_secret_option(argument: &str) -> bool {
    let Some((option, value)) = argument.split_once('=') else {
        let is_word = |name: &str| name.chars().all(|it| it.is_ascii_lowercase() || it == '-');
        let is_long = argument.strip_prefix("--").is_some_and(is_word);
        let is_known = option(argument)
            .is_some_and(|it| it.len() <= 1 || FLAGS.contains(&it) || PLAIN_OPTIONS.contains(&it));
        return !is_long && !is_known;
    };
    if !is_said(value) || is_plain_word(value) {
        return false;
    }
    let name = option.trim_start_matches('-');
    !PLAIN_OPTIONS.contains(&name) || has_secret_url(value)
}

/// What stands by itself: a command of the program's, a place, a package.
fn is_secret_operand(argument: &str) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || "@/._:~+-\\".contains(it);
    if argument.contains('=') {
        return is_secret_assignment(argument);
    }
    has_secret_url(argument) || !argument.chars().all(is_word)
}

/// `NAME`, or `NAME=value`.
fn is_secret_assignment(argument: &str) -> bool {
    match argument.split_once('=') {
        Some((name, value)) => {
            is_said(value) && (is_secret_variable(name) || has_secret_url(value))
        }
        None => {
            let is_name = |it: char| it.is_ascii_uppercase() || it == '_';
            !argument.contains('_') || !argument.chars().all(is_name)
        }
    }
}

fn is_scoped_package(argument: &str) -> bool {
    let package = argument.strip_prefix('@').and_then(|it| it.split_once('/'));
    let is_name = |it: &str| {
        !it.is_empty()
            && it
                .chars()
                .all(|it| it.is_ascii_lowercase() || "-._0123456789@".contains(it))
    };
    package.is_some_and(|(scope, name)| is_name(scope) && is_name(name))
}

/// A number, or a word that says yes or no.
fn is_plain_word(text: &str) -> bool {
    let is_number = text.len() <= DIGITS && text.chars().all(|it| it.is_ascii_digit());
    is_number || ["true", "false", "on", "off", "yes", "no"].contains(&text) || is_reference(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(all: &[&'a str]) -> Vec<&'a str> {
        let found = (0..all.len()).filter(|at| is_secret(all, *at));
        found.map(|at| all[at]).collect()
    }

    #[test]
    fn argument_that_says_who_may_is_a_secret_whatever_its_option_is_called() {
        for (all, secret) in [
            (&["-H", "X-Auth: S"][..], "X-Auth: S"),
            (&["-k", "S"], "S"),
            (&["--api", "S"], "S"),
            (&["-c", "TOKEN=S exec prog"], "TOKEN=S exec prog"),
            (&["--api-key", "k"], "k"),
            (&["--TOKEN=t"], "--TOKEN=t"),
            (&["--api=S"], "--api=S"),
            (&["-pword"], "-pword"),
            (&["-u", "me:word"], "me:word"),
            (&["Authorization: Bearer x"], "Authorization: Bearer x"),
            (&["-e", "A_TOKEN=S"], "A_TOKEN=S"),
            (&["-e", "hunter2"], "hunter2"),
            (&["TOKEN=S"], "TOKEN=S"),
            (&["--url", "https://me:word@a.b/"], "https://me:word@a.b/"),
            (&["--host=https://a.b/?key=1"], "--host=https://a.b/?key=1"),
            (&["-y", "--secret", "/etc/x"], "/etc/x"),
        ] {
            assert_eq!(found(all), [secret], "{all:?}");
        }
    }

    #[test]
    fn arguments_of_usual_servers_are_shown() {
        for line in [
            "-y @modelcontextprotocol/server-filesystem /home/me/docs ~/notes",
            "run --rm -i -e GITHUB_TOKEN ghcr.io/github/github-mcp-server",
            "--directory /srv/x run server.py --port 3000 --verbose",
            "-m mcp_server_git --repository ./repo",
            "--stdio --log-level=debug --timeout 30",
            "--key ${KEY} --password=${P}",
            "-e NODE_ENV=production -e LOG_LEVEL=${L}",
            "--with-logs --depth 5",
        ] {
            let all: Vec<&str> = line.split(' ').collect();
            assert_eq!(found(&all), [""; 0], "{line}");
            assert!(!is_secret_line(line), "{line}");
        }
        assert!(is_secret_line("curl -H 'X: S' http://127.0.0.1/"));
        assert!(!is_secret_line("/usr/bin/prog"));
    }
}
