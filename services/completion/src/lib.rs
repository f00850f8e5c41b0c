//! What can be typed next on a command line: its commands, options and their
//! values by clap's own definition, so that nothing is listed twice; names of things, which
//! are looked up; and what may have been meant by a word that is none of these.

mod candidate;
mod mistake;
mod names;
mod shell;
mod typed;

use clap::{Arg, ArgAction, Command, ValueHint};
use openclaw_config::Environment;
use openclaw_terminal::aliases::{Aliases, Meaning};
use openclaw_terminal::output;

pub use candidate::Candidate;
pub use mistake::suggest;
pub use shell::{Shell, Typed};

/// What can be typed next.
#[derive(Debug)]
pub struct Next {
    /// The words.
    pub candidates: Vec<Candidate>,
    /// Whether the names of files are words too, which the shell looks for itself.
    pub may_be_file: bool,
}

/// What can be typed for the last of `words`, which may be empty, with the user's own aliases.
pub fn next(command: &mut Command, mut words: Vec<String>, environment: &Environment) -> Next {
    let names = |kind: &str, begun: &str| names::of(kind, begun, environment).unwrap_or_default();
    let aliases = Aliases::read(environment);
    if let [first, _, ..] = &words[..]
        && let Some(alias) = aliases.find(first)
        && let Meaning::Words(meaning) = &alias.meaning
    {
        words.splice(..1, meaning.clone());
    }
    let mut found = candidates(command, &words, names);
    if let [begun] = &words[..] {
        for alias in aliases.list.iter().filter(|it| it.name.starts_with(begun)) {
            // A command comes before an alias of its name.
            if !found.iter().any(|it| it.word == alias.name) {
                let help = format!("alias of {}", alias.text);
                found.push(Candidate::new(&alias.name, &help));
            }
        }
    }
    // Names may be anybody's, and the shell's tab is ours.
    let shown = |it: &Candidate| Candidate::new(&output::line(&it.word), &output::line(&it.help));
    Next {
        candidates: found.iter().map(shown).collect(),
        may_be_file: may_be_file(command, &words),
    }
}

/// Whether the last of `words` may name a file.
fn may_be_file(command: &mut Command, words: &[String]) -> bool {
    command.build();
    let Some((last, before)) = words.split_last() else {
        return false;
    };
    let place = Place::of(command, before);
    let arg = match (place.option, last.split_once('=')) {
        (Some(arg), _) => Some(arg),
        (None, Some((option, _))) if option.starts_with('-') => place.named(option),
        (None, _) if last.starts_with('-') => None,
        (None, _) => place.positional(),
    };
    let hint = arg.map(Arg::get_value_hint);
    hint.is_some_and(|hint| {
        matches!(
            hint,
            ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath
        )
    })
}

/// The candidates for the last of `words`, which may be empty. `names` are the
/// things that a value of this name (`KEY`, `RUN_ID`, …) can be that begins so.
fn candidates(
    command: &mut Command,
    words: &[String],
    names: impl Fn(&str, &str) -> Vec<Candidate>,
) -> Vec<Candidate> {
    command.build();
    let Some((last, before)) = words.split_last() else {
        return Vec::new();
    };
    let place = Place::of(command, before);
    let mut all = if let Some(arg) = place.option {
        values(arg, last, &names)
    } else if let Some((option, value)) = last.split_once('=')
        && let Some(arg) = place.named(option)
    {
        let prefixed = |it: Candidate| Candidate {
            word: format!("{option}={}", it.word),
            ..it
        };
        let values = values(arg, value, &names).into_iter();
        values
            .filter(|it| it.word.starts_with(value))
            .map(prefixed)
            .collect()
    } else if last.starts_with('-') {
        place.options()
    } else {
        let mut all = place.commands();
        all.extend(
            place
                .positional()
                .into_iter()
                .flat_map(|arg| values(arg, last, &names)),
        );
        all
    };
    all.retain(|candidate| candidate.word.starts_with(last));
    all
}

/// Where in the commands the words before lead.
struct Place<'a> {
    command: &'a Command,
    /// An option that still wants its value.
    option: Option<&'a Arg>,
    /// Words that belong to no option, after the command.
    positionals: usize,
}

impl<'a> Place<'a> {
    fn of(command: &'a Command, words: &[String]) -> Self {
        let mut place = Self {
            command,
            option: None,
            positionals: 0,
        };
        for word in words {
            if place.option.take().is_some() {
                continue;
            }
            if word.starts_with('-') {
                let arg = place.named(word);
                place.option = arg.filter(|arg| takes_value(arg) && !word.contains('='));
            } else if let Some(command) = place.command.find_subcommand(word)
                && place.positionals == 0
            {
                place.command = command;
            } else {
                place.positionals += 1;
            }
        }
        place
    }

    fn named(&self, word: &str) -> Option<&'a Arg> {
        let word = word.split('=').next().unwrap_or(word);
        let is_it = |arg: &&Arg| {
            let long = arg
                .get_long()
                .is_some_and(|long| word == format!("--{long}"));
            long || arg
                .get_short()
                .is_some_and(|short| word == format!("-{short}"))
        };
        self.command.get_arguments().find(is_it)
    }

    fn options(&self) -> Vec<Candidate> {
        let shown = self
            .command
            .get_arguments()
            .filter(|arg| !arg.is_hide_set());
        shown
            .filter_map(|arg| {
                Some(Candidate {
                    word: format!("--{}", arg.get_long()?),
                    help: first_line(arg.get_help()),
                })
            })
            .collect()
    }

    fn commands(&self) -> Vec<Candidate> {
        if self.positionals > 0 {
            return Vec::new();
        }
        let shown = self
            .command
            .get_subcommands()
            .filter(|it| !it.is_hide_set());
        shown
            .map(|command| Candidate {
                word: command.get_name().to_owned(),
                help: first_line(command.get_about()),
            })
            .collect()
    }

    fn positional(&self) -> Option<&'a Arg> {
        let all: Vec<&Arg> = self.command.get_positionals().collect();
        let last = all.last().filter(|arg| {
            let many = arg.get_num_args().is_some_and(|it| it.max_values() > 1);
            many || matches!(arg.get_action(), ArgAction::Append)
        });
        all.get(self.positionals).or(last).copied()
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|it| it.takes_values())
}

fn values(arg: &Arg, begun: &str, names: &impl Fn(&str, &str) -> Vec<Candidate>) -> Vec<Candidate> {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        let shown = possible.iter().filter(|value| !value.is_hide_set());
        return shown
            .map(|value| Candidate {
                word: value.get_name().to_owned(),
                help: first_line(value.get_help()),
            })
            .collect();
    }
    let name = arg.get_value_names().and_then(|names| names.first());
    name.map_or_else(Vec::new, |name| names(name, begun))
}

fn first_line(help: Option<&clap::builder::StyledStr>) -> String {
    let text = help.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use clap::builder::PossibleValuesParser;

    use super::*;

    #[test]
    fn files_are_words_where_a_file_is_wanted() {
        let path = || clap::value_parser!(std::path::PathBuf);
        let mut command = Command::new("x")
            .subcommand(
                Command::new("logs")
                    .arg(Arg::new("file").long("file").value_parser(path()))
                    .arg(Arg::new("session").long("session")),
            )
            .subcommand(Command::new("restore").arg(Arg::new("place").value_parser(path())))
            .subcommand(Command::new("stop"));
        for (line, expected) in [
            ("", false),
            ("stop ", false),
            ("logs ", false),
            ("logs --f", false),
            ("logs --file ", true),
            ("logs --file=a", true),
            ("logs --session ", false),
            ("logs --session=a", false),
            ("restore a", true),
            ("restore --", false),
            ("restore a ", false),
        ] {
            let typed: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(may_be_file(&mut command, &typed), expected, "{line:?}");
        }
    }

    fn words(line: &str) -> Vec<String> {
        let names = |name: &str, _: &str| match name {
            "KEY" => ["main", "work"]
                .map(|word| Candidate {
                    word: word.to_owned(),
                    help: String::new(),
                })
                .to_vec(),
            _ => Vec::new(),
        };
        let mut command = Command::new("x")
            .subcommand(
                Command::new("logs")
                    .about("Show the log\nof all")
                    .arg(
                        Arg::new("session")
                            .long("session")
                            .short('s')
                            .value_name("KEY"),
                    )
                    .arg(
                        Arg::new("level")
                            .long("level")
                            .value_parser(PossibleValuesParser::new(["info", "warn"])),
                    )
                    .arg(Arg::new("json").long("json").action(ArgAction::SetTrue)),
            )
            .subcommand(
                Command::new("sessions")
                    .subcommand(Command::new("show").arg(Arg::new("key").value_name("KEY"))),
            )
            .subcommand(Command::new("inner").hide(true));
        let typed: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let found = candidates(&mut command, &typed, names).into_iter();
        found.map(|candidate| candidate.word).collect()
    }

    #[test]
    fn candidates_follow_the_definition() {
        for (line, expected) in [
            ("", &["logs", "sessions", "help"][..]),
            ("l", &["logs"]),
            ("logs --", &["--session", "--level", "--json", "--help"]),
            ("logs --le", &["--level"]),
            ("logs --level ", &["info", "warn"]),
            ("logs --level=w", &["--level=warn"]),
            ("logs --session w", &["work"]),
            ("logs -s ", &["main", "work"]),
            ("logs --json ", &[]),
            ("sessions show m", &["main"]),
            ("sessions show main ", &[]),
            ("inner", &[]),
        ] {
            assert_eq!(words(line), expected, "{line:?}");
        }
    }
}
