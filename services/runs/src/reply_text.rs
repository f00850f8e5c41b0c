//! The text of a reply, put together from a run's events.

use futures_util::StreamExt as _;
use openclaw_conversations::storage::ChannelReply;
use openclaw_inbound::{AskedFor, WithFiles, asked_for, names_files, with_files};
use openclaw_proto::event::Kind;
use openclaw_proto::outbox::Extras;
use openclaw_proto::runner;
use openclaw_sessions::silence;
use openclaw_settings::AgentSettings;

use crate::held;
use crate::run::Run;
use crate::stream::Events;

/// Whose words a reply is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Author<'a> {
    /// What a command answers, in which there may be words of anybody: they ask for nothing.
    Gateway,
    /// An agent's, which may ask for buttons and files.
    Agent(&'a runner::Client, Option<&'a AgentSettings>),
}

/// What is answered on the channel of a run's message, with the files of the
/// agent's workspace that it names; None where nobody is to hear of it.
pub(crate) async fn on_channel(
    run: &Run,
    outcome: &Kind,
    text: String,
    author: Author<'_>,
) -> Option<ChannelReply> {
    let is_silent = matches!(outcome, Kind::Done(done) if done.stop_reason == silence::STOP_REASON)
        || matches!(outcome, Kind::Done(_)) && silence::is_for_nobody(&text);
    if is_silent || run.is_absorbed() {
        return None;
    }
    let reply = ChannelReply {
        channel: run.channel.clone(),
        route: run.route.clone(),
        text: silence::without_token(&text).to_owned(),
        extras: Extras::default(),
        paths: Vec::new(),
    };
    Some(match author {
        Author::Gateway => reply,
        Author::Agent(runner, agent) => with_what_it_asks_for(reply, runner, agent).await,
    })
}

/// The reply with its buttons, reaction and files.
async fn with_what_it_asks_for(
    reply: ChannelReply,
    runner: &runner::Client,
    agent: Option<&AgentSettings>,
) -> ChannelReply {
    let AskedFor {
        text,
        buttons,
        reaction,
    } = asked_for(&reply.text);
    let WithFiles { text, files, paths } = files_of(text, runner, agent).await;
    ChannelReply {
        text,
        extras: Extras {
            files,
            buttons,
            reaction,
            ..Extras::default()
        },
        paths,
        ..reply
    }
}

/// `text` of the agent, and the files of its workspace that it names.
pub async fn files_of(
    text: String,
    runner: &runner::Client,
    agent: Option<&AgentSettings>,
) -> WithFiles {
    if !names_files(&text) {
        return WithFiles {
            text,
            ..WithFiles::default()
        };
    }
    let workspace = held::sent_from(runner, agent).await;
    let taken = {
        let text = text.clone();
        tokio::task::spawn_blocking(move || with_files(&text, workspace.as_ref())).await
    };
    taken.unwrap_or(WithFiles {
        text,
        ..WithFiles::default()
    })
}

/// All that a run says, or why it did not come to its end.
pub async fn of(mut events: Events) -> Result<String, String> {
    let mut text = String::new();
    while let Some(event) = events.next().await {
        match event.map(|event| event.kind) {
            Ok(Kind::Failed(failed)) => return Err(failed.message),
            Ok(Kind::Aborted { reason, .. }) => return Err(format!("aborted: {reason}")),
            Ok(Kind::TextDelta { text: piece }) => text.push_str(&piece),
            Ok(Kind::Done(done)) if done.stop_reason == silence::STOP_REASON => {
                silence::NO_REPLY.clone_into(&mut text);
            }
            Ok(_) => {}
            Err(refusal) => return Err(refusal.to_string()),
        }
    }
    Ok(text)
}
