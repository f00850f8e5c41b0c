//! Who may talk, and what they may.

use openclaw_commands::{Sender, SenderRole};
use openclaw_proto::channel::{Ignored, IgnoredCode};
use openclaw_proto::gateway::ChatKind;
use openclaw_settings::keys::channels::{
    Account, ApprovalsEnabled, DmPolicy, Group, GroupPolicy, PeerId, Topic,
};

use crate::facts::Facts;
use crate::peer::{has_everybody, is_listed, names};

/// What the gateway knows of people beside the configuration.
#[derive(Debug, Clone, Copy, Default)]
pub struct PairedPeople<'a> {
    /// Whether the sender was paired with this account.
    pub is_paired: bool,
    /// Whether the sender was the first one who was paired.
    pub is_paired_owner: bool,
    /// Whether anybody was.
    pub has_paired_owner: bool,
    /// `commands.ownerAllowFrom`.
    pub owners: &'a [PeerId],
}

/// What becomes of something that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is for the agent.
    Allow {
        /// Who says it.
        sender: Sender,
        /// The agent that the topic names.
        agent: Option<String>,
        /// What the agent is told beside everything else.
        prompt: Option<String>,
    },
    /// Nobody called, but whoever is called next may know of it.
    Overhear(Ignored),
    /// The sender is given a code.
    Pair,
    /// Nothing comes of it.
    Ignore(Ignored),
}

/// What becomes of what `facts` say, at `account`.
pub fn judge(account: &Account, facts: &Facts<'_>, known: PairedPeople<'_>) -> Verdict {
    if facts.is_bot {
        return ignore(IgnoredCode::NotAllowed, "bots are not answered");
    }
    if facts.sender.is_empty() {
        return ignore(IgnoredCode::Unknown, "the channel does not say who it is");
    }
    match facts.chat {
        ChatKind::Direct => direct(account, facts, known),
        ChatKind::Group | ChatKind::Channel | ChatKind::Room => in_group(account, facts, known),
    }
}

fn direct(account: &Account, facts: &Facts<'_>, known: PairedPeople<'_>) -> Verdict {
    let listed = &account.allow_from;
    let is_named = listed
        .iter()
        .any(|written| names(written, facts.channel, facts.sender));
    let verdict = match account.dm_policy {
        DmPolicy::Disabled => Err(ignore(IgnoredCode::Disabled, "dmPolicy is disabled")),
        DmPolicy::Pairing if is_listed(listed, facts.channel, facts.sender) || known.is_paired => {
            Ok(())
        }
        DmPolicy::Pairing => Err(Verdict::Pair),
        DmPolicy::Allowlist if is_named || has_everybody(listed) => Ok(()),
        DmPolicy::Open if is_named || has_everybody(listed) => Ok(()),
        DmPolicy::Allowlist | DmPolicy::Open => Err(ignore(
            IgnoredCode::NotAllowed,
            "allowFrom does not have the sender",
        )),
    };
    if let Err(verdict) = verdict {
        return verdict;
    }
    // As in OpenClaw, `*` lets everybody in as if by name.
    allow(account, facts, known, SenderRole::Guest, Place::default())
}

/// What holds in a group or in one of its topics.
#[derive(Debug, Clone, Copy, Default)]
struct Place<'a> {
    group: Option<&'a Group>,
    topic: Option<&'a Topic>,
    /// What holds for all groups.
    all: Option<&'a Group>,
}

impl<'a> Place<'a> {
    fn of(account: &'a Account, facts: &Facts<'_>) -> Self {
        let all = account.groups.get("*");
        let group = account.groups.get(facts.chat_id);
        // As it was called when it was listed; the empty id is nobody's.
        let former = Some(facts.former_chat_id).filter(|id| !id.is_empty());
        let group = group.or_else(|| account.groups.get(former?));
        let topics = [group, all].into_iter().flatten();
        let topic = facts.thread.and_then(|thread| {
            topics
                .map(|group| &group.topics)
                .find_map(|topics| topics.get(thread).or_else(|| topics.get("*")))
        });
        Self { group, topic, all }
    }

    /// What the narrowest says that says something.
    fn first<T>(
        &self,
        topic: impl Fn(&'a Topic) -> Option<T>,
        group: impl Fn(&'a Group) -> Option<T>,
    ) -> Option<T> {
        let of_topic = self.topic.and_then(topic);
        of_topic
            .or_else(|| self.group.and_then(&group))
            .or_else(|| self.all.and_then(&group))
    }

    fn is_listed(&self) -> bool {
        self.group.is_some() || self.all.is_some()
    }

    fn is_off(&self) -> bool {
        let all = [
            self.topic.and_then(|it| it.enabled),
            self.group.or(self.all).and_then(|it| it.enabled),
        ];
        all.contains(&Some(false))
    }

    fn policy(&self, account: &Account) -> GroupPolicy {
        let own = self.first(|it| it.group_policy, |it| it.group_policy);
        own.unwrap_or(account.group_policy)
    }

    /// Those who may talk there by its own list.
    fn own_list(&self) -> Option<&'a Vec<PeerId>> {
        self.first(|it| it.allow_from.as_ref(), |it| it.allow_from.as_ref())
    }

    /// Those who may talk there.
    fn list(&self, account: &'a Account) -> &'a [PeerId] {
        self.own_list()
            .unwrap_or(if account.group_allow_from.is_empty() {
                &account.allow_from
            } else {
                &account.group_allow_from
            })
    }

    /// Whether somebody is to be answered there, and the lists name nobody.
    fn is_for_nobody(&self, account: &Account) -> bool {
        self.policy(account) == GroupPolicy::Allowlist && self.list(account).is_empty()
    }
}

/// The groups that `account` lists and in which nobody may talk to it, in none of
/// their topics, though they are on: who is paired may not for that alone.
pub fn unanswered_groups(account: &Account) -> Vec<&str> {
    let all = account.groups.get("*");
    let is_unanswered = |group: &Group| {
        let whole = Place {
            group: Some(group),
            topic: None,
            all,
        };
        let topics = [Some(group), all].into_iter().flatten();
        let mut topics = topics.flat_map(|it| it.topics.values());
        let is_answered = |topic| {
            let place = Place {
                topic: Some(topic),
                ..whole
            };
            !place.is_off() && !place.is_for_nobody(account)
        };
        !whole.is_off() && whole.is_for_nobody(account) && !topics.any(is_answered)
    };
    let groups = account.groups.iter();
    let found = groups.filter(|(_, group)| is_unanswered(group));
    found.map(|(id, _)| id.as_str()).collect()
}

/// The keys of `account` by which `id` may talk to it without having been let in, as they
/// are called in it.
pub fn listing(account: &Account, channel: &str, id: &str) -> Vec<String> {
    let is_named = |list: &[PeerId]| is_listed(list, channel, id);
    let mut keys = Vec::new();
    let mut add = |key: String, lets_in: bool| keys.extend(lets_in.then_some(key));
    let is_direct = account.dm_policy != DmPolicy::Disabled;
    let in_groups = account.group_policy != GroupPolicy::Disabled;
    let is_for_both = in_groups && account.group_allow_from.is_empty();
    add(
        "allowFrom".to_owned(),
        (is_direct || is_for_both) && is_named(&account.allow_from),
    );
    add(
        "groupAllowFrom".to_owned(),
        in_groups && is_named(&account.group_allow_from),
    );
    add(
        "groupPolicy".to_owned(),
        account.group_policy == GroupPolicy::Open,
    );
    for (group_id, group) in &account.groups {
        let key = format!("groups.{group_id}");
        let own = |list: &Option<Vec<PeerId>>| list.as_deref().is_some_and(is_named);
        add(format!("{key}.allowFrom"), own(&group.allow_from));
        let is_open = group.group_policy == Some(GroupPolicy::Open);
        add(format!("{key}.groupPolicy"), is_open);
        for (topic_id, topic) in &group.topics {
            let key = format!("{key}.topics.{topic_id}");
            add(format!("{key}.allowFrom"), own(&topic.allow_from));
            let is_open = topic.group_policy == Some(GroupPolicy::Open);
            add(format!("{key}.groupPolicy"), is_open);
        }
    }
    keys
}

fn in_group(account: &Account, facts: &Facts<'_>, known: PairedPeople<'_>) -> Verdict {
    let place = Place::of(account, facts);
    if place.is_off() {
        return ignore(IgnoredCode::Disabled, "the group is switched off");
    }
    if !account.groups.is_empty() && !place.is_listed() {
        return ignore(IgnoredCode::NotAllowed, "groups does not have the group");
    }
    let is_listed = is_listed(place.list(account), facts.channel, facts.sender);
    match place.policy(account) {
        GroupPolicy::Disabled => {
            return ignore(IgnoredCode::Disabled, "groupPolicy is disabled");
        }
        GroupPolicy::Allowlist if !is_listed => {
            return ignore(
                IgnoredCode::NotAllowed,
                "neither groupAllowFrom nor the group's allowFrom has the sender",
            );
        }
        GroupPolicy::Open if place.own_list().is_some() && !is_listed => {
            return ignore(
                IgnoredCode::NotAllowed,
                "the group's allowFrom does not have the sender",
            );
        }
        GroupPolicy::Allowlist | GroupPolicy::Open => {}
    }
    let must_call = place.first(|it| it.require_mention, |it| it.require_mention);
    if must_call.unwrap_or(true) && !facts.is_to_bot {
        return Verdict::Overhear(Ignored {
            code: IgnoredCode::NotMentioned,
            reason: "nobody called".to_owned(),
        });
    }
    let role = if is_listed {
        SenderRole::Guest
    } else {
        SenderRole::Visitor
    };
    allow(account, facts, known, role, place)
}

fn allow(
    account: &Account,
    facts: &Facts<'_>,
    known: PairedPeople<'_>,
    role: SenderRole,
    place: Place<'_>,
) -> Verdict {
    let is_owner = is_owner(account, (facts.channel, facts.sender), known);
    let sender = Sender {
        role: if is_owner { SenderRole::Owner } else { role },
        id: facts.sender.to_owned(),
        approves: approves(account, facts, is_owner),
        follows_levels: false,
    };
    let prompt = place.first(
        |it| it.system_prompt.as_ref(),
        |it| it.system_prompt.as_ref(),
    );
    Verdict::Allow {
        sender,
        agent: place.topic.and_then(|topic| topic.agent_id.clone()),
        prompt: prompt.cloned(),
    }
}

/// The owner is whom `commands.ownerAllowFrom` names and whoever was paired
/// first; where there is neither, the only one who is allowed by name.
pub fn is_owner(account: &Account, (channel, id): (&str, &str), known: PairedPeople<'_>) -> bool {
    let is_named = |list: &[PeerId]| list.iter().any(|written| names(written, channel, id));
    if is_named(known.owners) || known.is_paired_owner {
        return true;
    }
    let nobody_is = known.owners.is_empty() && !known.has_paired_owner;
    nobody_is && account.allow_from.len() == 1 && is_named(&account.allow_from)
}

/// Whether the sender may decide about commands that wait.
fn approves(account: &Account, facts: &Facts<'_>, is_owner: bool) -> bool {
    let approvals = &account.exec_approvals;
    if approvals.enabled == ApprovalsEnabled::Set(false) {
        return false;
    }
    if approvals.approvers.is_empty() {
        is_owner
    } else {
        approvals
            .approvers
            .iter()
            .any(|written| names(written, facts.channel, facts.sender))
    }
}

fn ignore(code: IgnoredCode, reason: &str) -> Verdict {
    Verdict::Ignore(Ignored {
        code,
        reason: reason.to_owned(),
    })
}

#[cfg(test)]
mod tests;
