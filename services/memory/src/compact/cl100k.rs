//! The table of tokens: what tiktoken has as 1.7 MB of text, in a quarter of it.

use std::io::{self, Read as _};

use tiktoken_rs::CoreBPE;

/// The tokens by rank, compressed: the length of each in a byte, then all of them.
const TOKENS: &[u8] = include_bytes!("cl100k.zst");
/// How many there are.
const COUNT: usize = 100_256;
/// What is never one token together.
const PATTERN: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";

/// The tokenizer, without the tokens that no text has.
pub(super) fn tokenizer() -> Result<CoreBPE, String> {
    let tokens = unpacked().map_err(|error| format!("its table is damaged: {error}"))?;
    let ranked = tokens.into_iter().zip(0..).collect();
    CoreBPE::new(ranked, Default::default(), PATTERN).map_err(|error| error.to_string())
}

fn unpacked() -> io::Result<Vec<Vec<u8>>> {
    let mut input = zstd::Decoder::with_buffer(TOKENS)?;
    let mut lengths = vec![0; COUNT];
    input.read_exact(&mut lengths)?;
    let token = |length| {
        let mut token = vec![0; usize::from(length)];
        input.read_exact(&mut token).map(|()| token)
    };
    lengths.into_iter().map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UPDATE_TABLE=1 writes the file.
    #[test]
    fn table_is_that_of_tiktoken() {
        let published = tiktoken_rs::cl100k_base().unwrap();
        let ranks = 0..COUNT as u32;
        let tokens: Vec<_> = ranks
            .map(|rank| published.decode_bytes(&[rank]).unwrap())
            .collect();
        assert!(published.decode_bytes(&[COUNT as u32]).is_err());
        if std::env::var_os("UPDATE_TABLE").is_some() {
            let lengths = tokens
                .iter()
                .map(|token| u8::try_from(token.len()).unwrap());
            let bytes = [lengths.collect(), tokens.concat()].concat();
            let packed = zstd::encode_all(&*bytes, 22).unwrap();
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/compact/cl100k.zst");
            std::fs::write(file, packed).unwrap();
        }
        assert!(
            unpacked().unwrap() == tokens,
            "cl100k.zst is not tiktoken's table; run: UPDATE_TABLE=1 cargo test -p openclaw-memory cl100k"
        );
        let text = "It's 2,026\r\n  here: naïve お誕生日 \t x_y_z != <|endoftext|>   ";
        assert_eq!(
            tokenizer().unwrap().encode_ordinary(text),
            published.encode_ordinary(text)
        );
    }
}
