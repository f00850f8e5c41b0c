//! What the commands share: the gateway, names and the time.

use openclaw_config::{Environment, Paths};
use openclaw_proto::call::CallError;
use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::Client;
use openclaw_terminal::{Failure, output};

/// The gateway, and what its errors are to people.
pub struct ContactsGateway<'a> {
    /// The way to it.
    pub client: Client,
    /// The failure that an error is.
    pub failure: &'a dyn Fn(&CallError) -> Failure,
    /// Where the state is.
    pub paths: &'a Paths,
    /// The environment that programs are found in.
    pub environment: &'a Environment,
    /// Makes the suite that runs without systemd, if one does, read its configuration
    /// anew; whether one does.
    pub reload: &'a dyn Fn() -> bool,
    /// Brings systemd's units in line with the configuration; whether one was
    /// changed.
    pub align: &'a dyn Fn() -> Result<bool, Failure>,
}

/// An account as people are shown it: its channel alone where that is enough.
pub(crate) fn shown(account: &AccountName) -> String {
    let shown = match account.account.as_str() {
        "" | "default" => account.channel.clone(),
        name => format!("{}:{name}", account.channel),
    };
    output::line(&shown)
}

pub(crate) fn now_ms() -> i64 {
    openclaw_settings::now_ms().cast_signed()
}
