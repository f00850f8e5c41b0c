//! Entry points of the fuzz targets in `tests/fuzz`, built for fuzzing alone.

pub use crate::wire::{model_request, usage_meter};

/// A number from the first two bytes, and the bytes after them.
pub fn number(bytes: &[u8]) -> (usize, &[u8]) {
    match bytes {
        [low, high, rest @ ..] => (usize::from(*low) | usize::from(*high) << 8, rest),
        _ => (0, &[]),
    }
}
