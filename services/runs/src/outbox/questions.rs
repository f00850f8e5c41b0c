//! Approvals, asked on the channel that the message came from: those who may
//! decide, and nobody else.

use std::sync::Arc;

use openclaw_conversations::channels;
use openclaw_conversations::outbox::{self, NewDelivery};
use openclaw_daemon::failure;
use openclaw_inbound as inbound;
use openclaw_proto::approval::Decision;
use openclaw_proto::gateway::{ChatKind, Route};
use openclaw_proto::outbox::{Extras, Kind, Place};
use openclaw_sessions::now_ms;
use openclaw_settings::Settings;

use super::Dispatcher;
use crate::approval::{Approval, Outcome};

/// Asks on the run's channel, if its message came from a place on one. After a
/// restart a turn asks again, which is the same question.
pub(super) fn asked(dispatcher: &Dispatcher, approval: &Approval) {
    let Some(of_turn) = &approval.of_turn else {
        return;
    };
    let run = dispatcher.runs.find(&of_turn.run_id);
    let Some((run, route)) = run.and_then(|run| Some((Arc::clone(&run), run.route.clone()?)))
    else {
        return;
    };
    let new = NewDelivery {
        name: name(approval),
        place: Place::of_route(&run.channel, &route),
        session_key: of_turn.session_key.clone(),
        agent_id: of_turn.agent_id.clone(),
        run_id: of_turn.run_id.clone(),
        kind: Kind::Question {
            id: approval.id.clone(),
            // As it is decided about, so as it is seen, on every channel.
            tool: openclaw_escape::line(&of_turn.tool),
            command: openclaw_escape::block(&of_turn.command),
            cwd: openclaw_escape::line(&of_turn.cwd),
            reason: openclaw_escape::line(&of_turn.reason),
            expires_ms: approval.expires_ms,
            can_be_always: !of_turn.form.is_empty(),
            origin: openclaw_escape::line(&of_turn.origin),
            only_once: openclaw_escape::line(&of_turn.only_once),
        },
        extras: Extras {
            buttons: inbound::buttons(&approval.id, !of_turn.form.is_empty()),
            ..Extras::default()
        },
        paths: Vec::new(),
    };
    let settings = dispatcher.configuration.settings();
    change(dispatcher, "ask on a channel", move |connection| {
        let mut is_new = false;
        for question in put(connection, &settings, new, &route)? {
            is_new |= outbox::add(connection, &question, now_ms())?;
        }
        Ok(is_new)
    });
}

/// The question in each place where it is put. A client that delivers for a
/// channel which the configuration does not know asks where the message came from.
fn put(
    connection: &rusqlite::Connection,
    settings: &Settings,
    question: NewDelivery,
    route: &Route,
) -> rusqlite::Result<Vec<NewDelivery>> {
    let (channel, account) = (&question.place.channel, &question.place.account);
    let Some((_, of_account)) = settings.channels.account(channel, account) else {
        return Ok(vec![asked_there(question)]);
    };
    let mut owners = channels::peers(connection)?;
    owners.retain(|peer| peer.is_owner && peer.account.channel == *channel);
    let owners: Vec<String> = owners.into_iter().map(|peer| peer.peer).collect();
    let is_direct = route.chat == ChatKind::Direct;
    let sender = match &route.sender {
        None if is_direct => route.id.as_str(),
        sender => sender.as_deref().unwrap_or_default(),
    };
    let by_name = &settings.channels.owners;
    let asked = inbound::asked(of_account, channel, (sender, is_direct), by_name, &owners);
    // Whoever is asked elsewhere does not see who asks, nor where.
    let direct = asked.direct.into_iter().map(|peer| NewDelivery {
        name: format!("{} {peer}", question.name),
        place: Place {
            chat: Some(ChatKind::Direct),
            to: peer,
            thread: None,
            ..question.place.clone()
        },
        ..question.clone()
    });
    let direct: Vec<_> = direct.collect();
    let in_place = Some(asked_there(question)).filter(|_| asked.in_place);
    Ok(in_place.into_iter().chain(direct).collect())
}

/// `question` where the message stands that it is about.
fn asked_there(mut question: NewDelivery) -> NewDelivery {
    if let Kind::Question { origin, .. } = &mut question.kind {
        origin.clear();
    }
    question
}

/// Says there what was decided, wherever that was.
pub(super) fn decided(dispatcher: &Dispatcher, approval: &Approval, outcome: Outcome, by: &str) {
    let Some(of_turn) = &approval.of_turn else {
        return;
    };
    let decision = match outcome {
        Outcome::Decided(Decision::AllowOnce) => format!("Allowed once, by {by}."),
        Outcome::Decided(Decision::AllowAlways) => format!("Allowed from now on, by {by}."),
        Outcome::Decided(Decision::Deny) => format!("Denied, by {by}."),
        Outcome::Expired => undecided(dispatcher, approval).to_owned(),
    };
    let name = name(approval);
    let command = openclaw_escape::block(&of_turn.command);
    let told = inbound::with_command(&command, &decision);
    change(
        dispatcher,
        "tell of a decision on a channel",
        move |connection| outbox::decided(connection, &name, (&decision, &told), now_ms()),
    );
}

/// Why nobody decided.
fn undecided(dispatcher: &Dispatcher, approval: &Approval) -> &'static str {
    let run_id = approval.of_turn.as_ref().map(|of_turn| &of_turn.run_id);
    let run = run_id.and_then(|id| dispatcher.runs.find(id));
    if run.is_some_and(|run| run.cancel.is_cancelled()) {
        "It was stopped before anybody decided; it does not run."
    } else if approval.expires_ms > now_ms() {
        "Its turn ended before anybody decided; it does not run."
    } else {
        "Nobody decided in time; it does not run."
    }
}

fn name(approval: &Approval) -> String {
    format!("question {}", approval.id)
}

/// The bus does not wait for the disk.
fn change(
    dispatcher: &Dispatcher,
    operation: &'static str,
    work: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<bool> + Send + 'static,
) {
    let outbox = Arc::clone(&dispatcher.outbox);
    dispatcher.tasks.spawn(async move {
        match outbox.database.call(operation, work).await {
            Ok(true) => outbox.look(),
            Ok(false) => {}
            Err(fault) => failure::report(operation, &fault),
        }
    });
}
