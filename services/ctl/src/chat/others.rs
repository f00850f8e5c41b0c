//! What is said in the session elsewhere: on a channel, by another program.

use std::sync::Arc;
use std::time::Duration;

use openclaw_proto::call::CallError;
use openclaw_proto::feed::{Client, Ended, Event, FeedItem, Kind, Selector, Subscription};
use openclaw_proto::sessions::{Part, Said};
use openclaw_terminal::{live, output};
use tokio::time::sleep;
use tokio_stream::StreamExt as _;

use super::Here;
use super::editor::Printer;
use crate::{events, sessions};
use openclaw_connection::Gateway;

/// Before the gateway is asked again.
const PAUSE: Duration = Duration::from_secs(1);
/// Messages at the end of a conversation, of which one is the one that came.
const LAST: u32 = 6;

/// Prints above the line that is typed what others said in `session`, and what
/// they were answered. Never returns.
pub(super) async fn tell(gateway: Gateway, session: String, here: Arc<Here>, mut printer: Printer) {
    let mut subscription = Subscription {
        selector: Selector::Session(session.clone()),
        after: None,
        epoch: String::new(),
        without_live: true,
    };
    let client = Client::new(gateway.socket());
    loop {
        if let Ok(telling) = client.subscribe(subscription.clone()).await {
            let mut telling = std::pin::pin!(telling);
            while let Some(Ok(told)) = telling.next().await {
                events::note(&mut subscription, &told);
                let FeedItem::Event(event) = told else {
                    continue;
                };
                if !here.is_of_others(&event.run_id).await {
                    continue;
                }
                // What cannot be read is not told; it is in the conversation.
                if let Ok(Some(text)) = words(&gateway, &session, &event).await {
                    let _ = printer.print(text);
                }
            }
        }
        sleep(PAUSE).await;
    }
}

/// What is to be seen of an event; None: nothing.
async fn words(
    gateway: &Gateway,
    session: &str,
    event: &Event,
) -> Result<Option<String>, CallError> {
    match &event.kind {
        Kind::MessageAccepted { channel, .. } => {
            let said = last(gateway, session, of_user).await?;
            let channel = output::line(channel);
            Ok(said.map(|said| format!("{channel} › {}\n", output::prose(&said))))
        }
        Kind::RunEnded(ended) => {
            let said = answer(gateway, &event.run_id).await?;
            let parts: Vec<String> = said.into_iter().chain(unanswered(ended)).collect();
            Ok((!parts.is_empty()).then(|| parts.concat()))
        }
        Kind::Announcement { .. } => {
            let said = last(gateway, session, of_assistant).await?;
            Ok(said.and_then(|text| laid_out(&text)))
        }
        _ => Ok(None),
    }
}

/// Why there is no whole answer, where there is none.
fn unanswered(ended: &Ended) -> Option<String> {
    let state = output::line(&ended.state);
    let reason = output::line(&ended.reason);
    (!reason.is_empty()).then(|| format!("{state}: {reason}\n"))
}

/// The last thing in the conversation that `pick` takes the words of.
async fn last(
    gateway: &Gateway,
    session: &str,
    pick: fn(Said) -> Option<String>,
) -> Result<Option<String>, CallError> {
    let part = Part {
        limit: LAST,
        skip: 0,
        all: false,
        raw: false,
    };
    let named = sessions::named(session, None);
    let reading = gateway.sessions.read(named, part).await?;
    let said = reading.items.into_iter().rev().map(|item| item.said);
    Ok(said.filter_map(pick).next())
}

fn of_user(said: Said) -> Option<String> {
    match said {
        Said::User { text } => Some(text),
        _ => None,
    }
}

fn of_assistant(said: Said) -> Option<String> {
    match said {
        Said::Assistant { text } => Some(text),
        _ => None,
    }
}

/// The answer of a run.
async fn answer(gateway: &Gateway, run_id: &str) -> Result<Option<String>, CallError> {
    let events = gateway.client.attach(run_id, 0).await?;
    let mut events = std::pin::pin!(events);
    let mut text = String::new();
    while let Some(event) = events.next().await {
        if let openclaw_proto::event::Kind::TextDelta { text: piece } = event?.kind {
            text.push_str(&piece);
        }
    }
    Ok(laid_out(&text))
}

fn laid_out(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return None;
    }
    Some(if output::stdout_takes_escapes() {
        let text = openclaw_markdown::render(text, live::size().0);
        output::in_wanted_colours(&text).into_owned()
    } else {
        output::prose(text) + "\n"
    })
}
