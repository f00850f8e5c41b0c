//! The logins among the profiles, and the profile that a session chose.

use std::sync::Arc;

use openclaw_credentials::{Credential, Profile, renewal};

use super::super::now_ms;
use super::{Pinned, RunnerSettings};
use crate::provider::{Access, Provider};

impl RunnerSettings {
    /// The logins for these providers that can be renewed, each with its agent: those of the agent,
    /// and for a provider that it has no profile for those that it shares.
    pub fn logins(&self, agent_id: &str, providers: &[String]) -> Vec<(String, Profile)> {
        let of = |agent: &str, provider: &String| {
            let all = self.permitted(agent_id, agent, provider).into_iter();
            let named = all.map(|profile| (agent.to_owned(), profile.clone()));
            named.collect::<Vec<_>>()
        };
        let chosen = providers.iter().flat_map(|provider| {
            let mut all = self.holders(agent_id).into_iter();
            let found = all.find_map(|it| Some(of(it, provider)).filter(|it| !it.is_empty()));
            found.unwrap_or_default()
        });
        chosen
            .filter(|(_, profile)| profile.renewable().is_some())
            .collect()
    }

    /// The settings with new tokens for a login.
    #[must_use]
    pub fn with_tokens(&self, agent_id: &str, id: &str, tokens: &renewal::Tokens) -> Self {
        let mut settings = self.clone();
        let profiles = settings.profiles.get_mut(agent_id).into_iter().flatten();
        for profile in profiles.filter(|profile| profile.id == id) {
            profile.credential = Credential::OAuth {
                access: tokens.access.clone(),
                refresh: Some(tokens.refresh.clone()),
                expires_ms: tokens.expires_ms,
            };
        }
        settings
    }

    /// The settings with those logins taken for good that `will_do` says are;
    /// it is given each with its agent.
    #[must_use]
    pub fn with_logins(self: &Arc<Self>, will_do: impl Fn(&str, &Profile) -> bool) -> Arc<Self> {
        let now = now_ms();
        let mut ended = Vec::new();
        for (agent, profiles) in &self.profiles {
            let ended_ones = profiles
                .iter()
                .enumerate()
                .filter(|(_, profile)| !profile.is_usable(now) && will_do(agent, profile));
            ended.extend(ended_ones.map(|(place, _)| (agent.clone(), place)));
        }
        if ended.is_empty() {
            return Arc::clone(self);
        }
        let mut settings = Self::clone(self);
        for (agent, place) in ended {
            let profile = settings.profiles.get_mut(&agent);
            let credential = profile.and_then(|all| Some(&mut all.get_mut(place)?.credential));
            if let Some(Credential::OAuth { expires_ms, .. }) = credential {
                *expires_ms = None;
            }
        }
        Arc::new(settings)
    }

    /// Makes the settings use the profile `id`, before all other ways in of its provider or, with
    /// `is_only`, instead of them. False: the agent has none of that name.
    pub fn pin(&mut self, agent_id: &str, id: &str, is_only: bool) -> bool {
        let found = self.profile(agent_id, id);
        let Some(provider) = found.map(|profile| profile.provider.clone()) else {
            return false;
        };
        self.pinned = Some(Pinned {
            provider,
            id: id.to_owned(),
            is_only,
        });
        true
    }

    /// Whether a profile was chosen among the ways in of the provider.
    pub fn is_pinned(&self, provider: &str) -> bool {
        let pinned = self.pinned.as_ref();
        pinned.is_some_and(|pinned| pinned.provider == provider)
    }

    /// The ids of the profiles that turns of the agent can use: its own and those that it shares.
    pub fn profile_ids(&self, agent_id: &str) -> Vec<&str> {
        let agents = self.holders(agent_id);
        let mut ids: Vec<&str> = agents
            .iter()
            .filter_map(|agent| self.profiles.get(*agent))
            .flatten()
            .map(|profile| profile.id.as_str())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn profile(&self, agent_id: &str, id: &str) -> Option<&Profile> {
        let agents = self.holders(agent_id);
        let mut all = agents
            .iter()
            .filter_map(|agent| self.profiles.get(*agent))
            .flatten();
        all.find(|profile| profile.id == id)
    }

    /// The ways in of a provider with the profile that was chosen.
    pub(super) fn with_pinned(&self, agent_id: &str, mut provider: Provider) -> Provider {
        let Some(pinned) = self.pinned.as_ref().filter(|it| it.provider == provider.id) else {
            return provider;
        };
        let is_it = |access: &Access| access.id == pinned.id;
        let mut chosen: Vec<Access> = provider
            .access
            .iter()
            .filter(|it| is_it(it))
            .cloned()
            .collect();
        if chosen.is_empty() {
            // Whoever names a profile means it, whatever the order leaves out.
            let may_be = |whose: &str| {
                let all = self.permitted(agent_id, whose, &provider.id).into_iter();
                let mut all = all.map(|it| it.id.as_str());
                pinned.is_only || all.any(|id| id == pinned.id)
            };
            let now = now_ms();
            let agents = self.holders(agent_id);
            let all = agents
                .iter()
                .filter_map(|it| Some((it, self.profiles.get(*it)?)));
            let mut all = all.flat_map(|(whose, all)| all.iter().map(move |it| (whose, it)));
            let found = all.find(|(whose, it)| {
                let is_it = it.id == pinned.id && it.provider == provider.id;
                is_it && it.is_usable(now) && may_be(whose)
            });
            chosen.extend(found.and_then(|(whose, profile)| Access::of(profile, whose)));
        }
        chosen.truncate(1);
        if pinned.is_only {
            provider.access.clear();
            provider.key = None;
            if chosen.is_empty() {
                let id = &pinned.id;
                provider.fault = Some(format!("the auth profile {id} of the session has expired"));
            }
        } else {
            provider.access.retain(|access| !is_it(access))
        }
        provider.with_access(chosen)
    }
}

#[cfg(test)]
mod tests;
