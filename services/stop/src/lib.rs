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

/// The command, by its names.
const COMMANDS: [&str; 2] = ["/stop", "/abort"];

/// What people put behind them.
const PUNCTUATION: &[char] = &[
    '.', '!', '?', '！', '？', '…', ',', '，', '。', ';', '；', ':', '：', '\'', '"', '’', '”',
    ')', ']', '}',
];

/// Characters of the longest of them with what may stand around it. More is no
/// such message, however long it is.
const LIMIT: usize = 256;

/// Whether `text` is only such words.
#[must_use]
pub fn is_stop(text: &str) -> bool {
    if text.len() > LIMIT {
        return false;
    }
    let words = normal(text);
    COMMANDS.contains(&words.as_str()) || WORDS.contains(&words.as_str())
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
            "/stop now",
            "nonstop",
            &long,
        ] {
            assert!(!is_stop(text), "{text}");
        }
    }
}
