//! Entry ids: eight hexadecimal digits, unique in their file.

/// Lines written here are longer than this, so two of them never start in the
/// same block of as many bytes.
const SHORTEST_LINE: u64 = 64;

/// The id of the entry whose line starts at `offset`.
///
/// Random ids need every id of the file in memory to be sure that none comes
/// twice; an id computed from the line's place needs nothing: the mixing is a
/// bijection of 32 bits, so ids given here differ in files of up to 256 GiB.
/// Against an id that another program wrote, the chance is one in 2^32.
pub(crate) fn entry_id(salt: u32, offset: u64) -> String {
    let place = (offset / SHORTEST_LINE) as u32;
    format!("{:08x}", mix(place ^ salt))
}

/// Makes the ids of different sessions differ.
pub(crate) fn salt(session_id: &str) -> u32 {
    session_id.bytes().fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// The finalizer of MurmurHash3: every step can be undone.
fn mix(mut value: u32) -> u32 {
    value ^= value >> 16;
    value = value.wrapping_mul(0x85eb_ca6b);
    value ^= value >> 13;
    value = value.wrapping_mul(0xc2b2_ae35);
    value ^ (value >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_of_the_same_place_differ_between_sessions() {
        // FNV-1a and the finalizer of MurmurHash3, by their published values.
        assert_eq!(salt(""), 0x811c_9dc5);
        assert_eq!(salt("a"), 0xe40c_292c);
        assert_eq!(salt("foobar"), 0xbf9c_f968);
        assert_eq!(mix(0), 0);
        assert_eq!(mix(1), 0x514e_28b7);
        assert_eq!(entry_id(0, 0), "00000000");
        assert_eq!(entry_id(0, 64), "514e28b7");
        assert_eq!(entry_id(1, 63), "514e28b7");
        assert_ne!(entry_id(salt("a"), 0), entry_id(salt("b"), 0));
    }

    #[test]
    fn ids_of_lines_never_repeat() {
        let salt = salt("11111111-1111-4111-8111-111111111111");
        let ids: HashSet<_> = (0..200_000)
            .map(|n| entry_id(salt, n * 64 + n % 64))
            .collect();
        assert_eq!(ids.len(), 200_000);
        assert!(ids.iter().all(|id| id.len() == 8));
    }
}
