//! What people type, of the commands below a command.

use super::Example;

/// By the words of a command.
pub(super) const BELOW: &[(&str, &[Example])] = &[
    (
        "approvals list",
        &[(
            "openclawctl approvals list --decided 20",
            "What waits, and the last 20 decisions",
        )],
    ),
    (
        "approvals allow",
        &[
            (
                "openclawctl approvals allow 3f2a91c0",
                "Let this call run, once",
            ),
            (
                "openclawctl approvals allow 3f2a91c0 --always",
                "The same command there from now on",
            ),
        ],
    ),
    (
        "approvals deny",
        &[("openclawctl approvals deny 3f2a91c0", "Tell the agent no")],
    ),
    (
        "approvals revoke",
        &[(
            "openclawctl approvals revoke \"git push\" --agent work",
            "Ask about it again",
        )],
    ),
    (
        "auth list",
        &[
            ("openclawctl auth list --agent work", "Of one agent"),
            ("openclawctl auth list --json", "For programs"),
        ],
    ),
    (
        "auth add",
        &[
            ("openclawctl auth add anthropic", "Ask for the key, unseen"),
            (
                "openclawctl auth add openai --key-variable OPENAI_API_KEY --replace",
                "Take it from the environment, in the place of the one that is there",
            ),
        ],
    ),
    (
        "auth remove",
        &[
            (
                "openclawctl auth remove anthropic:default",
                "A key, after asking",
            ),
            (
                "openclawctl auth remove codex --agent work --yes",
                "A login that was adopted",
            ),
        ],
    ),
    (
        "auth adopt",
        &[(
            "openclawctl auth adopt claude",
            "Show what lies in the agent's home, and ask",
        )],
    ),
    (
        "channels list",
        &[("openclawctl channels list --json", "For programs")],
    ),
    (
        "channels status",
        &[("openclawctl channels status", "How each account does")],
    ),
    (
        "channels add",
        &[
            ("openclawctl channels add telegram < token", "Connect a bot"),
            (
                "openclawctl channels add telegram:family",
                "A second account, by a name of its own",
            ),
        ],
    ),
    (
        "channels remove",
        &[(
            "openclawctl channels remove telegram:family",
            "Disconnect one account",
        )],
    ),
    (
        "channels login",
        &[(
            "openclawctl channels login telegram < token",
            "With another token",
        )],
    ),
    (
        "channels logs",
        &[(
            "openclawctl channels logs telegram -n 20",
            "The last 20 lines",
        )],
    ),
    (
        "channels test",
        &[(
            "openclawctl channels test telegram",
            "Does the provider know the bot?",
        )],
    ),
    (
        "config get",
        &[
            ("openclawctl config get agents.defaults.model", "One value"),
            (
                "openclawctl config get --file",
                "What the file says, without defaults",
            ),
        ],
    ),
    (
        "config set",
        &[
            (
                "openclawctl config set agents.defaults.model ollama/qwen3",
                "A text",
            ),
            (
                "openclawctl config set gateway.port 18800 --dry-run",
                "Only say whether it would be valid",
            ),
        ],
    ),
    (
        "config unset",
        &[(
            "openclawctl config unset agents.defaults.model",
            "The default holds again",
        )],
    ),
    (
        "config patch",
        &[
            (
                "openclawctl config patch \"{gateway: {port: 18800}}\"",
                "Several values at once",
            ),
            (
                "openclawctl config patch --file changes.json --dry-run",
                "Only say whether the result would be valid",
            ),
        ],
    ),
    (
        "config edit",
        &[(
            "openclawctl config edit",
            "In your editor; what is wrong is not taken over",
        )],
    ),
    (
        "config path",
        &[("openclawctl config path", "Where the file is")],
    ),
    (
        "config validate",
        &[
            (
                "openclawctl config validate",
                "The file in use, and all it refers to",
            ),
            (
                "openclawctl config validate ./openclaw.json --json",
                "Another one, for programs",
            ),
        ],
    ),
    (
        "config schema",
        &[(
            "openclawctl config schema gateway.port",
            "What a key may be",
        )],
    ),
    (
        "cron list",
        &[("openclawctl cron list --json", "For programs")],
    ),
    (
        "cron add",
        &[
            (
                "openclawctl cron add \"What is new?\" --cron \"0 9 * * 1-5\" --announce",
                "On workdays at nine, and say the answer",
            ),
            (
                "openclawctl cron add \"Water the plants\" --at \"tomorrow 18:00\" --remind",
                "Once, without a model",
            ),
            (
                "openclawctl cron add --name disk --every 1h --command \"df -h\"",
                "A line for the shell in the sandbox",
            ),
        ],
    ),
    (
        "cron show",
        &[(
            "openclawctl cron show disk",
            "When it runs next, and all of its settings",
        )],
    ),
    (
        "cron edit",
        &[(
            "openclawctl cron edit disk --every 30m",
            "Change when it runs",
        )],
    ),
    (
        "cron run",
        &[("openclawctl cron run disk", "Now, besides its times")],
    ),
    (
        "cron pause",
        &[("openclawctl cron pause disk", "Until it is resumed")],
    ),
    (
        "cron resume",
        &[("openclawctl cron resume disk", "At its times again")],
    ),
    (
        "cron remove",
        &[
            ("openclawctl cron remove disk", "One job"),
            (
                "openclawctl cron remove --agent-made",
                "Those that agents made",
            ),
        ],
    ),
    (
        "cron history",
        &[(
            "openclawctl cron history disk --limit 5",
            "How its last five runs went",
        )],
    ),
    (
        "devices list",
        &[("openclawctl devices list --json", "For programs")],
    ),
    (
        "devices approve",
        &[
            (
                "openclawctl devices approve",
                "Look at the only one that waits, and pair it",
            ),
            (
                "openclawctl devices approve 7b1c",
                "By the beginning of the request",
            ),
        ],
    ),
    (
        "devices reject",
        &[("openclawctl devices reject 7b1c", "Do not pair it")],
    ),
    (
        "devices revoke",
        &[(
            "openclawctl devices revoke laptop --role node",
            "Only its token for this role",
        )],
    ),
    (
        "devices remove",
        &[("openclawctl devices remove laptop", "Forget it")],
    ),
    (
        "memory search",
        &[
            (
                "openclawctl memory search \"garden fence\" --max-results 3",
                "The best three",
            ),
            (
                "openclawctl memory search fence --corpus sessions --explain",
                "In conversations, and what each score is made of",
            ),
        ],
    ),
    (
        "memory get",
        &[(
            "openclawctl memory get memory/2026-03-04.md:3-5",
            "Lines that a search named",
        )],
    ),
    (
        "memory add",
        &[(
            "openclawctl memory add \"Ada's birthday is in May\" --agent work",
            "For one agent",
        )],
    ),
    (
        "memory forget",
        &[
            (
                "openclawctl memory forget memory/2026-03-04.md:3-5",
                "Lines of a note",
            ),
            (
                "openclawctl memory forget --everywhere \"the old address\"",
                "The words, wherever they are",
            ),
        ],
    ),
    (
        "memory index",
        &[("openclawctl memory index --force", "Make the index anew")],
    ),
    (
        "memory status",
        &[("openclawctl memory status --json", "For programs")],
    ),
    (
        "memory export",
        &[(
            "openclawctl memory export --output memory.jsonl",
            "Into a file",
        )],
    ),
    (
        "memory eval",
        &[(
            "openclawctl memory eval questions.jsonl --json",
            "Figures, for programs",
        )],
    ),
    (
        "models list",
        &[("openclawctl models list --json", "For programs")],
    ),
    (
        "models test",
        &[
            (
                "openclawctl models test",
                "The one that answers the default agent",
            ),
            (
                "openclawctl models test anthropic/claude-sonnet-5 --timeout 20",
                "This one, within 20 seconds",
            ),
        ],
    ),
    ("pairing list", &[("openclawctl pairing list", "Who waits")]),
    (
        "pairing approve",
        &[(
            "openclawctl pairing approve K7QX2M9P",
            "Let somebody talk, by the code that they were given",
        )],
    ),
    (
        "pairing deny",
        &[("openclawctl pairing deny K7QX2M9P", "Do not")],
    ),
    (
        "pairing revoke",
        &[(
            "openclawctl pairing revoke telegram 123456789",
            "Let whoever has this id in no more",
        )],
    ),
    (
        "sessions list",
        &[
            (
                "openclawctl sessions list --active 60 --preview",
                "Those of the last hour, with what was said last",
            ),
            (
                "openclawctl sessions list --search garden --all",
                "Archived ones too",
            ),
        ],
    ),
    (
        "sessions show",
        &[(
            "openclawctl sessions show work --transcript --limit 20",
            "The last 20 messages",
        )],
    ),
    (
        "sessions find",
        &[(
            "openclawctl sessions find \"garden fence\" --since 2w",
            "By a project, within two weeks",
        )],
    ),
    (
        "sessions create",
        &[(
            "openclawctl sessions create work --label \"My work\" --thinking high",
            "With a name, and how much is thought",
        )],
    ),
    (
        "sessions patch",
        &[
            (
                "openclawctl sessions patch work --model ollama/qwen3",
                "Another model from now on",
            ),
            ("openclawctl sessions patch work --label \"\"", "No name"),
        ],
    ),
    (
        "sessions reset",
        &[(
            "openclawctl sessions reset work",
            "Begin the conversation anew",
        )],
    ),
    (
        "sessions compact",
        &[(
            "openclawctl sessions compact work --summary \"We chose cedar.\"",
            "A summary of your own",
        )],
    ),
    (
        "sessions archive",
        &[("openclawctl sessions archive work", "Out of the list")],
    ),
    (
        "sessions unarchive",
        &[("openclawctl sessions unarchive work", "Into the list again")],
    ),
    (
        "sessions delete",
        &[(
            "openclawctl sessions delete work --purge",
            "With its transcript",
        )],
    ),
    ("token show", &[("openclawctl token show", "Print it")]),
    (
        "token rotate",
        &[(
            "openclawctl token rotate --json",
            "Make another one, for programs",
        )],
    ),
    (
        "turns list",
        &[(
            "openclawctl turns list --limit 50 --wide",
            "The last 50, with the whole reason of those that failed",
        )],
    ),
    (
        "turns show",
        &[(
            "openclawctl turns show 0199c0de-1a2b --json",
            "All that is known of one, for programs",
        )],
    ),
    (
        "turns attach",
        &[(
            "openclawctl turns attach 0199c0de-1a2b",
            "What it says, from its beginning until it ends",
        )],
    ),
];
