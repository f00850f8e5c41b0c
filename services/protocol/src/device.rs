//! The identity of a device: an Ed25519 key, named by its SHA-256, that signs
//! what the client asks for together with the gateway's nonce.
//!
//! Signed text, version 3:
//! `v3|deviceId|clientId|clientMode|role|scope,scope|signedAtMs|token|nonce|platform|deviceFamily`,
//! the last two trimmed and in ASCII lower case. Version 2 ends at the nonce.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::signature::{ED25519, UnparsedPublicKey};

use crate::connect::{Connect, Device};

/// How far the client's clock may be off, in milliseconds.
const SKEW_LIMIT_MS: u64 = 120_000;

/// Bytes of an Ed25519 public key.
const KEY_LENGTH: usize = 32;

/// What precedes the key in a SubjectPublicKeyInfo (RFC 8410), which a PEM
/// file holds.
const SPKI_PREFIX_LENGTH: usize = 12;

/// Why a device is not who it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The key is not one.
    #[error("device public key invalid")]
    PublicKey,
    /// The id is not that of the key.
    #[error("device identity mismatch")]
    Id,
    /// Signed too long ago, or in the future.
    #[error("device signature expired")]
    Expired,
    /// The nonce is not the challenge's.
    #[error("device nonce mismatch")]
    Nonce,
    /// The signature is not of this text and key.
    #[error("device signature invalid")]
    Signature,
}

impl Invalid {
    /// `details.code` of the refusal.
    pub fn code(self) -> &'static str {
        match self {
            Self::PublicKey => "DEVICE_AUTH_PUBLIC_KEY_INVALID",
            Self::Id => "DEVICE_AUTH_DEVICE_ID_MISMATCH",
            Self::Expired => "DEVICE_AUTH_SIGNATURE_EXPIRED",
            Self::Nonce => "DEVICE_AUTH_NONCE_MISMATCH",
            Self::Signature => "DEVICE_AUTH_SIGNATURE_INVALID",
        }
    }

    /// `details.reason` of the refusal.
    pub fn reason(self) -> &'static str {
        match self {
            Self::PublicKey => "device-public-key",
            Self::Id => "device-id-mismatch",
            Self::Expired => "device-signature-stale",
            Self::Nonce => "device-nonce-mismatch",
            Self::Signature => "device-signature",
        }
    }
}

/// Checks the identity in `connect` against the challenge.
pub fn verify(
    connect: &Connect,
    device: &Device,
    role: &str,
    nonce: &str,
    now_ms: u64,
) -> Result<(), Invalid> {
    let key = public_key(&device.public_key).ok_or(Invalid::PublicKey)?;
    if device_id(&key) != device.id.0 {
        return Err(Invalid::Id);
    }
    if now_ms.abs_diff(device.signed_at) > SKEW_LIMIT_MS {
        return Err(Invalid::Expired);
    }
    if device.nonce.0 != nonce {
        return Err(Invalid::Nonce);
    }
    let signature = decode(&device.signature).ok_or(Invalid::Signature)?;
    let key = UnparsedPublicKey::new(&ED25519, key);
    signed_texts(connect, device, role)
        .iter()
        .any(|text| key.verify(text.as_bytes(), &signature).is_ok())
        .then_some(())
        .ok_or(Invalid::Signature)
}

/// The id of the device with this key.
pub fn device_id(key: &[u8]) -> String {
    hex(digest(&SHA256, key).as_ref())
}

/// Bytes as lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The texts that may be signed: version 3 and version 2, with the token that
/// the client signed along.
fn signed_texts(connect: &Connect, device: &Device, role: &str) -> [String; 2] {
    let auth = &connect.auth;
    let token = [&auth.token, &auth.device_token, &auth.bootstrap_token]
        .into_iter()
        .flatten()
        .find(|token| !token.is_empty());
    let scopes: Vec<&str> = connect.scopes.iter().map(|scope| &**scope).collect();
    let body = format!(
        "{}|{}|{}|{role}|{}|{}|{}|{}",
        device.id.0,
        connect.client.id.as_str(),
        connect.client.mode.as_str(),
        scopes.join(","),
        device.signed_at,
        token.map_or("", String::as_str),
        device.nonce.0,
    );
    let family = connect.client.device_family.as_deref().unwrap_or("");
    let v3 = format!(
        "v3|{body}|{}|{}",
        normal(&connect.client.platform),
        normal(family)
    );
    [v3, format!("v2|{body}")]
}

fn normal(text: &str) -> String {
    text.trim().to_ascii_lowercase()
}

/// The raw key from base64url, base64 or PEM.
fn public_key(text: &str) -> Option<Vec<u8>> {
    if text.contains("BEGIN PUBLIC KEY") {
        let body: String = text
            .lines()
            .filter(|line| !line.starts_with("-----"))
            .collect();
        let spki = STANDARD.decode(body.trim()).ok()?;
        let raw = spki.get(SPKI_PREFIX_LENGTH..)?;
        return (raw.len() == KEY_LENGTH).then(|| raw.to_vec());
    }
    decode(text).filter(|key| key.len() == KEY_LENGTH)
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim().trim_end_matches('=');
    let url: String = text
        .chars()
        .map(|c| match c {
            '+' => '-',
            '/' => '_',
            c => c,
        })
        .collect();
    URL_SAFE_NO_PAD.decode(url).ok()
}

#[cfg(test)]
mod tests;
