//! What is to be done.

use std::time::Duration;

use crate::process::Role;

/// Of all kills, how many are of this.
pub(crate) type Weights = &'static [(Role, usize)];

/// What a turn does is what everything else is there for, and the gateway holds
/// it together.
const USUAL: Weights = &[
    (Role::Gateway, 6),
    (Role::Runner, 6),
    (Role::Memory, 3),
    (Role::Turn, 5),
];
/// Those that a message of a channel goes through. No process of a turn: what of
/// it is lost is told, and here every message is to be answered.
const OF_A_CHANNEL: Weights = &[(Role::Channel, 1), (Role::Gateway, 1), (Role::Runner, 1)];

/// How the suite is tortured.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Decides what is sent and what is killed.
    pub seed: u64,
    /// Processes that are killed.
    pub kills: usize,
    /// Senders at once, each with its own session.
    pub talkers: usize,
    /// The longest wait between two kills; each is a random part of it.
    pub pause: Duration,
    /// The longest wait of a sender between an answer and its next message.
    pub rest: Duration,
    pub(crate) weights: Weights,
}

impl Plan {
    /// The usual torture.
    pub fn new(seed: u64, kills: usize) -> Self {
        Self {
            seed,
            kills,
            talkers: 6,
            pause: Duration::from_millis(400),
            rest: Duration::ZERO,
            weights: USUAL,
        }
    }

    /// Twenty chats of Telegram.
    pub fn telegram(seed: u64, kills: usize) -> Self {
        Self {
            talkers: 20,
            rest: Duration::from_secs(40),
            weights: OF_A_CHANNEL,
            ..Self::new(seed, kills)
        }
    }
}
