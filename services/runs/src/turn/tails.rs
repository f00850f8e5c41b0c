//! The ends of conversations that go on: what was read for one message is kept
//! for the next, which then reads only what came in between.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use openclaw_sessions::Error;
use openclaw_sessions::history::{History, Tail};
use openclaw_tokens::CHARACTERS_PER_TOKEN;

/// Conversations that are kept; more than run at the same time by default.
const TAIL_LIMIT: usize = 16;

/// Characters of all of them together, which is a few megabytes.
const CHARACTER_LIMIT: usize = 2_000_000;

/// A conversation that rests this long is read anew.
const KEPT: Duration = Duration::from_secs(300);

/// How many times as much as is wanted is kept: the next message needs more.
const SLACK: usize = 2;

/// Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tails(Arc<Mutex<VecDeque<Kept>>>);

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    tail: Tail,
    at: Instant,
}

impl Tails {
    /// Takes the end of the conversation at `path` out, if it is there.
    pub(super) fn take(&self, path: &Path) -> Option<Tail> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|one| one.path == path)?;
        kept.remove(at).map(|one| one.tail)
    }

    /// Forgets all of them: transcripts say something else now.
    pub(crate) fn clear(&self) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clear();
    }

    /// Keeps it for the next message, which will want about as much.
    pub(super) fn put(&self, path: PathBuf, mut tail: Tail, tokens: usize) {
        tail.trim(tokens.saturating_mul(CHARACTERS_PER_TOKEN * SLACK));
        let at = Instant::now();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(Kept { path, tail, at });
        let mut characters: usize = kept.iter().map(|one| one.tail.characters()).sum();
        while let Some(oldest) = kept.front()
            && (kept.len() > TAIL_LIMIT
                || characters > CHARACTER_LIMIT
                || at.duration_since(oldest.at) > KEPT)
        {
            characters -= oldest.tail.characters();
            kept.pop_front();
        }
    }
}

/// The conversation at `path`, from what is known of it when that is enough.
pub(super) fn read(
    known: Option<Tail>,
    path: &Path,
    tokens: usize,
    waiting: &HashSet<String>,
) -> Result<(Tail, History), Error> {
    let caught_up = known.map(|tail| tail.caught_up(path)).transpose()?;
    if let Some(tail) = caught_up.flatten()
        && let Some(history) = tail.history(tokens, waiting)
    {
        return Ok((tail, history));
    }
    let tail = Tail::read(path, tokens, waiting)?;
    let history = tail.clone().into_history(tokens, waiting);
    Ok((tail, history))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(tails: &Tails, name: &str, text: &str) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let message = serde_json::json!({"role": "user", "content": text});
        let line = serde_json::json!({"type": "message", "id": "a", "message": message});
        std::fs::write(&path, format!("{line}\n")).unwrap();
        let tail = Tail::read(&path, 1_000_000, &HashSet::new()).unwrap();
        tails.put(PathBuf::from(name), tail, 1_000_000);
    }

    #[test]
    fn tails_as_many_are_kept_as_there_is_room_for() {
        let tails = Tails::default();
        for n in 0..=TAIL_LIMIT {
            put(&tails, &n.to_string(), "x");
        }
        assert!(tails.take(Path::new("0")).is_none());
        assert!(tails.take(Path::new("1")).is_some());
        assert!(tails.take(Path::new("1")).is_none(), "it was taken out");
        // Each of these counts as four characters.
        put(&tails, "long", &"ж".repeat(CHARACTER_LIMIT / 4));
        assert!(tails.take(Path::new("2")).is_none());
        assert!(tails.take(Path::new("long")).is_some());
        put(&tails, "longer", &"ж".repeat(CHARACTER_LIMIT / 4 + 1));
        assert!(tails.take(Path::new("longer")).is_none());
    }
}
