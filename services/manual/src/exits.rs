//! What commands end with.

/// A code, and what it says.
type Exit = (&'static str, &'static str);

const DONE: Exit = ("0", "It was done.");
const FAILED: Exit = ("1", "It failed, or what was named is not there.");
const UNDECIDED: Exit = (
    "2",
    "Somebody has to decide, and nobody could be asked, or it is not clear what is meant.",
);
const HELD: Exit = ("3", "Another suite uses the state directory.");
const USAGE: Exit = ("64", "Wrong usage.");
const CONFIG: Exit = (
    "78",
    "The configuration or the state cannot be used, so that trying again does not help.",
);
const INTERRUPTED: Exit = ("130", "Interrupted by Ctrl-C.");
const TERMINATED: Exit = ("143", "Ended by SIGTERM.");

/// What a command ends with beside [`DONE`], [`FAILED`], [`USAGE`] and [`CONFIG`], or in the
/// place of one of these.
const OWN: &[(&str, &[Exit])] = &[
    ("", &[UNDECIDED, HELD, INTERRUPTED, TERMINATED]),
    (
        "message",
        &[
            ("0", "The reply is whole."),
            ("1", "There is no reply, or none that is whole."),
            HELD,
            INTERRUPTED,
            TERMINATED,
        ],
    ),
    (
        "chat",
        &[
            ("0", "Whoever typed left."),
            HELD,
            ("64", "Wrong usage, or there is no terminal."),
            TERMINATED,
        ],
    ),
    (
        "setup",
        &[
            ("0", "There was a first answer."),
            ("1", "A step failed, or nothing answered."),
            HELD,
            (
                "64",
                "Wrong usage, or nobody can be asked and --yes is missing.",
            ),
            INTERRUPTED,
        ],
    ),
    (
        "status",
        &[
            ("0", "Every daemon answers, or rests until it is needed."),
            ("1", "A daemon does not answer."),
            INTERRUPTED,
        ],
    ),
    (
        "doctor",
        &[
            ("0", "No check failed; there may be warnings."),
            ("1", "A check failed."),
        ],
    ),
    (
        "security audit",
        &[
            ("0", "Nothing critical was found; with --strict, nothing."),
            ("1", "Something was found."),
        ],
    ),
    ("backup", &[HELD]),
    ("restore", &[HELD]),
    (
        "config validate",
        &[
            ("0", "The configuration can be used."),
            ("78", "It cannot be used."),
        ],
    ),
    (
        "config",
        &[(
            "78",
            "The configuration cannot be used, or could not be used with this change, which was not made.",
        )],
    ),
    ("start", &[HELD]),
    ("restart", &[HELD]),
    (
        "run",
        &[
            (
                "0",
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
        &[("1", "It failed, or no transcript was found.")],
    ),
    ("sessions", &[HELD]),
    (
        "models test",
        &[("0", "The model answered."), ("1", "It did not."), HELD],
    ),
    ("auth add", &[UNDECIDED]),
    ("auth remove", &[UNDECIDED]),
    ("auth adopt", &[UNDECIDED]),
    ("completions", &[("1", "It could not be written.")]),
];

/// What the command of these `words` ends with, by the codes.
pub(crate) fn of(words: &str) -> Vec<Exit> {
    let mut all = vec![DONE, FAILED, USAGE, CONFIG];
    for own in own(words) {
        match all.iter_mut().find(|(code, _)| *code == own.0) {
            Some(exit) => *exit = *own,
            None => all.push(*own),
        }
    }
    all.sort_by_key(|(code, _)| code.parse::<u8>().unwrap_or_default());
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
        assert_eq!(codes(""), ["0", "1", "2", "3", "64", "78", "130", "143"]);
        assert_eq!(codes("version"), ["0", "1", "64", "78"]);
        assert_eq!(codes("devices approve"), ["0", "1", "2", "3", "64", "78"]);
        assert_eq!(codes("devices list"), ["0", "1", "3", "64", "78"]);
        assert_eq!(of("status")[1].1, "A daemon does not answer.");
        assert_eq!(of("config set")[3].1, own("config")[0].1);
    }
}
