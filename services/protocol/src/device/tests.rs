//! Against identities that OpenClaw's own gateway accepted (recorded).

use super::*;
use crate::params::decode as decode_params;
use proptest::prelude::*;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

/// The handshake of `ws-scope`, with one scope.
const NONCE: &str = "204bbb0f-f4d4-4a58-9cee-d63eb8136695";
const SIGNED_AT: u64 = 1_795_218_613_616;

fn recorded() -> Value {
    json!({
        "minProtocol": 4, "maxProtocol": 4,
        "client": {"id": "gateway-client", "version": "1.0.0", "platform": "linux", "mode": "backend"},
        "role": "operator", "scopes": ["operator.read"], "caps": ["tool-events"],
        "commands": [], "permissions": {}, "auth": {"token": "test-token-0123456789abcdef"},
        "locale": "en-US", "userAgent": "wsrec/1.0",
        "device": {
            "id": "e86bf967449244401ffbaf6e8b5b6018da0c90c51e818241fb49ffb3994dfb3d",
            "publicKey": "KCBetnwj8ULRCcNOQDJsCKf0-AucetSdiQJZFsRbJEE",
            "signature": "xZe2SsOVj1lAs-SRCzoPNtfQo38Y7tgiMIcl0RWCGJP2aDiY8zYS5-ZQVuMXCNEbrkw9RJKEzw-_tyVrOSHJBA",
            "signedAt": SIGNED_AT, "nonce": NONCE,
        },
    })
}

fn check(params: Value, nonce: &str, now: u64) -> Result<(), Invalid> {
    let connect: Connect = decode_params("connect", params).unwrap();
    let device = connect.device.clone().unwrap();
    verify(&connect, &device, "operator", nonce, now)
}

#[test]
fn recorded_identity_is_valid_only_as_it_was_recorded() {
    assert_eq!(check(recorded(), NONCE, SIGNED_AT), Ok(()));
    assert_eq!(check(recorded(), NONCE, SIGNED_AT + SKEW_LIMIT_MS), Ok(()));
    assert_eq!(
        check(recorded(), NONCE, SIGNED_AT + SKEW_LIMIT_MS + 1),
        Err(Invalid::Expired)
    );
    assert_eq!(check(recorded(), "other", SIGNED_AT), Err(Invalid::Nonce));
    let changed = |pointer: &str, value: Value| {
        let mut params = recorded();
        *params.pointer_mut(pointer).unwrap() = value;
        check(params, NONCE, SIGNED_AT)
    };
    assert_eq!(
        changed("/scopes", json!(["operator.admin"])),
        Err(Invalid::Signature)
    );
    assert_eq!(changed("/auth", json!({})), Err(Invalid::Signature));
    assert_eq!(
        changed("/client/platform", json!("ios")),
        Err(Invalid::Signature)
    );
    assert_eq!(changed("/client/platform", json!(" Linux ")), Ok(()));
    assert_eq!(
        changed("/device/publicKey", json!("AAAA")),
        Err(Invalid::PublicKey)
    );
    assert_eq!(changed("/device/id", json!("00")), Err(Invalid::Id));
    assert_eq!(
        changed("/device/signature", json!("!")),
        Err(Invalid::Signature)
    );
}

fn signed(seed: &[u8; 32], version: &str) -> Value {
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).unwrap();
    let key = pair.public_key().as_ref();
    let mut params = recorded();
    params["device"]["id"] = json!(device_id(key));
    params["device"]["publicKey"] = json!(URL_SAFE_NO_PAD.encode(key));
    params["device"]["signature"] = json!("x");
    let connect: Connect = decode_params("connect", params.clone()).unwrap();
    let [v3, v2] = signed_texts(&connect, connect.device.as_ref().unwrap(), "operator");
    let text = if version == "v2" { v2 } else { v3 };
    params["device"]["signature"] = json!(URL_SAFE_NO_PAD.encode(pair.sign(text.as_bytes())));
    params
}

proptest! {
    /// Both versions of the text, any key; and no other key's signature.
    #[test]
    fn device_any_key_signs_for_itself_alone(seed: [u8; 32], other: [u8; 32]) {
        for version in ["v2", "v3"] {
            let params = signed(&seed, version);
            prop_assert_eq!(check(params.clone(), NONCE, SIGNED_AT), Ok(()));
            let mut stolen = signed(&other, version);
            stolen["device"]["signature"] = params["device"]["signature"].clone();
            if seed != other {
                prop_assert_eq!(check(stolen, NONCE, SIGNED_AT), Err(Invalid::Signature));
            }
        }
    }

    #[test]
    fn rubbish_is_refused(key in ".{0,80}", signature in ".{0,120}") {
        let mut params = recorded();
        params["device"]["publicKey"] = json!(format!("x{key}"));
        params["device"]["signature"] = json!(format!("x{signature}"));
        prop_assert!(check(params, NONCE, SIGNED_AT).is_err());
    }
}
