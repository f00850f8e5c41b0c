//! `channels test`: something is said to the owner.

use openclaw_proto::channel::AccountName;
use openclaw_proto::channel_admin::{AccountState, Pairings, Sent, Text};
use openclaw_settings::Settings;
use openclaw_terminal::{Failure, output};

use crate::gateway::{ContactsGateway, shown};
use crate::health::{Condition, Finding};
use crate::name::Named;

/// What is said.
const WORDS: &str = "This is a test of openclawctl: messages to you get through.";

/// Tells the owner something by the account, when that can come to them.
pub(crate) async fn execute(named: &Named, gateway: &ContactsGateway<'_>) -> Result<(), Failure> {
    let failed = |error| (gateway.failure)(&error);
    let states = gateway.client.accounts().await.map_err(failed)?;
    let state = ready(named, states)?;
    let pairings = gateway.client.pairings().await.map_err(failed)?;
    // Of a file that is wrong the gateway has told already, and uses the one before.
    let settings = openclaw_settings::load(gateway.environment).ok();
    let (to, name) = owner(&state, &pairings, settings.as_ref())?;
    let text = Text {
        account: state.account.clone(),
        to: to.clone(),
        thread: None,
        text: WORDS.to_owned(),
        file: None,
    };
    let sent = gateway.client.send(text).await.map_err(failed)?;
    let (name, to) = (output::line(&name), output::line(&to));
    if let Sent::Failed(why) = sent {
        let account = shown(&state.account);
        let why = output::line(&why);
        let problem = format!("the test message to {name} ({account} {to}) was not taken: {why}");
        return Err(Failure::new(problem));
    }
    output::stdout_line(&format!(
        "a test message goes to {name} ({} {to}); when none comes, see: openclawctl channels logs {}",
        shown(&state.account),
        named.shown()
    ))
}

/// The account, if messages go out there.
fn ready(named: &Named, states: Vec<AccountState>) -> Result<AccountState, Failure> {
    let mut states = states.into_iter();
    let found = states.find(|it| Named::of(&it.account, it.is_default).is(named));
    let Some(state) = found else {
        let failure = Failure::new(format!("no account {} is configured", named.shown()));
        return Err(failure.hint(format!(
            "openclawctl channels add {} connects it",
            named.shown()
        )));
    };
    let finding = Finding::of(&state);
    match finding.condition {
        Condition::Well | Condition::Partly => Ok(state),
        Condition::Off | Condition::Unsteady | Condition::Broken => {
            let failure = Failure::new(format!("{}: {}", finding.name, finding.detail));
            let on = || format!("openclawctl channels login {} connects it", named.shown());
            Err(failure.hint(finding.fix.unwrap_or_else(on)))
        }
    }
}

/// The owner's id there, and name: whoever was paired first, else the first of
/// `commands.ownerAllowFrom` that is on that channel, and where there is neither anywhere
/// the only one whom `allowFrom` names, as the gateway judges it.
fn owner(
    state: &AccountState,
    pairings: &Pairings,
    settings: Option<&Settings>,
) -> Result<(String, String), Failure> {
    let mut peers = pairings.peers.iter();
    let paired = peers.find(|it| it.is_owner && it.account == state.account);
    if let Some(peer) = paired {
        return Ok((peer.peer.clone(), peer.name.clone()));
    }
    let owners = settings.map(|settings| settings.channels.owners.as_slice());
    let owners = owners.unwrap_or_default().iter().map(ToString::to_string);
    let mut here = owners.filter_map(|it| id(&it, &state.account.channel).map(str::to_owned));
    let named = here.next().or_else(|| {
        let is_paired = pairings.peers.iter().any(|it| it.is_owner);
        only_listed(state, settings?).filter(|_| !is_paired)
    });
    if let Some(id) = named {
        return Ok((id, "the owner".to_owned()));
    }
    let bot = match &state.health {
        Some(health) if !health.identity.is_empty() => output::line(&health.identity),
        _ => "the bot".to_owned(),
    };
    let account = shown(&state.account);
    let waiting = pairings
        .requests
        .iter()
        .find(|it| it.account == state.account);
    let failure = Failure::new(format!("nobody is known as the owner on {account}"));
    Err(match waiting {
        Some(request) => failure.hint(format!(
            "{} has written to {bot}; if that is you: openclawctl pairing approve {}",
            output::line(&request.name),
            request.code
        )),
        None => failure.hint(format!(
            "write to {bot} first, then: openclawctl pairing approve CODE, with the code it answers"
        )),
    })
}

/// The only one who may talk at the account by name, where nobody is named as the owner.
fn only_listed(state: &AccountState, settings: &Settings) -> Option<String> {
    let AccountName { channel, account } = &state.account;
    let (_, account) = settings.channels.account(channel, account)?;
    match account.allow_from.as_slice() {
        [only] if settings.channels.owners.is_empty() => {
            id(&only.to_string(), channel).map(str::to_owned)
        }
        _ => None,
    }
}

/// The id of `owner` on `channel`, if it is one there.
fn id<'a>(owner: &'a str, channel: &str) -> Option<&'a str> {
    let id = match owner.split_once(':') {
        Some((of, id)) if of == channel || (of == "tg" && channel == "telegram") => id,
        Some(_) => return None,
        None => owner,
    };
    let is_number = !id.is_empty() && id.chars().all(|it| it.is_ascii_digit());
    is_number.then_some(id)
}

#[cfg(test)]
mod tests {
    use openclaw_proto::channel::{Connection, Health};
    use openclaw_proto::channel_admin::{PairedPeer, PairingRequest};

    use super::*;

    fn state(connection: Connection) -> AccountState {
        AccountState {
            account: AccountName {
                channel: "telegram".to_owned(),
                account: "default".to_owned(),
            },
            is_default: true,
            is_enabled: true,
            attended_since_ms: Some(1),
            health: Some(Health {
                state: connection,
                identity: "@bot".to_owned(),
                ..Health::default()
            }),
            missing_token: String::new(),
            unanswered_groups: Vec::new(),
        }
    }

    fn named(account: &str) -> Named {
        let account = openclaw_proto::channel::AccountName {
            channel: "telegram".to_owned(),
            account: account.to_owned(),
        };
        Named::of(&account, false)
    }

    #[test]
    fn test_needs_an_account_that_is_connected() {
        let connected = state(Connection::Connected);
        assert!(ready(&named("default"), vec![connected.clone()]).is_ok());
        let none = ready(&named("work"), vec![connected]).unwrap_err().text();
        assert!(none.contains("no account telegram:work"), "{none}");
        let refused = vec![state(Connection::Refused)];
        let refused = ready(&named("default"), refused).unwrap_err().text();
        assert!(refused.contains("refused as @bot"), "{refused}");
        let off = AccountState {
            is_enabled: false,
            ..state(Connection::Connected)
        };
        assert!(ready(&named("default"), vec![off]).is_err());
    }

    #[test]
    fn test_goes_to_the_owner_of_that_account_alone() {
        let state = state(Connection::Connected);
        let peer = PairedPeer {
            account: state.account.clone(),
            peer: "7".to_owned(),
            name: "Ada".to_owned(),
            ..PairedPeer::default()
        };
        let mut pairings = Pairings {
            requests: Vec::new(),
            peers: vec![peer.clone()],
        };
        assert!(owner(&state, &pairings, None).is_err(), "is no owner");
        pairings.requests.push(PairingRequest {
            account: state.account.clone(),
            code: "ABCDEFGH".to_owned(),
            ..PairingRequest::default()
        });
        assert!(owner(&state, &pairings, None).is_err());
        pairings.peers.push(PairedPeer {
            is_owner: true,
            ..peer
        });
        let found = owner(&state, &pairings, None).unwrap();
        assert_eq!(found, ("7".to_owned(), "Ada".to_owned()));
    }

    #[test]
    fn test_goes_to_the_only_one_who_may_talk_where_nobody_else_is_the_owner() {
        let folder = tempfile::tempdir().unwrap();
        let of = |allowed: &str| {
            let telegram = format!("{{channels: {{telegram: {{allowFrom: {allowed}}}}}}}");
            std::fs::write(folder.path().join("openclaw.json"), telegram).unwrap();
            let place = folder.path().display().to_string();
            let environment = [("OPENCLAW_STATE_DIR", place.clone()), ("HOME", place)];
            let environment = environment.into_iter().collect();
            openclaw_settings::load(&environment).unwrap()
        };
        let state = state(Connection::Connected);
        let mut pairings = Pairings::default();
        let only = of("[7]");
        let found = owner(&state, &pairings, Some(&only)).unwrap();
        assert_eq!(found.0, "7");
        for allowed in ["[7, 8]", "['*']"] {
            let several = of(allowed);
            assert!(owner(&state, &pairings, Some(&several)).is_err());
        }
        pairings.peers.push(PairedPeer {
            account: AccountName {
                account: "work".to_owned(),
                ..state.account.clone()
            },
            is_owner: true,
            ..PairedPeer::default()
        });
        assert!(owner(&state, &pairings, Some(&only)).is_err(), "another is");
    }

    #[test]
    fn owner_of_the_configuration_is_one_of_that_channel() {
        assert_eq!(id("telegram:7", "telegram"), Some("7"));
        assert_eq!(id("tg:7", "telegram"), Some("7"));
        assert_eq!(id("7", "telegram"), Some("7"));
        for other in ["signal:7", "*", "telegram:*", "telegram:", "@ada"] {
            assert_eq!(id(other, "telegram"), None, "{other}");
        }
    }
}
