//! The text of a reply, put together from a run's events.

use futures_util::StreamExt as _;
use openclaw_conversations::storage::ChannelReply;
use openclaw_folder::ConfiguredFolder;
use openclaw_inbound::{AskedFor, WithFiles, asked_for, names_files, with_files};
use openclaw_proto::event::Kind;
use openclaw_proto::outbox::Extras;
use openclaw_sessions::silence;

use crate::run::Run;
use crate::stream::Events;

/// What is answered on the channel of a run's message, with the files of the
/// agent's `workspace` that it names; None where nobody is to hear of it.
pub(crate) async fn on_channel(
    run: &Run,
    outcome: &Kind,
    text: String,
    workspace: Option<ConfiguredFolder>,
) -> Option<ChannelReply> {
    let is_silent = matches!(outcome, Kind::Done(done) if done.stop_reason == silence::STOP_REASON)
        || matches!(outcome, Kind::Done(_)) && silence::is_for_nobody(&text);
    if is_silent || run.is_absorbed() {
        return None;
    }
    let AskedFor {
        text,
        buttons,
        reaction,
    } = asked_for(silence::without_token(&text));
    let taken = match workspace {
        Some(workspace) if names_files(&text) => {
            let text = text.clone();
            let taken = tokio::task::spawn_blocking(move || with_files(&text, &workspace));
            taken.await.ok()
        }
        _ => None,
    };
    let WithFiles { text, files, paths } = taken.unwrap_or(WithFiles {
        text,
        ..WithFiles::default()
    });
    Some(ChannelReply {
        channel: run.channel.clone(),
        route: run.route.clone(),
        text,
        extras: Extras {
            files,
            buttons,
            reaction,
            ..Extras::default()
        },
        paths,
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
