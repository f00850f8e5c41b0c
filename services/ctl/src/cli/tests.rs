use clap::CommandFactory as _;

use super::*;

fn parsed(arguments: &[&str]) -> Result<Command, clap::Error> {
    let all = std::iter::once("openclawctl").chain(arguments.iter().copied());
    Cli::try_parse_from(all).map(|cli| cli.command)
}

#[test]
fn definition_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn options_of_all_commands_stand_before_any() {
    let line = |words: &str| {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        understood(&words)
    };
    for command in [
        "turns",
        "sessions",
        "devices",
        "channels",
        "pairing",
        "approvals",
        "cron",
    ] {
        let cli = line(&format!("openclawctl {command} --system list --json")).unwrap();
        assert!(cli.system && !cli.no_pager, "{command}");
        line(&format!("openclawctl {command} --json")).unwrap();
        line(&format!("openclawctl --no-pager {command} --json --system")).unwrap();
        let refused = line(&format!("openclawctl {command} --json list")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ArgumentConflict, "{command}");
    }
    assert!(
        line("openclawctl token --system show --json")
            .unwrap()
            .system
    );
}

#[test]
fn options_may_follow_the_words_of_a_message() {
    let command = parsed(&[
        "message",
        "hello",
        "there",
        "--session",
        "s",
        "--timeout",
        "1.5",
    ]);
    let Command::Message(message) = command.unwrap() else {
        panic!("not a message");
    };
    assert_eq!(message.text, ["hello", "there"]);
    assert_eq!(message.session.as_deref(), Some("s"));
    assert_eq!(message.timeout, Some(Duration::from_millis(1500)));
}

#[test]
fn message_is_read_alike_without_the_other_commands() {
    let lines: [&[&str]; 7] = [
        &["message", "hello", "--session", "s"],
        &["message", "--system", "-v", "hello"],
        &["message", "--no-pager", "--json", "--no-stream", "-"],
        &[
            "message",
            "--file",
            "a",
            "--image",
            "b",
            "--timeout",
            "2",
            "x",
        ],
        &["message"],
        &["message", "--no-such", "x"],
        &["message", "--help"],
    ];
    for words in lines {
        let all = std::iter::once("openclawctl").chain(words.iter().copied());
        let all: Vec<String> = all.map(str::to_owned).collect();
        let often = Cli::of_often(&all).map(|cli| format!("{cli:?}"));
        let whole = Cli::try_parse_from(&all).ok().map(|cli| format!("{cli:?}"));
        assert_eq!(often, whole, "{words:?}");
    }
    assert!(Cli::of_often(&["openclawctl".to_owned(), "status".to_owned()]).is_none());
}

#[test]
fn sessions_are_listed_by_default() {
    let sessions = |arguments: &[&str]| match parsed(arguments).unwrap() {
        Command::Sessions(sessions) => sessions,
        other => panic!("not sessions: {other:?}"),
    };
    let plain = sessions(&["sessions", "--json"]);
    assert!(plain.action.is_none() && plain.list.json);
    let listed = sessions(&["sessions", "list", "--limit", "5"]).action;
    assert!(matches!(listed, Some(sessions::Action::List(list)) if list.limit == Some(5)));
}

#[test]
fn cli_every_command_that_is_shown_has_examples_that_are_understood() {
    use openclaw_manual::examples::{all, of};
    fn look(command: &clap::Command, above: &[&str]) {
        for below in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let mut words = above.to_vec();
            words.push(below.get_name());
            assert!(!of(&words.join(" ")).is_empty(), "{words:?}");
            look(below, &words);
        }
    }
    look(&Cli::command(), &[]);
    for (command, line) in all().flat_map(|(command, examples)| {
        let lines = examples.iter();
        lines.map(move |(line, _)| (command, line))
    }) {
        let own = line
            .split(['|', '<', ')'])
            .find(|it| it.trim_start().starts_with("openclawctl"));
        let own = own.or_else(|| line.split("<(").nth(1)).unwrap();
        let own = own.trim().trim_end_matches(')');
        let is_of_it = own.starts_with(format!("openclawctl {command}").trim_end());
        assert!(is_of_it, "{line} is no example of {command}");
        let words = words(own);
        if let Err(error) = Cli::try_parse_from(&words) {
            panic!("{line}: {words:?}: {error}");
        }
    }
}

/// The words of a line, with what stands between quotes as one.
fn words(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (at, part) in line.trim().split('"').enumerate() {
        if at % 2 == 1 {
            all.push(part.to_owned());
        } else {
            all.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    all
}

/// An option that wants a value, as it is typed.
fn typed(arg: &clap::Arg) -> Option<String> {
    if !arg.get_action().takes_values() {
        return None;
    }
    let long = arg.get_long().map(|long| format!("--{long}"));
    long.or_else(|| arg.get_short().map(|short| format!("-{short}")))
}

/// What a negative number in the place of every value is taken for: a value, or one that its
/// parser refuses in words that say what it may be.
#[test]
fn negative_numbers_are_values() {
    fn look(command: &clap::Command, above: &[&str], looked: &mut usize) {
        let mut words = above.to_vec();
        words.push(command.get_name());
        for arg in command.get_arguments() {
            if arg.is_positional() || arg.is_hide_set() {
                let all = |number: &str| {
                    let before = command
                        .get_positionals()
                        .take_while(|it| it.get_id() != arg.get_id());
                    let before: Vec<String> = before.map(|_| "x".to_owned()).collect();
                    let words = words.iter().map(|word| (*word).to_owned());
                    words
                        .chain(before)
                        .chain([number.to_owned()])
                        .collect::<Vec<_>>()
                };
                if arg.is_positional() && !command.is_hide_set() {
                    judge(&all("-3"), looked);
                }
            } else if let Some(option) = typed(arg) {
                let names = arg.get_value_names().unwrap_or_default();
                let is_span = ["WHEN", "SPAN"]
                    .iter()
                    .any(|it| names.iter().any(|name| name == it));
                for number in ["-3", "-2.5", "-5m"]
                    .into_iter()
                    .take(2 + usize::from(is_span))
                {
                    let words = words.iter().map(|word| (*word).to_owned());
                    let all: Vec<String> =
                        words.chain([option.clone(), number.to_owned()]).collect();
                    judge(&all, looked);
                }
            }
        }
        for below in command.get_subcommands() {
            look(below, &words, looked);
        }
    }
    fn judge(words: &[String], looked: &mut usize) {
        *looked += 1;
        let Err(error) = understood(words) else {
            return;
        };
        let kind = error.kind();
        let said = error.to_string();
        assert!(kind != ErrorKind::UnknownArgument, "{words:?}: {said}");
        let is_whole = words.last().is_some_and(|word| !word.contains('.'));
        assert!(
            !is_whole || !said.contains("invalid digit"),
            "{words:?}: {said}"
        );
    }
    let mut looked = 0;
    look(&Cli::command(), &[], &mut looked);
    assert!(looked > 150, "{looked}");
}

#[test]
fn exit_codes_are_told_of_commands_that_there_are() {
    let command = Cli::command();
    for words in openclaw_manual::exits::commands() {
        let mut place = &command;
        for word in words.split_whitespace() {
            place = place.find_subcommand(word).expect(words);
        }
    }
}
