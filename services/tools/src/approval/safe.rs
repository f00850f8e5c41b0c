//! Safe bins (`tools.exec.safeBins`): programs that may run because, as they are
//! called, they only make one stream of another. Which those are is told from
//! the words alone: a program of a folder that is trusted, with options that
//! its profile names, and no word that names a file or runs a program.
//!
//! The profiles are OpenClaw's. Different from there, a long option counts only
//! as it is written in the profile: which abbreviation means what depends on
//! the program's release.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::command::Word;

/// Safe bins where the user names none, as in OpenClaw.
pub const DEFAULT: [&str; 6] = ["cut", "uniq", "head", "tail", "tr", "wc"];

/// Folders whose programs are what they are called.
const TRUSTED: [&str; 2] = ["/bin", "/usr/bin"];

/// Programs that run what they are given, read files or the environment
/// whatever their options are; no profile makes them safe.
const NEVER: [&str; 7] = ["jq", "awk", "gawk", "mawk", "nawk", "sed", "gsed"];

/// What a safe bin may be given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The fewest words that are no options.
    pub min_positional: usize,
    /// The most of them; `None`: any number.
    pub max_positional: Option<usize>,
    /// Options with a value, in the same word or in the next.
    pub value_flags: Vec<String>,
    /// Options whose value may only stand in the same word.
    pub inline_flags: Vec<String>,
    /// Options without one.
    pub switches: Vec<String>,
    /// Options that may not be there. All that are not named may not, either.
    pub denied: Vec<String>,
}

/// The safe bins of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SafeBins {
    profiles: BTreeMap<String, Profile>,
    /// Folders, without a slash at their ends.
    trusted: Vec<String>,
}

impl SafeBins {
    /// Those of `names` that have a profile: the user's, `own`, or one that is
    /// known. `trusted` adds to the folders that are trusted.
    #[must_use]
    pub fn new(names: &[String], own: &BTreeMap<String, Profile>, trusted: &[String]) -> Self {
        let profile = |name: &String| {
            let name = name.trim().to_lowercase();
            let profile = profile(&name, own)?;
            Some((name, profile))
        };
        let folders = TRUSTED
            .into_iter()
            .chain(trusted.iter().map(String::as_str));
        Self {
            profiles: names.iter().filter_map(profile).collect(),
            trusted: folders
                .map(|folder| folder.trim_end_matches('/').to_owned())
                .collect(),
        }
    }

    /// Leaves those whose bare name means, on the PATH `path`, a program in a
    /// folder that is trusted.
    #[must_use]
    pub fn on_path(mut self, path: &str, is_program: impl Fn(&str) -> bool) -> Self {
        let trusted = &self.trusted;
        self.profiles.retain(|name, _| {
            let mut folders = path.split(':');
            let first = folders.find(|folder| is_program(&format!("{folder}/{name}")));
            first.is_some_and(|folder| trusted.iter().any(|it| it == folder))
        });
        self
    }

    /// Why `name` would be no safe bin; `None`: it would.
    #[must_use]
    pub fn problem(name: &str, own: &BTreeMap<String, Profile>) -> Option<String> {
        let name = name.trim().to_lowercase();
        if NEVER.contains(&name.as_str()) {
            return Some(
                "is never taken for one that only filters: it can run programs, or read files \
                 and the environment; list its commands in tools.exec.allowlist"
                    .to_owned(),
            );
        }
        profile(&name, own).is_none().then(|| {
            format!(
                "has no profile: say which options it may have in \
                 tools.exec.safeBinProfiles.{name}, or list its commands in tools.exec.allowlist"
            )
        })
    }

    /// Whether the command is one of these, called as its profile allows.
    pub(super) fn admit(&self, words: &[Word]) -> bool {
        let Some((program, arguments)) = words.split_first() else {
            return false;
        };
        let name = match program.text.rsplit_once('/') {
            None => program.text.as_str(),
            Some((folder, name)) if self.trusted.iter().any(|it| it == folder) => name,
            Some(_) => return false,
        };
        let is_literal = |word: &Word| !word.is_pattern && is_literal(&word.text);
        let profile = self.profiles.get(name).filter(|_| !program.is_pattern);
        profile.is_some_and(|profile| arguments.iter().all(is_literal) && profile.admits(arguments))
    }
}

fn profile(name: &str, own: &BTreeMap<String, Profile>) -> Option<Profile> {
    if NEVER.contains(&name) {
        return None;
    }
    own.get(name).cloned().or_else(|| known(name))
}

/// Whether the word is text and nothing else: not for a shell, which may have
/// read it once more, and not the beginning of a path.
fn is_literal(text: &str) -> bool {
    let is_path = |text: &str| {
        let text = text.trim();
        let mut start = text.chars();
        let is_drive = start.next().is_some_and(|c| c.is_ascii_alphabetic())
            && start.next() == Some(':')
            && matches!(start.next(), Some('/' | '\\'));
        is_drive || text.starts_with(['/', '~']) || text.starts_with("./") || text.starts_with("..")
    };
    let has_expansion = || {
        let mut after_dollar = text.split('$').skip(1);
        after_dollar.any(|rest| {
            rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "_@*?!$#-{([".contains(c))
                || text.contains("$$")
        })
    };
    let value = text.split_once('=').map_or(text, |(_, value)| value);
    !text.is_empty()
        && !text.contains(['*', '?', '[', ']'])
        && !is_path(text)
        && !is_path(value)
        && !has_expansion()
}

impl Profile {
    fn admits(&self, arguments: &[Word]) -> bool {
        let (mut rest, mut positional, mut are_over) = (arguments.iter(), 0, false);
        while let Some(word) = rest.next() {
            let text = word.text.as_str();
            if text == "-" {
                // The stream itself.
                continue;
            }
            if are_over || !text.starts_with('-') {
                positional += 1;
            } else if text == "--" {
                are_over = true;
            } else {
                match self.option(text) {
                    Extent::Refused => return false,
                    Extent::ThisWord => {}
                    Extent::NextWordToo if rest.next().is_some_and(is_value) => {}
                    Extent::NextWordToo => return false,
                }
            }
        }
        positional >= self.min_positional
            && self.max_positional.is_none_or(|most| positional <= most)
    }

    fn option(&self, text: &str) -> Extent {
        let has = |flags: &[String], flag: &str| flags.iter().any(|it| it == flag);
        if text.starts_with("--") {
            let (flag, value) = match text.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (text, None),
            };
            let takes_value = has(&self.value_flags, flag);
            let may_take = takes_value || has(&self.inline_flags, flag);
            return match value {
                _ if has(&self.denied, flag) => Extent::Refused,
                Some(value) if may_take && !value.is_empty() && is_literal(value) => {
                    Extent::ThisWord
                }
                Some(_) => Extent::Refused,
                None if takes_value => Extent::NextWordToo,
                None if may_take || has(&self.switches, flag) => Extent::ThisWord,
                None => Extent::Refused,
            };
        }
        let letters = &text[1..];
        for (at, letter) in letters.char_indices() {
            let flag = format!("-{letter}");
            if has(&self.denied, &flag) {
                return Extent::Refused;
            }
            if has(&self.value_flags, &flag) {
                let value = &letters[at + letter.len_utf8()..];
                return match value {
                    "" => Extent::NextWordToo,
                    value if is_literal(value) => Extent::ThisWord,
                    _ => Extent::Refused,
                };
            }
            if !has(&self.switches, &flag) {
                return Extent::Refused;
            }
        }
        Extent::ThisWord
    }
}

/// Whether the word can be the value of the option before it: one that looks
/// like an option itself may be taken for one by another release.
fn is_value(word: &Word) -> bool {
    let rest = word.text.strip_prefix('-');
    rest.is_none_or(|rest| rest.bytes().all(|c| c.is_ascii_digit()))
}

/// How far an option reaches.
enum Extent {
    Refused,
    ThisWord,
    NextWordToo,
}

/// The profile of a program that everybody has.
fn known(name: &str) -> Option<Profile> {
    let (positional, values, inline, switches, denied) = match name {
        "grep" => (
            (0, 0),
            "--regexp --max-count --after-context --before-context --context --devices \
             --binary-files --exclude --include --label -e -m -A -B -C -D",
            "",
            "",
            "--file --exclude-from --dereference-recursive --directories --recursive -f -d -r -R",
        ),
        "cut" => (
            (0, 0),
            "--bytes --characters --fields --delimiter --output-delimiter -b -c -f -d",
            "",
            "--complement --only-delimited --zero-terminated -n -s -z",
            "",
        ),
        "sort" => (
            (0, 0),
            "--key --field-separator --buffer-size --parallel --batch-size -k -t -S",
            "",
            "",
            "--compress-program --files0-from --output --random-source --temporary-directory -T -o",
        ),
        // What follows a --group that stands alone is a file.
        "uniq" => (
            (0, 0),
            "--skip-fields --skip-chars --check-chars -f -s -w",
            "--group",
            "--count --repeated --unique --ignore-case --zero-terminated -c -d -u -i -z",
            "",
        ),
        "head" => (
            (0, 0),
            "--lines --bytes -n -c",
            "",
            "--quiet --silent --verbose --zero-terminated -q -v -z",
            "",
        ),
        "tail" => (
            (0, 0),
            "--lines --bytes --sleep-interval --max-unchanged-stats --pid -n -c",
            "",
            "--quiet --silent --verbose --zero-terminated -q -v -z",
            "--follow --retry -F -f",
        ),
        "tr" => (
            (1, 2),
            "",
            "",
            "--complement --delete --squeeze-repeats --truncate-set1 -C -c -d -s -t",
            "",
        ),
        "wc" => (
            (0, 0),
            "",
            "",
            "--bytes --chars --lines --max-line-length --words -L -c -l -m -w",
            "--files0-from",
        ),
        _ => return None,
    };
    let list = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    Some(Profile {
        min_positional: positional.0,
        max_positional: Some(positional.1),
        value_flags: list(values),
        inline_flags: list(inline),
        switches: list(switches),
        denied: list(denied),
    })
}

#[cfg(test)]
mod tests;
