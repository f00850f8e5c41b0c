//! A strict double of Telegram's Bot API on loopback.
//!
//! It keeps updates until they are confirmed, ends all pollers but the last, refuses
//! what Telegram refuses in Telegram's words, and lets calls go wrong as a test
//! wants them to ([`Fault`]). What it was called is a [`Call`], what the bot said a
//! [`Sent`].

mod body;
mod control;
mod cut;
pub mod entities;
mod limits;
mod methods;
mod server;
mod state;
mod webhook;

pub use limits::Storm;
pub use server::Double;
pub use state::{Call, Fault, Sent};

/// The bot's id, unless it is another one.
pub const BOT: i64 = 4200;
/// Its name.
pub const NAME: &str = "double_bot";
/// Its token.
pub const TOKEN: &str = "4200:AAdouble-Token_of_the_double";
/// What a token has behind the bot's id.
const SECRET: &str = "AAdouble-Token_of_the_double";
