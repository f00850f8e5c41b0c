//! What a page says of its command beside its options.

/// By the words of a command.
const NOTES: &[(&str, &str)] = &[
    (
        "auth add",
        "Where the user's service manager can decrypt it for the agent-runner, the key is kept \
     encrypted by systemd-creds(1), with the machine's own key and, where there is one, its TPM: \
     it is read on this machine alone. Elsewhere, and with --plain, it is kept in a file that its \
     owner alone may read. openclawctl auth list says which.",
    ),
    (
        "sessions patch",
        "What limits.NAME may be are the keys of agents.defaults.limits in openclaw.json(5) but \
     costPerDay, and timeoutSeconds and noOutputSeconds: how long a turn may take, and how long \
     it may say nothing.",
    ),
    (
        "message",
        "At a terminal the reply is laid out; with --raw, and where TERM is dumb or not set, it is \
     printed as it was written. What would act on the terminal is written out in either case. \
     Where standard output is no terminal, it is what the model said, byte for byte, control \
     characters too, and ends with a line end: the model's own, or one that is added. What the \
     agent does meanwhile, notes and warnings are on standard error. Ctrl-C, Ctrl-\\ and SIGTERM \
     end the turn; a terminal that is closed does not, and the reply is in the session. How much \
     is shown beside the reply says the session as well: /verbose, /reasoning and /usage in it.",
    ),
];

/// Those of the command of these `words`.
pub(crate) fn of(words: &str) -> Option<&'static str> {
    let found = NOTES.iter().find(|(command, _)| *command == words);
    found.map(|(_, text)| *text)
}
