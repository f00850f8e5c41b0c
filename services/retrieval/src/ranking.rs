//! How scores are made. The defaults were chosen by measurement;
//! services/memory/README.md has the tables.

/// What each list of scores counts. Every list is brought to 0..1 first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// BM25 of the passage.
    pub text: f64,
    /// BM25 of the passage with its neighbours.
    pub window: f64,
    /// BM25 of the section or the part of the conversation.
    pub session: f64,
    /// Vector of the passage.
    pub vector: f64,
    /// Vector of the passage with its neighbours.
    pub vector_window: f64,
    /// Whether the speaker is named in the question.
    pub speaker: f64,
    /// Whether it has the kind of fact that is asked for: a date, a number.
    pub fact: f64,
    /// BM25 of the question that it follows.
    pub reply: f64,
    /// How near its words are to those of the question, one by one.
    pub words: f64,
    /// Whether it has things of the kind that is asked for.
    pub kind: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            text: 0.3,
            window: 0.3,
            session: 0.15,
            vector: 0.2,
            vector_window: 0.2,
            speaker: 0.3,
            fact: 0.1,
            reply: 0.0,
            words: 0.0,
            kind: 0.0,
        }
    }
}

/// How many lists of scores there are.
pub const LISTS: usize = 10;

impl Weights {
    /// What the lists count, in the order of [`crate::Parts::lists`].
    pub const fn new(weights: [f64; LISTS]) -> Self {
        let [
            text,
            window,
            session,
            vector,
            vector_window,
            speaker,
            fact,
            reply,
            words,
            kind,
        ] = weights;
        Self {
            text,
            window,
            session,
            vector,
            vector_window,
            speaker,
            fact,
            reply,
            words,
            kind,
        }
    }

    /// The lists by their names with what they count, in the same order.
    pub fn each(&self) -> [(&'static str, f64); LISTS] {
        [
            ("text", self.text),
            ("window", self.window),
            ("session", self.session),
            ("vector", self.vector),
            ("vectorWindow", self.vector_window),
            ("speaker", self.speaker),
            ("fact", self.fact),
            ("reply", self.reply),
            ("words", self.words),
            ("kind", self.kind),
        ]
    }

    /// Of a message among the best, which is looked at more closely. Chosen by
    /// leaving out one conversation at a time.
    pub const SAID: Self = Self {
        text: 0.0,
        window: 0.1,
        session: 0.17,
        vector: 0.06,
        vector_window: 0.12,
        speaker: 0.15,
        fact: 0.1,
        reply: 0.11,
        words: 0.14,
        kind: 0.05,
    };

    /// Of a note among the best where a model that is served elsewhere gave the vectors: they
    /// tell more than the table's. Of the shares from .35 to .8 that vectors may have of what is
    /// theirs and the words', the last found most, with multilingual-e5-small.
    pub const NOTED_REMOTE: Self = Self {
        text: 0.09,
        window: 0.09,
        session: 0.05,
        vector: 0.46,
        vector_window: 0.46,
        speaker: 0.3,
        fact: 0.1,
        reply: 0.0,
        words: 0.0,
        kind: 0.0,
    };

    /// The same of a message. Chosen by leaving out one conversation at a time, with that model.
    pub const SAID_REMOTE: Self = Self {
        window: 0.05,
        vector: 0.05,
        vector_window: 0.2,
        speaker: 0.14,
        reply: 0.1,
        words: 0.13,
        kind: 0.06,
        ..Self::SAID
    };
}

/// How scores become an order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// What the lists count.
    pub weights: Weights,
    /// What they count of notes among the best,
    pub noted: Weights,
    /// and of messages.
    pub said: Weights,
    /// After how many days half of what age can take from a score is taken.
    pub half_life_days: f64,
    /// What age leaves of a score at least; 0 to 1, 1 turns decay off.
    pub decay_floor: f64,
    /// 1 orders by score alone, less prefers what differs from what is already
    /// chosen; 0 to 1 (OpenClaw's mmr.lambda).
    pub mmr_lambda: f64,
}

impl Ranking {
    /// Where a model that is served elsewhere gave the vectors of the best.
    pub fn remote() -> Self {
        Self {
            noted: Weights::NOTED_REMOTE,
            said: Weights::SAID_REMOTE,
            ..Self::default()
        }
    }
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            weights: Weights::default(),
            noted: Weights::default(),
            said: Weights::SAID,
            half_life_days: 7.0,
            decay_floor: 0.9,
            mmr_lambda: 0.7,
        }
    }
}
