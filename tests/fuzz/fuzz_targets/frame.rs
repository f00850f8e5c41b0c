//! Frames of WebSocket clients: any text is refused or a request, and what it
//! asks of `connect` is refused or understood.
#![no_main]

use libfuzzer_sys::fuzz_target;
use openclaw_protocol::connect::Connect;
use openclaw_protocol::{Request, device, params, response};

fuzz_target!(|text: &str| {
    match Request::parse(text) {
        Err(malformed) => {
            let failure = openclaw_protocol::Failure::invalid(malformed.to_string());
            answers(malformed.id.as_deref().unwrap_or(response::NO_ID), &failure);
        }
        Ok(request) => {
            assert!(!request.id.is_empty() && !request.method.is_empty());
            let connect = params::decode::<Connect>("connect", request.params);
            match connect {
                Err(failure) => answers(&request.id, &failure),
                Ok(connect) => {
                    if let Some(it) = &connect.device {
                        // Nobody guesses a signature.
                        assert!(device::verify(&connect, it, "operator", "nonce", 0).is_err());
                    }
                }
            }
        }
    }
});

/// A refusal is a frame itself, whatever was quoted in it.
fn answers(id: &str, failure: &openclaw_protocol::Failure) {
    let text = response::text(id, Err(failure));
    let frame: serde_json::Value = serde_json::from_str(&text).expect("a frame is JSON");
    assert_eq!(frame["id"], id);
    assert_eq!(frame["ok"], false);
    assert!(!failure.message.is_empty());
}
