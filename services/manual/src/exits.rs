//! What commands end with.

use openclaw_config::exit;

use crate::roff;

/// A code, and what it says.
type Exit = (u8, &'static str);

const DONE: Exit = (exit::SUCCESS, "It was done.");
const FAILED: Exit = (exit::FAILURE, "It failed, or what was named is not there.");
const UNDECIDED: Exit = (
    exit::UNDECIDED,
    "Somebody has to decide, and nobody could be asked, or it is not clear what is meant.",
);
const HELD: Exit = (exit::HELD, "Another suite uses the state directory.");
const USAGE: Exit = (exit::USAGE, "Wrong usage.");
const CONFIG: Exit = (
    exit::CONFIG,
    "The configuration or the state cannot be used, so that trying again does not help.",
);
const HUNG_UP: Exit = (exit::HUNG_UP, "Its terminal was closed (SIGHUP).");
const INTERRUPTED: Exit = (exit::INTERRUPTED, "Interrupted by Ctrl-C.");
const QUIT: Exit = (exit::QUIT, "Ended by Ctrl-\\ (SIGQUIT).");
const TERMINATED: Exit = (exit::TERMINATED, "Ended by SIGTERM.");

/// What daemons end with.
pub(crate) const OF_DAEMONS: [Exit; 5] = [
    (exit::SUCCESS, "It was told to end."),
    (exit::FAILURE, "It failed; the log says at what."),
    (exit::HELD, "Another suite uses its part of the state."),
    (
        exit::USAGE,
        "Wrong arguments, or it was not started with its sockets.",
    ),
    (
        exit::CONFIG,
        "The configuration cannot be used, and there is no earlier one; or the state cannot be.",
    ),
];

/// What a command ends with beside [`DONE`], [`FAILED`], [`USAGE`] and [`CONFIG`], or in the
/// place of one of these.
const OWN: &[(&str, &[Exit])] = &[
    (
        "",
        &[UNDECIDED, HELD, HUNG_UP, INTERRUPTED, QUIT, TERMINATED],
    ),
    (
        "message",
        &[
            (exit::SUCCESS, "The reply is whole."),
            (exit::FAILURE, "There is no reply, or none that is whole."),
            HELD,
            HUNG_UP,
            INTERRUPTED,
            QUIT,
            TERMINATED,
        ],
    ),
    (
        "chat",
        &[
            (exit::SUCCESS, "Whoever typed left."),
            HELD,
            (exit::USAGE, "Wrong usage, or there is no terminal."),
            HUNG_UP,
            QUIT,
            TERMINATED,
        ],
    ),
    (
        "setup",
        &[
            (exit::SUCCESS, "There was a first answer."),
            (exit::FAILURE, "A step failed, or nothing answered."),
            HELD,
            (
                exit::USAGE,
                "Wrong usage, or nobody can be asked and --yes is missing.",
            ),
            INTERRUPTED,
        ],
    ),
    (
        "status",
        &[
            (
                exit::SUCCESS,
                "Every daemon answers, or rests until it is needed.",
            ),
            (exit::FAILURE, "A daemon does not answer."),
            HUNG_UP,
            INTERRUPTED,
            QUIT,
            TERMINATED,
        ],
    ),
    (
        "doctor",
        &[
            (exit::SUCCESS, "No check failed; there may be warnings."),
            (exit::FAILURE, "A check failed."),
        ],
    ),
    (
        "security audit",
        &[
            (
                exit::SUCCESS,
                "Nothing critical was found; with --strict, nothing.",
            ),
            (exit::FAILURE, "Something was found."),
        ],
    ),
    ("backup", &[HELD, HUNG_UP, INTERRUPTED, QUIT, TERMINATED]),
    ("restore", &[HELD, HUNG_UP, INTERRUPTED, QUIT, TERMINATED]),
    (
        "config validate",
        &[
            (exit::SUCCESS, "The configuration can be used."),
            (exit::CONFIG, "It cannot be used."),
        ],
    ),
    (
        "config",
        &[(
            exit::CONFIG,
            "The configuration cannot be used, or could not be used with this change, which was not made.",
        )],
    ),
    ("start", &[HELD]),
    ("restart", &[HELD]),
    (
        "run",
        &[
            (
                exit::SUCCESS,
                "It was stopped, by Ctrl-C, SIGTERM or openclawctl stop.",
            ),
            HELD,
        ],
    ),
    ("turns attach", &[HELD, INTERRUPTED]),
    ("turns", &[HELD]),
    ("events", &[HELD, INTERRUPTED]),
    ("logs", &[INTERRUPTED]),
    ("cancel", &[HELD]),
    ("approvals", &[HELD]),
    ("channels", &[HELD]),
    ("pairing", &[HELD]),
    ("devices approve", &[UNDECIDED, HELD]),
    ("devices", &[HELD]),
    ("send", &[HELD]),
    ("cron", &[HELD]),
    ("token", &[HELD]),
    (
        "sessions find",
        &[(exit::FAILURE, "It failed, or no transcript was found.")],
    ),
    ("sessions", &[HELD]),
    (
        "models test",
        &[
            (exit::SUCCESS, "The model answered."),
            (exit::FAILURE, "It did not."),
            HELD,
        ],
    ),
    ("auth add", &[UNDECIDED]),
    ("auth remove", &[UNDECIDED]),
    ("auth adopt", &[UNDECIDED]),
    (
        "completions",
        &[(exit::FAILURE, "It could not be written.")],
    ),
];

/// The section of a page.
pub(crate) fn section(exits: &[Exit]) -> String {
    let rows = exits.iter();
    let rows = rows.map(|(code, words)| roff::term(&code.to_string(), words));
    roff::section("EXIT STATUS") + &rows.collect::<String>()
}

/// The commands that are named.
pub fn commands() -> impl Iterator<Item = &'static str> {
    OWN.iter().map(|(words, _)| *words)
}

/// What the command of these `words` ends with, by the codes.
pub(crate) fn of(words: &str) -> Vec<Exit> {
    let mut all = vec![DONE, FAILED, USAGE, CONFIG];
    for own in own(words) {
        match all.iter_mut().find(|(code, _)| *code == own.0) {
            Some(exit) => *exit = *own,
            None => all.push(*own),
        }
    }
    all.sort_by_key(|(code, _)| *code);
    all
}

/// Those of the longest command that `words` begin with.
fn own(words: &str) -> &'static [Exit] {
    let begins = |name: &str| {
        let rest = words.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || (rest.starts_with(' ') && !name.is_empty()))
    };
    let found = OWN.iter().filter(|(name, _)| begins(name));
    let longest = found.max_by_key(|(name, _)| name.len());
    longest.map_or(&[], |(_, exits)| exits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exits_are_those_of_the_command_in_their_order() {
        let codes = |words: &str| {
            let all = of(words).into_iter();
            all.map(|(code, _)| code).collect::<Vec<_>>()
        };
        assert_eq!(codes(""), [0, 1, 2, 3, 64, 78, 129, 130, 131, 143]);
        assert_eq!(codes("version"), [0, 1, 64, 78]);
        assert_eq!(codes("devices approve"), [0, 1, 2, 3, 64, 78]);
        assert_eq!(codes("devices list"), [0, 1, 3, 64, 78]);
        assert_eq!(of("status")[1].1, "A daemon does not answer.");
        assert_eq!(of("config set")[3].1, own("config")[0].1);
    }
}
