//! What people type, with `--help` and in the man pages.

mod below;

use clap::Command;

/// A line to type, and what it does.
pub(crate) type Example = (&'static str, &'static str);

/// By the words of a command.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "",
        &[
            (
                "openclawctl message \"what did I decide about the garden?\"",
                "Ask, and read the answer as it comes",
            ),
            ("openclawctl status", "What runs, and what is wrong"),
            ("openclawctl logs --follow", "What happens"),
        ],
    ),
    (
        "chat",
        &[
            ("openclawctl chat", "Talk in the main session"),
            (
                "openclawctl chat --session work",
                "In a conversation of its own",
            ),
        ],
    ),
    (
        "message",
        &[
            (
                "openclawctl message \"hello\" --session work",
                "In a conversation of its own",
            ),
            (
                "git diff | openclawctl message --no-stream -",
                "What is to be read comes from standard input",
            ),
            (
                "openclawctl message \"hi\" --json | jq -r .type",
                "Every event as a line of JSON",
            ),
        ],
    ),
    (
        "setup",
        &[
            ("openclawctl setup", "Ask what is missing, and do it"),
            (
                "openclawctl setup --yes --key-stdin --provider openai < key",
                "Ask nothing",
            ),
        ],
    ),
    (
        "status",
        &[
            ("openclawctl status --watch", "Look anew every two seconds"),
            (
                "openclawctl status --json | jq .runner.backend",
                "For programs",
            ),
        ],
    ),
    (
        "doctor",
        &[(
            "openclawctl doctor --fix",
            "Mend what needs nobody's decision",
        )],
    ),
    (
        "memory",
        &[
            ("openclawctl memory search \"garden fence\"", "Find it"),
            (
                "openclawctl memory add \"Ada's birthday is in May\"",
                "Keep it",
            ),
        ],
    ),
    (
        "sessions",
        &[
            ("openclawctl sessions", "List them"),
            ("openclawctl sessions show main --transcript", "Read one"),
            ("openclawctl sessions find garden --since 2w", "Find one"),
        ],
    ),
    (
        "import",
        &[("openclawctl import --dry-run", "What would be taken over")],
    ),
    (
        "export",
        &[("openclawctl export --to ./sessions", "All of them")],
    ),
    (
        "backup",
        &[(
            "openclawctl backup",
            "Everything in one file, also while the suite runs",
        )],
    ),
    (
        "restore",
        &[
            ("openclawctl restore --check FILE", "Is it whole?"),
            ("openclawctl restore FILE", "Put it back"),
        ],
    ),
    (
        "config",
        &[
            (
                "openclawctl config set agents.defaults.model ollama/qwen3",
                "Change a value; comments stay",
            ),
            (
                "openclawctl config validate",
                "What is wrong, and what has no effect",
            ),
        ],
    ),
    (
        "start",
        &[
            (
                "openclawctl start",
                "The units, where systemd is; else the daemons in the background",
            ),
            ("openclawctl start --port 18800", "At another port"),
        ],
    ),
    (
        "stop",
        &[(
            "openclawctl stop",
            "The units, or what start --detach started",
        )],
    ),
    (
        "restart",
        &[(
            "openclawctl restart",
            "The units, or what start --detach started",
        )],
    ),
    (
        "turns",
        &[
            ("openclawctl turns --limit 50", "The last 50"),
            (
                "openclawctl turns show 0199c0de-1a2b",
                "All that is known of one",
            ),
            ("openclawctl turns attach 0199c0de-1a2b", "What it says"),
        ],
    ),
    ("agents", &[("openclawctl agents", "Who answers with what")]),
    (
        "models",
        &[
            ("openclawctl models list", "What answers"),
            (
                "openclawctl models test anthropic/claude-sonnet-5",
                "Does it?",
            ),
        ],
    ),
    (
        "events",
        &[(
            "openclawctl events --live",
            "Also what runs say while they go on",
        )],
    ),
    (
        "logs",
        &[
            ("openclawctl logs --follow", "What is logged from now on"),
            (
                "openclawctl logs --run 0199c0de-1a2b",
                "One message's story, through all daemons, with durations",
            ),
            (
                "openclawctl logs --level warn --since today",
                "What went wrong today",
            ),
            (
                "openclawctl logs --session main -n 20 --json",
                "For programs",
            ),
        ],
    ),
    (
        "cancel",
        &[
            ("openclawctl cancel", "What runs"),
            ("openclawctl cancel --all", "And what waits"),
        ],
    ),
    (
        "approvals",
        &[
            ("openclawctl approvals", "What waits"),
            (
                "openclawctl approvals allow 3f2a91c0 --always",
                "In this directory from now on",
            ),
        ],
    ),
    (
        "channels",
        &[
            ("openclawctl channels add telegram", "Connect a bot"),
            ("openclawctl channels status", "How it does"),
        ],
    ),
    (
        "devices",
        &[
            (
                "openclawctl devices",
                "Which clients are paired, and which want to be",
            ),
            (
                "openclawctl devices approve",
                "Look at the one that waits, and pair it",
            ),
            (
                "openclawctl devices revoke laptop",
                "Let a device that was lost in no more",
            ),
        ],
    ),
    (
        "pairing",
        &[("openclawctl pairing approve CODE", "Let somebody talk")],
    ),
    (
        "send",
        &[(
            "openclawctl send --to telegram:ID \"done\" --file report.pdf",
            "With a file",
        )],
    ),
    (
        "cron",
        &[
            (
                "openclawctl cron add \"What is new?\" --cron \"0 9 * * 1-5\" --announce",
                "On workdays at nine",
            ),
            ("openclawctl cron history", "How that went"),
        ],
    ),
    (
        "auth",
        &[
            ("openclawctl auth list", "Which there are"),
            ("openclawctl auth add anthropic", "Ask for a key, unseen"),
            (
                "pass show openai | openclawctl auth add openai --key-stdin",
                "From a store of passwords",
            ),
        ],
    ),
    (
        "security",
        &[
            (
                "openclawctl security audit",
                "What lets more in than it has to",
            ),
            (
                "openclawctl security audit --json --strict",
                "For a machine that looks after it",
            ),
        ],
    ),
    (
        "security audit",
        &[(
            "openclawctl security audit --verbose",
            "Also what was found to be well",
        )],
    ),
    (
        "token",
        &[
            ("openclawctl token", "Print it"),
            ("openclawctl token rotate", "Make another one"),
        ],
    ),
    (
        "sockets",
        &[("openclawctl sockets --port auto", "Move to a free port")],
    ),
    (
        "run",
        &[
            ("openclawctl run", "In this terminal, until Ctrl-C"),
            (
                "openclawctl run --detach",
                "In the background, until openclawctl stop",
            ),
        ],
    ),
    (
        "completions",
        &[
            (
                "source <(openclawctl completions bash)",
                "In bash; zsh likewise",
            ),
            ("openclawctl completions fish | source", "In fish"),
        ],
    ),
    ("version", &[("openclawctl version --json", "For programs")]),
];

/// All of them, by the words of their commands.
pub fn all() -> impl Iterator<Item = (&'static str, &'static [Example])> {
    EXAMPLES.iter().chain(below::BELOW).copied()
}

/// Those of a command.
pub fn of(words: &str) -> &'static [Example] {
    let found = all().find(|(command, _)| *command == words);
    found.map_or(&[], |(_, examples)| examples)
}

/// The commands with their examples below their help.
pub fn add(command: Command) -> Command {
    all().fold(command, |command, (words, examples)| {
        let text = shown(examples);
        let mut words = words.split_whitespace();
        match (words.next(), words.next()) {
            (None, _) => command.after_help(text),
            (Some(name), None) => command.mut_subcommand(name, |it| it.after_help(text)),
            (Some(name), Some(inner)) => command.mut_subcommand(name, |it| {
                it.mut_subcommand(inner, |it| it.after_help(text))
            }),
        }
    })
}

fn shown(examples: &[Example]) -> String {
    let lines = examples
        .iter()
        .map(|(line, what)| format!("  {line}\n      {what}"));
    format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"))
}
