//! What a model may stream, in both protocols.

use std::io::{Read as _, Seek as _};

use serde_json::Value;

use super::*;
use crate::fuzz::number;

/// Any stream of the Messages API, cut anywhere.
pub fn anthropic_stream(bytes: &[u8]) {
    stream(bytes, || Decoder::Anthropic(anthropic::Stream::default()));
}

/// Any stream of chat completions, cut anywhere.
pub fn openai_stream(bytes: &[u8]) {
    stream(bytes, || Decoder::OpenAi(openai::Stream::default()));
}

/// What comes of a stream: the lines that were emitted, and how it ended.
#[derive(Debug, PartialEq)]
struct Outcome {
    lines: Vec<u8>,
    end: String,
}

/// However the stream is cut, the same is passed on and the same comes of it; and
/// what is passed on is the answer.
fn stream(bytes: &[u8], decoder: impl Fn() -> Decoder) {
    let (size, bytes) = number(bytes);
    let (whole, reply) = read(decoder(), [bytes]);
    if let Some(reply) = reply {
        emitted(&whole.lines, &reply);
        for call in &reply.calls {
            let parsed = call.parse();
            assert!(parsed.is_ok_and(|it| it.is_object()) || call.parse().is_err());
        }
    }
    for size in [size % 64 + 1, 1] {
        let (cut, _) = read(decoder(), bytes.chunks(size));
        assert_eq!(cut, whole, "pieces of {size}");
    }
}

fn read<'a>(
    decoder: Decoder,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Outcome, Option<Reply>) {
    let mut file = tempfile::tempfile_in("/dev/shm")
        .or_else(|_| tempfile::tempfile())
        .expect("a temporary file");
    let out = Emitter::to(file.try_clone().expect("another descriptor"));
    let asked = Model::new(String::new(), String::new(), false);
    let mut reading = Reading {
        decoder,
        asked: &asked,
        out: &out,
        parser: Parser::default(),
        emitted: false,
        events: 0,
        bytes: 0,
    };
    let mut read = Ok(());
    for piece in pieces {
        if read.is_ok() && !reading.decoder.ended() {
            read = reading.take(Bytes::copy_from_slice(piece));
        }
    }
    if read.is_ok() && !reading.decoder.ended() {
        read = reading.take_rest();
    }
    let reply = read.and_then(|()| reading.reply());
    let mut lines = Vec::new();
    file.rewind().expect("rewind");
    file.read_to_end(&mut lines).expect("read");
    let end = match &reply {
        Ok(reply) => format!("{reply:?}"),
        Err(fault) => words(fault),
    };
    (Outcome { lines, end }, reply.ok())
}

fn words(fault: &Fault) -> String {
    match fault {
        Fault::BrokeOff(failure) => format!("broke off: {failure:?}"),
        Fault::Final(error) => format!("final: {error:?}"),
        Fault::Dialect(_) | Fault::Thinking | Fault::Elsewhere(_) => {
            panic!("nothing of a stream says that")
        }
    }
}

/// That the text of the events is the text of the answer.
fn emitted(lines: &[u8], reply: &Reply) {
    let (mut text, mut thinking) = (0, String::new());
    for line in lines
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let event: Value = serde_json::from_slice(line).expect("an event is a line of JSON");
        if event["type"] == "thinking_signed" {
            continue;
        }
        let said = event["text"].as_str().expect("an event has a text");
        match event["type"].as_str() {
            Some("text_delta") => text += said.len(),
            Some("thinking") => thinking.push_str(said),
            other => panic!("{other:?}"),
        }
    }
    // Blocks may be told in turns, and are put together one after the other.
    assert_eq!(text, reply.text.len());
    assert!(reply.reasoning.is_empty() || reply.reasoning == thinking);
}
