//! `channels.*`: how the accounts of channels do, and the end of one's login.

mod logout;

use std::collections::{BTreeMap, BTreeSet};

use openclaw_config::Environment;
use openclaw_proto::channel_admin::AccountState;
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_sessions::now_ms;
use openclaw_settings::channels::CHANNELS;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Answer, Call, config};
use crate::channels::{account, unsupported};

methods! {
    "channels.logout" => ADMIN, logout;
    "channels.status" => READ, status;
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Status {
    /// A channel's daemon is in touch with its provider all the time, and says how.
    #[serde(rename = "probe")]
    _probe: Option<bool>,
    #[serde(rename = "timeoutMs")]
    _timeout_ms: Option<u64>,
    channel: Option<Filled>,
}

/// `channels.status`: the channels of the configuration, and how each account
/// does.
async fn status(mut call: Call) -> Result<Answer, Failure> {
    let params: Status = call.params()?;
    let mut accounts: BTreeMap<String, Vec<AccountState>> = BTreeMap::new();
    for state in call.context.channels.states() {
        let of_channel = accounts.entry(state.account.channel.clone());
        of_channel.or_default().push(state);
    }
    // The file has those too that there is no daemon for.
    let written = config::channels(&call).await?;
    let mut names: BTreeSet<String> = written.into_iter().map(|(name, _)| name).collect();
    names.extend(accounts.keys().cloned());
    // What all channels share is not a channel.
    names.remove("defaults");
    if let Some(only) = &params.channel {
        names.retain(|name| *name == **only);
    }
    let settings = call.context.core.configuration.settings();
    let account = |state: &AccountState| account(state, &settings.channels);
    let (mut all, mut each, mut defaults) = (Map::new(), Map::new(), Map::new());
    for name in &names {
        let states = accounts.remove(name).unwrap_or_default();
        let default = states.iter().find(|state| state.is_default);
        let shown: Vec<Value> = if states.is_empty() {
            vec![unsupported()]
        } else {
            states.iter().map(account).collect()
        };
        let id = default.map_or("default", |state| state.account.account.as_str());
        defaults.insert(name.clone(), json!(id));
        all.insert(name.clone(), default.map_or_else(unsupported, account));
        each.insert(name.clone(), json!(shown));
    }
    let labels: Map<String, Value> = names
        .iter()
        .map(|name| (name.clone(), json!(name)))
        .collect();
    Ok(json!({
        "ts": now_ms(),
        "channelOrder": names,
        "channelLabels": labels,
        "channelDetailLabels": labels,
        "channelSystemImages": {},
        "channelMeta": [],
        "channels": all,
        "channelAccounts": each,
        "channelDefaultAccountId": defaults,
    })
    .into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Logout {
    channel: Filled,
    account_id: Option<String>,
}

/// `channels.logout`: the account's token is forgotten, and the account is off
/// until it has another one.
async fn logout(mut call: Call) -> Result<Answer, Failure> {
    let params: Logout = call.params()?;
    let channel = params.channel.0;
    if !CHANNELS.contains(&channel.as_str()) {
        let known = CHANNELS.join(", ");
        return Err(Failure::invalid(format!(
            "invalid channels.logout channel: {channel:?}; there are {known}"
        )));
    }
    let named = params.account_id.unwrap_or_default();
    let settings = call.context.core.configuration.settings();
    let Some((account, _)) = settings.channels.account(&channel, &named) else {
        return Err(Failure::invalid(format!(
            "channels.{channel} has no account {named:?}"
        )));
    };
    let account = account.to_owned();
    let is_default = settings.channels.is_default(&channel, &account);
    config::count_write(&call)?;
    let paths = settings.paths.clone();
    let account = logout::Account {
        channel,
        account,
        is_default,
    };
    let environment = Environment::inherit();
    let work = move || {
        let done = logout::forget(&account, &paths, &environment)?;
        Ok((account, done))
    };
    let (account, done) = config::blocking(work).await?;
    tracing::info!(
        openclaw_channel = account.channel,
        account = account.account,
        client = call.client.identity.id.as_str(),
        "a client ended the login of an account"
    );
    Ok(json!({
        "channel": account.channel,
        "accountId": account.account,
        "cleared": done.cleared,
        "envToken": done.env_token,
        "loggedOut": done.logged_out,
    })
    .into())
}
