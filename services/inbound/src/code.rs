//! The codes that strangers are given.

/// Letters and digits that nobody takes for one another, as OpenClaw's.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Characters of a code.
pub const CODE_LENGTH: usize = 8;

/// The code that random bytes make: each letter is as likely as any other.
pub fn code(random: [u8; CODE_LENGTH]) -> String {
    let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
    random.into_iter().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn code_has_no_letter_that_is_taken_for_another(random: [u8; CODE_LENGTH]) {
            let code = code(random);
            prop_assert_eq!(code.len(), CODE_LENGTH);
            prop_assert!(code.bytes().all(|byte| LETTERS.contains(&byte)), "{code}");
            prop_assert!(!code.contains(['0', 'O', '1', 'I']));
        }
    }
}
