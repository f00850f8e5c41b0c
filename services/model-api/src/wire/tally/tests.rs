use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hyper::header::HeaderValue;
use serde_json::{Value, json};

use super::*;

fn used(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage {
        input,
        output,
        cache_read,
        cache_write,
    }
}

fn events(events: &[Value]) -> Vec<u8> {
    let texts = events.iter().map(|event| {
        let kind = event["type"].as_str().unwrap_or("x");
        format!("event: {kind}\r\ndata: {event}\r\n\r\n")
    });
    texts.collect::<String>().into_bytes()
}

/// Counted whole, and in pieces of every small size.
fn counted(api: Api, form: Form, answer: &[u8]) -> Usage {
    let count = |size: usize| {
        let mut tally = Tally::new(api, form, 300, Some(5000));
        answer.chunks(size).for_each(|piece| tally.feed(piece));
        tally.end();
        tally.usage()
    };
    let whole = count(answer.len().max(1));
    for size in [1, 2, 3, 7, 64] {
        assert_eq!(count(size), whole, "pieces of {size}");
    }
    whole
}

fn messages() -> Vec<Value> {
    vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 10,
            "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4, "output_tokens": 1}}}),
        json!({"type": "content_block_delta", "delta": {"type": "text_delta",
            "text": "not this: \"usage\":{\"output_tokens\":999}"}}),
        json!({"type": "message_delta", "usage": {"output_tokens": 20}}),
        json!({"type": "message_delta", "usage": {"output_tokens": 50}}),
        json!({"type": "message_stop"}),
    ]
}

#[test]
fn tally_of_every_api_is_what_the_provider_says() {
    let stream = events(&messages());
    assert_eq!(
        counted(Api::Anthropic, Form::Events, &stream),
        used(10, 50, 3, 4)
    );
    let pointed = json!({"usage": {"input_tokens": 10.0, "output_tokens": 50.0}}).to_string();
    assert_eq!(
        counted(Api::Anthropic, Form::Whole, pointed.as_bytes()),
        used(10, 50, 0, 0)
    );
    let whole = json!({"usage": {"input_tokens": 10, "output_tokens": 50}}).to_string();
    assert_eq!(
        counted(Api::Anthropic, Form::Whole, whole.as_bytes()),
        used(10, 50, 0, 0)
    );
    let usage = json!({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 6});
    let completed = json!({"type": "response.completed", "response": {"usage": usage}});
    assert_eq!(
        counted(Api::Responses, Form::Events, &events(&[completed])),
        used(6, 6, 4, 0)
    );
    let usage = json!({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens": 6});
    let chunks = [
        json!({"choices": [], "usage": null}),
        json!({"choices": [], "usage": usage}),
    ];
    let mut stream = events(&chunks);
    stream.extend_from_slice(b"data: [DONE]\n\n");
    assert_eq!(counted(Api::Chat, Form::Events, &stream), used(6, 6, 4, 0));
}

fn frame(event: &Value) -> Vec<u8> {
    let payload =
        json!({"bytes": BASE64_STANDARD.encode(event.to_string()), "p": "ab"}).to_string();
    let headers = b"\x0b:event-type\x07\x00\x05chunk";
    let length = 16 + headers.len() + payload.len();
    let mut frame = Vec::new();
    frame.extend(u32::try_from(length).unwrap().to_be_bytes());
    frame.extend(u32::try_from(headers.len()).unwrap().to_be_bytes());
    frame.extend([0; 4]);
    frame.extend(headers);
    frame.extend(payload.as_bytes());
    frame.extend([0; 4]);
    frame
}

#[test]
fn tally_of_amazons_messages_is_what_the_provider_says() {
    let stream: Vec<u8> = messages().iter().flat_map(frame).collect();
    assert_eq!(
        counted(Api::Bedrock, Form::Frames, &stream),
        used(10, 50, 3, 4)
    );
    let metrics = json!({"type": "message_stop", "amazon-bedrock-invocationMetrics":
        {"inputTokenCount": 7, "outputTokenCount": 9}});
    assert_eq!(
        counted(Api::Bedrock, Form::Frames, &frame(&metrics)),
        used(7, 9, 0, 0)
    );
    // Not such a stream at all, and still not for nothing.
    for broken in [&[0xff; 64][..], &[0; 64], b"\0\0\0\x0c\0\0\0\xff12345678"] {
        assert_eq!(
            counted(Api::Bedrock, Form::Frames, broken),
            used(100, tokens_of(broken.len()), 0, 0)
        );
    }
}

#[test]
fn tally_of_a_line_that_is_too_long_is_a_guess_and_the_next_line_is_read() {
    let mut tally = Tally::new(Api::Chat, Form::Events, 300, None);
    let long = vec![b'x'; (1 << 24) + 1];
    for piece in [b"data: ", &long[..], b"\n"] {
        tally.feed(piece);
    }
    assert!(tally.usage().output >= tokens_of(long.len()));
    let usage = json!({"usage": {"prompt_tokens": 10, "completion_tokens": 6}});
    tally.feed(&events(&[usage]));
    assert_eq!(tally.usage(), used(10, 6, 0, 0));
}

#[test]
fn tally_of_an_answer_that_does_not_say_is_a_guess_and_never_nothing() {
    let delta = json!({"type": "content_block_delta", "delta": {"text": "x".repeat(3000)}});
    let broken = events(&[messages()[0].clone(), delta.clone()]);
    let usage = counted(Api::Anthropic, Form::Events, &broken);
    assert_eq!((usage.input, usage.cache_read), (10, 3));
    assert!((900..1200).contains(&usage.output), "{usage:?}");
    // Nothing is known of it: a third of the bytes, and what it may be at most.
    for (form, answer) in [
        (Form::Events, events(&vec![delta; 40])),
        (Form::Whole, vec![b'x'; 60_000]),
        (Form::Opaque, vec![b'x'; 60_000]),
    ] {
        let usage = counted(Api::Chat, form, &answer);
        assert_eq!((usage.input, usage.output), (100, 5000), "{form:?}");
    }
    assert_eq!(counted(Api::Chat, Form::Whole, b""), used(100, 0, 0, 0));
    let odd = json!({"usage": {"prompt_tokens": -1, "completion_tokens": "many"}}).to_string();
    assert!(counted(Api::Chat, Form::Whole, odd.as_bytes()).input == 100);
}

#[test]
fn form_of_an_answer_is_in_its_headers() {
    let form = |kind: &'static str, coding: Option<&'static str>| {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        if let Some(coding) = coding {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        Form::of(&headers)
    };
    assert_eq!(form("text/event-stream; charset=utf-8", None), Form::Events);
    assert_eq!(
        form("application/vnd.amazon.eventstream", None),
        Form::Frames
    );
    assert_eq!(form("application/json", Some("identity")), Form::Whole);
    assert_eq!(form("text/event-stream", Some("gzip")), Form::Opaque);
}

#[test]
fn tally_counts_the_searches_that_are_charged_for() {
    let searched = |api: Api, form: Form, answer: &[u8]| {
        let mut tally = Tally::new(api, form, 300, None);
        answer.chunks(7).for_each(|piece| tally.feed(piece));
        tally.end();
        tally.extras().searches
    };
    let used = json!({"output_tokens": 5, "server_tool_use": {"web_search_requests": 12}});
    let whole = json!({"usage": used}).to_string();
    assert_eq!(searched(Api::Anthropic, Form::Whole, whole.as_bytes()), 12);
    let stream = events(&[json!({"type": "message_delta", "usage": used})]);
    assert_eq!(searched(Api::Anthropic, Form::Events, &stream), 12);
    let output = json!([{"type": "web_search_call"}, {"type": "message"}, {"type": "web_search_call"}, {"type": 7}, {}]);
    let answer = json!({"usage": {"input_tokens": 1, "output_tokens": 1}, "output": output});
    assert_eq!(
        searched(Api::Responses, Form::Whole, answer.to_string().as_bytes()),
        2
    );
    let stream = events(&[json!({"type": "response.completed", "response": answer})]);
    assert_eq!(searched(Api::Responses, Form::Events, &stream), 2);
    assert_eq!(
        searched(Api::Anthropic, Form::Events, &events(&messages())),
        0
    );
}

#[test]
fn tally_knows_what_is_kept_for_an_hour_and_counts_it_once() {
    let kept = |usage: Value| {
        let mut tally = Tally::new(Api::Anthropic, Form::Whole, 300, None);
        tally.feed(json!({"usage": usage}).to_string().as_bytes());
        tally.end();
        (tally.usage().cache_write, tally.extras().kept_for_an_hour)
    };
    let parts = json!({"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 40});
    let both = json!({"cache_creation_input_tokens": 43, "cache_creation": parts});
    assert_eq!(kept(both), (43, 40));
    assert_eq!(kept(json!({"cache_creation": parts})), (40, 40));
    assert_eq!(kept(json!({"cache_creation_input_tokens": 43})), (43, 0));
}
