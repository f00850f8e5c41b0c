//! What the daemon of an account is told, step by step.

use std::sync::Arc;

use openclaw_commands::COMMANDS;
use openclaw_daemon::Configuration;
use openclaw_proto::channel::{AccountName, Instruction, OfferedCommand, Settings};
use openclaw_settings as settings;
use openclaw_settings::channels::of_the_daemon;
use openclaw_settings::keys::channels::{CustomCommand, NativeCommands};
use tokio_util::sync::CancellationToken;

use super::{Channels, Refused};

pub(super) struct Attending {
    channels: Arc<Channels>,
    account: AccountName,
    configuration: Configuration,
    told: Option<Settings>,
    /// What the configuration called the account when that was told.
    name: Option<String>,
    taken: CancellationToken,
    is_over: bool,
}

impl Attending {
    pub(super) fn new(
        channels: Arc<Channels>,
        account: AccountName,
        taken: CancellationToken,
    ) -> Self {
        Self {
            configuration: channels.core.configuration.clone(),
            channels,
            account,
            told: None,
            name: None,
            taken,
            is_over: false,
        }
    }

    /// What is told next, and the state for what comes after it.
    pub(super) async fn step(mut self) -> Option<(Result<Instruction, Refused>, Self)> {
        if self.is_over {
            return None;
        }
        let next = self.next().await;
        self.is_over = !matches!(next, Ok(Instruction::Settings(_)));
        Some((next, self))
    }

    async fn next(&mut self) -> Result<Instruction, Refused> {
        loop {
            if self.channels.closing.is_cancelled() {
                return Err(Refused::Stopping);
            }
            if self.taken.is_cancelled() {
                return Err(Refused::Superseded);
            }
            let settings = self.configuration.settings();
            // Before it is told its settings, with which it looks for it.
            if let Err(error) = super::token::hand_over(&settings, &self.account) {
                openclaw_daemon::failure::report("hand a channel daemon its secrets", &error);
            }
            let account = Channels::account_that_is_on(&settings, &self.account);
            let account = match account {
                Ok((canonical, account)) if canonical == self.account => account,
                Ok(_) => {
                    let reason = "another account is the channel's default one now";
                    return Ok(Instruction::Retire(reason.to_owned()));
                }
                Err(refused) => return Ok(Instruction::Retire(refused.to_string())),
            };
            let name = settings
                .channels
                .account(&self.account.channel, &self.account.account);
            let name = name.map(|(name, _)| name.to_owned());
            if self.name.is_some() && self.name != name {
                // Another one is the default account now.
                self.channels.forget_health(&self.account);
            }
            self.name = name;
            let now = told(&settings, account);
            if self.told.as_ref() != Some(&now) {
                self.told = Some(now.clone());
                return Ok(Instruction::Settings(now));
            }
            let taken = self.taken.clone();
            tokio::select! {
                () = taken.cancelled() => {}
                more = self.configuration.changed() => if !more {
                    taken.cancelled().await;
                }
            }
        }
    }
}

impl Drop for Attending {
    fn drop(&mut self) {
        self.channels.leave(&self.account, &self.taken);
    }
}

/// An account's settings, as far as they are its daemon's.
fn told(settings: &settings::Settings, account: &settings::keys::channels::Account) -> Settings {
    let json = of_the_daemon(account);
    let own = json.get("customCommands").cloned().unwrap_or_default();
    let own: Vec<CustomCommand> = serde_json::from_value(own).unwrap_or_default();
    let own = own.into_iter().map(|own| OfferedCommand {
        name: own.command,
        description: own.description,
    });
    let ours = COMMANDS.iter().map(|command| OfferedCommand {
        name: command.name.to_owned(),
        description: command.description.to_owned(),
    });
    let offers_ours = account.commands.native != NativeCommands::Set(false);
    let commands = ours.filter(|_| offers_ours).chain(own).collect();
    let names = settings
        .agents
        .values()
        .filter_map(|agent| agent.persona.name.clone());
    Settings {
        json,
        names: names.collect(),
        commands,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use openclaw_commands::COMMANDS;
    use openclaw_effect::values::telegram::NATIVE;

    #[test]
    fn commands_of_the_gateway_are_those_that_no_own_one_is_called() {
        let all = COMMANDS.iter();
        let all = all.flat_map(|it| std::iter::once(&it.name).chain(it.aliases));
        let all: BTreeSet<&str> = all.copied().collect();
        assert_eq!(all, NATIVE.iter().copied().collect());
    }
}
