//! Words that end what runs, when a message is nothing else. The gateway obeys
//! them, and channel daemons hand them in without waiting for anything.

/// As OpenClaw has them, in all its languages
/// (`src/auto-reply/reply/abort-trigger-text.ts`, 2026.9.6).
const WORDS: [&str; 43] = [
    "stop",
    "esc",
    "abort",
    "exit",
    "interrupt",
    "detente",
    "deten",
    "detén",
    "arrete",
    "arrête",
    "停止",
    "停下来",
    "暂停",
    "やめて",
    "止めて",
    "रुको",
    "توقف",
    "стоп",
    "остановись",
    "останови",
    "остановить",
    "прекрати",
    "halt",
    "anhalten",
    "aufhören",
    "hoer auf",
    "stopp",
    "pare",
    "stop openclaw",
    "openclaw stop",
    "stop action",
    "stop current action",
    "stop run",
    "stop current run",
    "stop agent",
    "stop the agent",
    "stop don't do anything",
    "stop dont do anything",
    "stop do not do anything",
    "stop doing anything",
    "do not do that",
    "please stop",
    "stop please",
];

/// What people say to the same end, which OpenClaw's list has not.
const ALSO: [&str; 6] = [
    "stop all",
    "stop everything",
    "stop it",
    "stop now",
    "stop that",
    "stop this",
];

/// The command, by its names. What is said behind it changes nothing: who begins so wants an
/// end, and at once.
const COMMANDS: [&str; 2] = ["/stop", "/abort"];

/// What people put behind them.
const PUNCTUATION: &[char] = &[
    '.', '!', '?', '！', '？', '…', ',', '，', '。', ';', '；', ':', '：', '\'', '"', '’', '”',
    ')', ']', '}',
];

/// Characters of the longest of them with what may stand around it. More is no
/// such message, however long it is.
const LIMIT: usize = 256;

/// Whether `text` is only such words, or the command.
#[must_use]
pub fn is_stop(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.len() <= LIMIT && COMMANDS.contains(&normal(first).as_str()) {
        return true;
    }
    if text.len() > LIMIT {
        return false;
    }
    let words = normal(text);
    WORDS.contains(&words.as_str()) || ALSO.contains(&words.as_str())
}

/// In small letters, with plain apostrophes, single spaces and no punctuation
/// behind it.
fn normal(text: &str) -> String {
    let lower = text.to_lowercase().replace(['’', '`'], "'");
    let words: Vec<&str> = lower.split_whitespace().collect();
    let words = words.join(" ");
    words.trim_end_matches(PUNCTUATION).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_is_said_in_many_ways() {
        for text in [
            "stop",
            " STOP!! ",
            "/stop",
            "/Stop.",
            "/abort",
            "Please   stop…",
            "stop don’t do anything",
            "Стоп",
            "ARRÊTE !",
            "停止。",
            "esc",
            "stop please",
            "Stop it!",
            "STOP NOW",
            "/stop now",
            "/abort, the music",
            "/stop\neverything that runs",
        ] {
            assert!(is_stop(text), "{text}");
        }
        let long = "stop".to_owned() + &"!".repeat(LIMIT);
        for text in [
            "",
            "!",
            "wait",
            "stop it from raining",
            "don't stop",
            "stop now or later",
            "/stopped",
            "/stopwatch 5",
            "nonstop",
            &long,
        ] {
            assert!(!is_stop(text), "{text}");
        }
    }
}
