//! Counting tokens.
//!
//! By the table of cl100k: no provider of the models we talk to publishes its
//! own, and theirs are larger, so that this counts rather too many than too
//! few. The table takes some 20 MB of memory, so it is loaded for a compaction
//! and dropped soon after it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tiktoken_rs::CoreBPE;

use super::{Error, cl100k};

/// Merging a run of letters takes the square of its length; longer ones are no
/// words and are counted in pieces of so many bytes.
const RUN: usize = 512;

/// Says that something is missing.
const MARK: &str = "\n[… cut here]";

/// How long the table stays after its last use: a conversation that is over its
/// budget is planned, its summary cut, and often planned once more.
const KEPT: Duration = Duration::from_secs(20);

/// A tokenizer.
#[derive(Clone)]
pub(crate) struct Tokens(Arc<CoreBPE>);

/// The tokenizer while it is used, and a little longer.
#[derive(Default)]
pub(crate) struct Table(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    tokens: Option<Tokens>,
    uses: u64,
}

impl Table {
    /// The tokenizer, loaded unless it is still there. Whoever asks has
    /// [`Table::let_go`] run afterwards.
    pub(crate) fn tokens(&self) -> Result<Tokens, Error> {
        let mut kept = self.kept();
        kept.uses += 1;
        if let Some(tokens) = &kept.tokens {
            return Ok(tokens.clone());
        }
        let tokens = Tokens::load()?;
        kept.tokens = Some(tokens.clone());
        Ok(tokens)
    }

    /// Drops the tokenizer when nobody asks for it for a while.
    pub(crate) async fn let_go(&self) {
        let uses = self.kept().uses;
        tokio::time::sleep(KEPT).await;
        let mut kept = self.kept();
        if kept.uses == uses {
            kept.tokens = None;
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}

impl Tokens {
    /// Loads the table, in about 100 ms.
    pub(crate) fn load() -> Result<Self, Error> {
        cl100k::tokenizer()
            .map(|table| Self(Arc::new(table)))
            .map_err(Error::Tokenizer)
    }

    /// The tokens of `text`.
    pub(crate) fn count(&self, text: &str) -> usize {
        pieces(text)
            .map(|piece| self.0.encode_ordinary(piece).len())
            .sum()
    }

    /// The beginning of `text` and a mark, with at most `limit` tokens
    /// together; without the mark where there is no room for it.
    pub(crate) fn cut(&self, text: &str, limit: usize) -> String {
        let mark = if self.count(MARK) * 2 <= limit {
            MARK
        } else {
            ""
        };
        // Tokens have one byte at least, so the first guess is never short.
        let mut bytes = self.prefix(text, limit);
        loop {
            let cut = format!("{}{mark}", &text[..bytes]);
            let count = self.count(&cut);
            if count <= limit || bytes == 0 {
                return if count <= limit { cut } else { String::new() };
            }
            let excess = (count - limit).max(1);
            bytes = boundary(text, bytes.saturating_sub(excess));
        }
    }

    /// The bytes of the first `limit` tokens.
    fn prefix(&self, text: &str, limit: usize) -> usize {
        let mut left = limit;
        let mut bytes = 0;
        for piece in pieces(text) {
            let tokens = self.0.encode_ordinary(piece);
            if tokens.len() > left {
                let head = self.0.decode_bytes(&tokens[..left]);
                let length = head.map_or(0, |head| head.len());
                return boundary(text, bytes + length);
            }
            left -= tokens.len();
            bytes += piece.len();
        }
        bytes
    }
}

/// The text, cut where a run without a blank goes on for too long.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(end_of_piece(rest));
        rest = after;
        Some(piece)
    })
}

fn end_of_piece(text: &str) -> usize {
    let mut begin = 0;
    for (at, character) in text.char_indices() {
        if character.is_whitespace() {
            begin = at + character.len_utf8();
        } else if at - begin >= RUN {
            return at;
        }
    }
    text.len()
}

/// The last place at or before `at` where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn table_is_there_for_a_while_after_its_last_use() {
        let table = Table::default();
        let first = table.tokens().unwrap();
        let is_same = |tokens: &Tokens| Arc::ptr_eq(&tokens.0, &first.0);
        let earlier = table.let_go();
        let (second, ()) = tokio::join!(
            async {
                tokio::time::sleep(KEPT / 2).await;
                table.tokens().unwrap()
            },
            earlier
        );
        assert!(is_same(&second));
        assert!(is_same(&table.tokens().unwrap()));
        table.let_go().await;
        assert!(table.kept().tokens.is_none());
        assert!(!is_same(&table.tokens().unwrap()));
    }
}
