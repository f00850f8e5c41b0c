//! Which of an agent's profiles a provider is asked with, and in which order, as
//! OpenClaw has it (`resolveAuthProfileOrder`): an order names all that may be used,
//! and a profile that it leaves out is used by nobody.

use std::collections::BTreeMap;

use crate::profile::{Credential, Listed, Profile};

/// What the configuration says of profiles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Order {
    /// `auth.order`.
    pub listed: Listed,
    /// `auth.profiles` by id.
    pub declared: BTreeMap<String, Declared>,
}

/// What `auth.profiles` says of a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// The provider that it is for.
    pub provider: String,
    /// The kind of credential that it has: `api_key`, `oauth`, `token` or `aws-sdk`.
    pub mode: Option<String>,
}

impl Declared {
    /// Whether a profile is what was said. A login may be a token: some are.
    fn fits(&self, profile: &Profile) -> bool {
        let mode = self.mode.as_deref().unwrap_or_default().replace('_', "-");
        let fits = match &profile.credential {
            Credential::ApiKey(_) => mode == "api-key",
            Credential::OAuth { .. } => mode == "oauth",
            Credential::Token(_) => mode == "token" || mode == "oauth",
            Credential::AwsSdk => mode == "aws-sdk",
        };
        is_same(&self.provider, &profile.provider) && (mode.is_empty() || fits)
    }
}

impl Order {
    /// Those of `profiles` that `provider` may be asked with. `stored` is the order in
    /// the agent's own file, which comes before the configuration's; `is_known` says
    /// whether there is a profile of that id at all.
    ///
    /// Where an order of that file, or any order beside `auth.profiles`, names none
    /// that there is, it is out of date, and all are used.
    pub fn permitted<'a>(
        &self,
        provider: &str,
        stored: Option<&Listed>,
        profiles: impl Iterator<Item = &'a Profile>,
        is_known: impl Fn(&str) -> bool,
    ) -> Vec<&'a Profile> {
        let fits = |it: &&Profile| self.declared.get(&it.id).is_none_or(|said| said.fits(it));
        let mut fitting: Vec<_> = profiles
            .filter(|profile| is_same(&profile.provider, provider))
            .filter(fits)
            .collect();
        let declared = self.declared(provider);
        let own = stored.and_then(|stored| of(stored, provider));
        let order = own.or_else(|| of(&self.listed, provider));
        let named: Vec<&str> = match order {
            Some(order) => order.iter().map(String::as_str).collect(),
            None if declared.is_empty() => return fitting,
            None => declared.clone(),
        };
        let is_kept = own.is_some() || !declared.is_empty();
        if is_kept && !named.is_empty() && !named.iter().any(|id| is_known(id)) {
            return fitting;
        }
        fitting.retain(|profile| named.contains(&profile.id.as_str()));
        if order.is_some() {
            fitting.sort_by_key(|profile| named.iter().position(|id| *id == profile.id));
        }
        fitting
    }

    /// What is wrong with the lists: the ids in them that no agent has, and those of
    /// `profiles` that `auth.profiles` leaves out, which nobody may have meant.
    pub fn problems(
        &self,
        profiles: &BTreeMap<String, Vec<Profile>>,
        stored: &BTreeMap<String, Listed>,
    ) -> Vec<String> {
        let is_known = |id: &str| profiles.values().flatten().any(|it| it.id == id);
        let mut problems = Vec::new();
        for (provider, ids) in &self.listed {
            let unknown = ids.iter().filter(|id| !is_known(id));
            problems.extend(unknown.map(|id| {
                format!("auth.order.{provider} names {id:?}, a profile that no agent has")
            }));
        }
        for (agent, own) in profiles {
            let stored = stored.get(agent);
            let is_ordered = |provider: &str| {
                of(&self.listed, provider).is_some()
                    || stored.is_some_and(|it| of(it, provider).is_some())
            };
            for profile in own.iter().filter(|it| !is_ordered(&it.provider)) {
                let all = std::iter::once(profile);
                if self
                    .permitted(&profile.provider, None, all, is_known)
                    .is_empty()
                {
                    problems.push(format!(
                        "{} of the agent {agent} is not used: auth.profiles says which are, and \
                         not this one, or not of this kind",
                        profile.source
                    ));
                }
            }
        }
        problems
    }

    fn declared(&self, provider: &str) -> Vec<&str> {
        let all = self.declared.iter();
        all.filter(|(_, said)| is_same(&said.provider, provider))
            .map(|(id, _)| id.as_str())
            .collect()
    }
}

/// What is listed for a provider, however its name is written.
fn of<'a>(listed: &'a Listed, provider: &str) -> Option<&'a Vec<String>> {
    let mut all = listed.iter();
    all.find(|(name, _)| is_same(name, provider))
        .map(|(_, ids)| ids)
}

fn is_same(one: &str, other: &str) -> bool {
    one.trim().eq_ignore_ascii_case(other.trim())
}

#[cfg(test)]
mod tests {
    use openclaw_config::secret::Secret;

    use super::*;

    fn profile(id: &str, credential: Credential) -> Profile {
        Profile {
            id: id.to_owned(),
            provider: id.split(':').next().unwrap().to_owned(),
            credential,
            usage: Default::default(),
            source: format!("the source of {id}"),
            file: None,
            endpoint: None,
        }
    }

    fn key(id: &str) -> Profile {
        profile(id, Credential::ApiKey(Secret::new("k")))
    }

    fn listed(ids: &[&str]) -> Listed {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        Listed::from([("x".to_owned(), ids)])
    }

    fn declared(all: &[(&str, &str)]) -> BTreeMap<String, Declared> {
        let one = |(id, mode): &(&str, &str)| {
            let said = Declared {
                provider: "x".to_owned(),
                mode: Some((*mode).to_owned()),
            };
            ((*id).to_owned(), said)
        };
        all.iter().map(one).collect()
    }

    fn permitted(order: &Order, stored: Option<&Listed>) -> Vec<String> {
        let all = [key("x:a"), key("x:b"), key("y:a")];
        let is_known = |id: &str| all.iter().any(|it| it.id == id);
        let found = order.permitted("X", stored, all.iter(), is_known);
        found.iter().map(|it| it.id.clone()).collect()
    }

    #[test]
    fn order_excludes_what_it_leaves_out() {
        let order = |listed, declared| Order { listed, declared };
        let a = || declared(&[("x:a", "api_key")]);
        let gone = || declared(&[("x:gone", "api_key")]);
        for (order, expected) in [
            (Order::default(), &["x:a", "x:b"][..]),
            (order(listed(&["x:b"]), declared(&[])), &["x:b"]),
            (
                order(listed(&["x:b", "x:a", "x:gone"]), declared(&[])),
                &["x:b", "x:a"],
            ),
            (order(listed(&[]), declared(&[])), &[]),
            (order(listed(&["x:gone"]), declared(&[])), &[]),
            (order(Listed::new(), a()), &["x:a"]),
            (order(listed(&["x:b"]), a()), &["x:b"]),
            (order(Listed::new(), gone()), &["x:a", "x:b"]),
            (order(listed(&["x:gone"]), gone()), &["x:a", "x:b"]),
            (order(Listed::new(), declared(&[("x:a", "oauth")])), &[]),
            (order(listed(&["x:a"]), declared(&[("x:a", "token")])), &[]),
        ] {
            assert_eq!(permitted(&order, None), expected, "{order:?}");
        }
        let order = order(listed(&["x:a"]), declared(&[]));
        assert_eq!(permitted(&order, Some(&listed(&["x:b"]))), ["x:b"]);
        assert_eq!(permitted(&order, Some(&Listed::new())), ["x:a"]);
        let all = permitted(&order, Some(&listed(&["x:gone"])));
        assert_eq!(all, ["x:a", "x:b"]);
    }

    #[test]
    fn order_says_ids_that_nobody_has_and_what_profiles_leave_out() {
        let all = [
            key("x:a"),
            profile("x:t", Credential::Token(Secret::new("t"))),
        ];
        let profiles = BTreeMap::from([("main".to_owned(), all.to_vec())]);
        let problems = |order: Order| order.problems(&profiles, &BTreeMap::new());
        assert_eq!(problems(Order::default()), [""; 0]);
        let named = Order {
            listed: listed(&["x:a", "x:gone"]),
            declared: BTreeMap::new(),
        };
        let expected = "auth.order.x names \"x:gone\", a profile that no agent has";
        assert_eq!(problems(named), [expected]);
        let left_out = Order {
            listed: BTreeMap::new(),
            declared: declared(&[("x:a", "api_key")]),
        };
        let said = problems(left_out).join("\n");
        assert!(
            said.starts_with("the source of x:t of the agent main is not used"),
            "{said}"
        );
        let fits = declared(&[("x:a", "api_key"), ("x:t", "oauth")]);
        let fitting = Order {
            listed: BTreeMap::new(),
            declared: fits,
        };
        assert_eq!(problems(fitting), [""; 0]);
    }
}
