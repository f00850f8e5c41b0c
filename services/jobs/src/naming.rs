//! Short names for texts.

use ring::digest::{SHA256, digest};

/// Sixteen bytes that stand for `text` and for nothing else.
pub fn fingerprint(text: &str) -> [u8; 16] {
    let digest = digest(&SHA256, text.as_bytes());
    let mut bytes = [0; 16];
    bytes
        .iter_mut()
        .zip(digest.as_ref())
        .for_each(|(to, from)| *to = *from);
    bytes
}

/// A short name for `text`, which changes with it.
pub(crate) fn named(text: &str) -> String {
    let digest = digest(&SHA256, text.as_bytes());
    let digits = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
    format!("sha256:{}", digits.collect::<String>())
}
