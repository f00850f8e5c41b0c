//! What was said in a session, as it is remembered.
//!
//! Of a transcript only what the user and the assistant said to each other is
//! memory: results of tools are copies of what is elsewhere, and thinking was
//! not meant for anybody. A prompt needs other fields of the same lines, so
//! they are read here and not by `openclaw_sessions::history`.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

use openclaw_retrieval::Message;
use openclaw_sessions::transcript::USER_SUFFIX;
use serde::Deserialize;
use serde::de::{self, IgnoredAny, SeqAccess, Visitor};

/// Of a longer transcript only the newest part is searched, in bytes: a
/// conversation of ten years. It bounds what indexing takes of memory.
const SIZE: u64 = 64 * 1024 * 1024;
/// A longer line is not a message that anybody wrote; in bytes.
const LINE: u64 = 8 * 1024 * 1024;

/// The model of answers that are made of what is remembered.
const OFFLINE: &str = "offline";

/// Channels of what nobody said to be remembered: a job, what woke an agent, a
/// webhook, and a call of the API without a session that goes on.
const PASSING: [&str; 4] = ["cron", "system", "hook", "api-once"];

/// What a transcript says.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    /// In the order of the file.
    pub(crate) messages: Vec<Message>,
    /// The lines of those that are not to be remembered.
    pub(crate) passing: BTreeSet<u32>,
    /// Lines that are no entries.
    pub(crate) corrupt: usize,
    /// Whether older messages were left out.
    pub(crate) cut: bool,
}

/// Reads a transcript. An unfinished last line is an append that is under way.
pub(crate) fn read(mut file: File) -> io::Result<Transcript> {
    let length = file.metadata()?.len();
    let mut transcript = Transcript::default();
    let mut number = 0;
    if length > SIZE {
        number = lines_before(&mut file, length - SIZE)?;
        transcript.cut = true;
    }
    let mut source = BufReader::new(file);
    let mut line = Vec::new();
    let mut is_passing = false;
    let mut asked = HashMap::new();
    while next_line(&mut source, &mut line)? {
        number += 1;
        match serde_json::from_slice::<Entry<'_>>(&line) {
            Ok(entry) => {
                // An answer is of the message before it.
                is_passing = entry.is_passing().unwrap_or(is_passing);
                if let Some(run) = entry.asked() {
                    asked.insert(run.to_owned(), number);
                }
                // It was taken back before anybody heard it.
                let withdrawn = entry.withdrawn().and_then(|run| asked.get(run));
                transcript.passing.extend(withdrawn);
                let message = entry.into_message(number);
                if is_passing && message.is_some() {
                    transcript.passing.insert(number);
                }
                transcript.messages.extend(message);
            }
            // JSON of a shape that is not known is a later version's.
            Err(error) if error.is_data() => {}
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(_) => transcript.corrupt += 1,
        }
    }
    Ok(transcript)
}

/// Skips `bytes` and the rest of the line they end in; returns the lines.
fn lines_before(file: &mut File, bytes: u64) -> io::Result<u32> {
    let mut source = BufReader::new(&mut *file);
    let mut skipped = Vec::new();
    let (mut lines, mut offset) = (0, 0);
    while offset < bytes {
        skipped.clear();
        let read = source.read_until(b'\n', &mut skipped)?;
        if read == 0 {
            break;
        }
        offset += read as u64;
        lines += 1;
    }
    drop(source);
    file.seek(SeekFrom::Start(offset))?;
    Ok(lines)
}

/// Reads one whole line; one that is too long is left empty.
fn next_line(source: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    source.by_ref().take(LINE).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        return Ok(true);
    }
    if (line.len() as u64) < LINE {
        return Ok(false);
    }
    line.clear();
    let mut rest = Vec::new();
    loop {
        rest.clear();
        source.by_ref().take(LINE).read_until(b'\n', &mut rest)?;
        match rest.last() {
            Some(b'\n') => return Ok(true),
            Some(_) => {}
            None => return Ok(false),
        }
    }
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    message: Option<Body<'a>>,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(default)]
    content: Words,
    #[serde(default)]
    timestamp: Option<i64>,
    /// Who answered.
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    /// Of a user's message: its run, with [`USER_SUFFIX`].
    #[serde(borrow, default, rename = "idempotencyKey")]
    idempotency_key: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "__openclaw")]
    own: Option<Own<'a>>,
}

/// What the gateway notes of a message.
#[derive(Deserialize)]
struct Own<'a> {
    #[serde(borrow, default)]
    channel: Option<Cow<'a, str>>,
    /// The gateway's own business, which is not remembered.
    #[serde(default)]
    command: Option<IgnoredAny>,
    #[serde(borrow, default, rename = "runId")]
    run_id: Option<Cow<'a, str>>,
    /// It ends a run whose message was taken back before a model saw it.
    #[serde(default)]
    withdrawn: Option<bool>,
}

impl Entry<'_> {
    /// Whether it was said to the gateway or by it, beside the conversation.
    fn is_command(&self) -> bool {
        let own = self.message.as_ref().and_then(|body| body.own.as_ref());
        own.is_some_and(|own| own.command.is_some())
    }

    /// Whether a message begins what is not to be remembered; None when it is
    /// no user's, and does not say that itself.
    fn is_passing(&self) -> Option<bool> {
        let body = self.message.as_ref()?;
        if self.is_command() {
            return None;
        }
        let channel = body.own.as_ref().and_then(|own| own.channel.as_deref());
        let is_passing = channel.is_some_and(|channel| PASSING.contains(&channel));
        (is_passing || body.role == "user").then_some(is_passing)
    }

    /// The run that a user's message began.
    fn asked(&self) -> Option<&str> {
        let body = self.message.as_ref().filter(|body| body.role == "user")?;
        body.idempotency_key.as_deref()?.strip_suffix(USER_SUFFIX)
    }

    /// The run whose message was taken back.
    fn withdrawn(&self) -> Option<&str> {
        let own = self.message.as_ref()?.own.as_ref()?;
        own.run_id
            .as_deref()
            .filter(|_| own.withdrawn == Some(true))
    }

    fn into_message(self, line: u32) -> Option<Message> {
        if self.is_command() {
            return None;
        }
        let (Some(id), Some(body), "message") = (self.id, self.message, &*self.kind) else {
            return None;
        };
        let text = body.content.0;
        let is_said = matches!(&*body.role, "user" | "assistant");
        let written = || self.timestamp?.parse::<jiff::Timestamp>().ok();
        (is_said && !text.trim().is_empty()).then(|| Message {
            id: id.into_owned(),
            speaker: body.role.into_owned(),
            text,
            timestamp_ms: body
                .timestamp
                .filter(|time| *time > 0)
                .or_else(|| written().map(jiff::Timestamp::as_millisecond))
                .unwrap_or(0),
            line,
            is_echo: body.model.as_deref() == Some(OFFLINE),
        })
    }
}

/// The text of a message: a text, or the text blocks among its blocks.
#[derive(Default)]
struct Words(String);

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    text: Option<String>,
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordsVisitor)
    }
}

struct WordsVisitor;

impl<'de> Visitor<'de> for WordsVisitor {
    type Value = Words;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or a list of blocks")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Words, E> {
        Ok(Words(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Words, A::Error> {
        let mut words = String::new();
        while let Some(block) = blocks.next_element::<Block<'de>>()? {
            if let ("text", Some(text)) = (&*block.kind, block.text) {
                if !words.is_empty() {
                    words.push('\n');
                }
                words.push_str(&text);
            }
        }
        Ok(Words(words))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn transcript(text: &str) -> Transcript {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        read(file).unwrap()
    }

    #[test]
    fn transcript_what_was_said_is_read_with_its_line_and_time() {
        let text = concat!(
            r#"{"type":"session","version":3,"id":"s","timestamp":"2026-03-04T05:06:07Z","cwd":"/"}"#,
            "\n",
            r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-04T05:06:07Z","message":{"role":"user","content":"Where is the key?","timestamp":1772600767123}}"#,
            "\n",
            r#"{"type":"message","id":"b","timestamp":"2026-03-04T05:06:09Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Under"},{"type":"toolCall","id":"c","name":"x","arguments":{}},{"type":"text","text":"the pot."}]}}"#,
            "\n",
            r#"{"type":"message","id":"d","message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"secret"}]}}"#,
            "\n",
            "rubbish\n\n",
            r#"{"type":"custom","id":"e","customType":"x","data":{}}"#,
            "\n",
            r#"{"type":"message","id":"f","message":{"role":"user","content":"torn"#,
        );
        let transcript = transcript(text);
        let said: Vec<_> = transcript
            .messages
            .iter()
            .map(|m| (m.id.as_str(), m.speaker.as_str(), m.text.as_str(), m.line))
            .collect();
        assert_eq!(
            said,
            [
                ("a", "user", "Where is the key?", 2),
                ("b", "assistant", "Under\nthe pot.", 3)
            ]
        );
        assert_eq!(transcript.messages[0].timestamp_ms, 1_772_600_767_123);
        assert_eq!(transcript.messages[1].timestamp_ms, 1_772_600_769_000);
        assert_eq!((transcript.corrupt, transcript.cut), (1, false));
    }

    #[test]
    fn message_that_was_taken_back_is_not_to_be_remembered() {
        let asked = |run: &str| {
            format!(
                r#"{{"type":"message","id":"{run}","message":{{"role":"user","content":"x","idempotencyKey":"{run}:user"}}}}"#
            ) + "\n"
        };
        let ended = |run: &str, withdrawn: bool| {
            format!(
                r#"{{"type":"message","id":"{run}e","message":{{"role":"assistant","content":[],"__openclaw":{{"runId":"{run}","withdrawn":{withdrawn}}}}}}}"#
            ) + "\n"
        };
        let lines = [
            asked("one"),
            asked("two"),
            ended("two", true),
            ended("one", false),
        ];
        let found = transcript(&lines.concat());
        assert_eq!(found.passing.into_iter().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn transcript_tells_what_is_not_to_be_remembered() {
        let said = |role: &str, channel: &str| {
            format!(
                r#"{{"type":"message","id":"{role}{channel}","message":{{"role":"{role}","content":"x","__openclaw":{{"channel":"{channel}"}}}}}}"#
            ) + "\n"
        };
        let lines = [
            said("user", "cron"),
            said("assistant", ""),
            said("user", "telegram"),
            said("assistant", ""),
            said("assistant", "api-once"),
            said("user", "api-once"),
            said("user", "hook"),
        ];
        let read = transcript(&lines.concat());
        assert_eq!(read.messages.len(), 7);
        assert_eq!(
            read.passing.into_iter().collect::<Vec<_>>(),
            [1, 2, 5, 6, 7]
        );
    }

    #[test]
    fn transcript_has_no_commands() {
        let said = |id: &str, role: &str, own: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","message":{{"role":"{role}","content":"x","__openclaw":{{{own}}}}}}}"#
            ) + "\n"
        };
        let lines = [
            said("1", "user", r#""channel":"cron""#),
            said("2", "user", r#""channel":"cli","command":"status""#),
            said("3", "assistant", r#""command":"status""#),
            said("4", "assistant", ""),
        ];
        let read = transcript(&lines.concat());
        let ids: Vec<&str> = read.messages.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["1", "4"]);
        assert_eq!(read.passing.into_iter().collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn transcript_of_a_very_long_one_the_newest_part_is_read() {
        let line = |id: usize| {
            let words = "word ".repeat(20_000);
            format!(
                r#"{{"type":"message","id":"m{id}","message":{{"role":"user","content":"{words}"}}}}"#
            ) + "\n"
        };
        let count = 700;
        let text: String = (0..count).map(line).collect();
        assert!(text.len() as u64 > SIZE);
        let transcript = transcript(&text);
        assert!(transcript.cut);
        let (first, last) = (&transcript.messages[0], transcript.messages.last().unwrap());
        assert_eq!(last.id, format!("m{}", count - 1));
        assert_eq!(last.line as usize, count);
        assert_eq!(first.id, format!("m{}", first.line - 1));
    }
}
