//! Keys that lie encrypted on the disk (systemd-creds(1)) and that the user's service
//! manager decrypts for the agent-runner alone, when it starts it. What a manager can
//! is tried: those of systemd 256 and 257 encrypt for a user, and do not decrypt for a
//! user's services.

mod drop_in;
mod manager;
mod store;
mod unsealed;

pub use store::{Sealed, Store};
pub use unsealed::Unsealed;
