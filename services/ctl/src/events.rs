//! `events`: what happens in the sessions, as it happens.

use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use openclaw_config::{Environment, Paths};
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::feed::{Client, FeedItem, Selector, Subscription};
use openclaw_terminal::{Failure, output};
use tokio::time::{Instant, sleep};
use tokio_stream::{Stream, StreamExt as _};

use crate::cli;
use openclaw_connection::{self as connection, Gateway};

mod line;

/// How long a gateway that is gone is waited for; a service manager has the next
/// one there within a second.
const ABSENCE: Duration = Duration::from_secs(30);

/// Between two attempts to reach it.
const PAUSE: Duration = Duration::from_millis(100);

type Telling = Pin<Box<dyn Stream<Item = Result<FeedItem, CallError>> + Send>>;

/// Prints events until nobody reads them any more.
pub(crate) fn execute(
    arguments: &cli::Events,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    connection::runtime()?.block_on(follow(&paths, arguments))?;
    Ok(ExitCode::SUCCESS)
}

async fn follow(paths: &Paths, arguments: &cli::Events) -> Result<(), Failure> {
    let gateway = Gateway::at(paths);
    let client = Client::new(paths.gateway_socket());
    let mut following = Following {
        subscription: subscription(arguments),
        json: arguments.json,
    };
    let subscription = following.subscription.clone();
    let first = client.subscribe(subscription).await;
    let mut telling: Telling = Box::pin(first.map_err(|error| gateway.failure(&error))?);
    loop {
        let error = following.print(telling).await?;
        if !may_go_on(&error) {
            return Err(gateway.failure(&error));
        }
        telling = again(&gateway, &client, &following.subscription).await?;
    }
}

fn subscription(arguments: &cli::Events) -> Subscription {
    let selector = match (&arguments.session, &arguments.agent) {
        (Some(key), _) => Selector::Session(key.clone()),
        (None, Some(agent)) => Selector::Agent(agent.clone()),
        (None, None) => Selector::Everything,
    };
    Subscription {
        selector,
        after: arguments.after,
        epoch: String::new(),
        without_live: !arguments.live,
    }
}

/// What is subscribed to, from where it is by now.
struct Following {
    subscription: Subscription,
    json: bool,
}

impl Following {
    /// Prints what is told until that breaks off; why it did.
    async fn print(&mut self, mut telling: Telling) -> Result<CallError, Failure> {
        while let Some(told) = telling.next().await {
            match told {
                Ok(told) => {
                    note(&mut self.subscription, &told);
                    self.print_one(&told)?;
                }
                Err(error) => return Ok(error),
            }
        }
        Ok(CallError::cut_off())
    }

    fn print_one(&self, told: &FeedItem) -> Result<(), Failure> {
        if self.json {
            let text = serde_json::to_string(told).context("cannot write JSON")?;
            return output::json_line(&text);
        }
        match line::of(told) {
            Some(line) => output::stdout_line(&line),
            None => Ok(()),
        }
    }
}

/// Notes from where a subscription goes on.
pub(crate) fn note(subscription: &mut Subscription, told: &FeedItem) {
    let sequence = match told {
        FeedItem::Opened { epoch, sequence } => {
            subscription.epoch.clone_from(epoch);
            // What is kept comes first, where it was asked for.
            subscription.after.unwrap_or(*sequence)
        }
        FeedItem::Gap {
            through_sequence, ..
        } => *through_sequence,
        FeedItem::Event(event) => event.sequence,
        FeedItem::Live { sequence, .. } | FeedItem::CaughtUp { sequence } => *sequence,
    };
    subscription.after = Some(sequence);
}

/// Whether there is more where the gateway is asked again.
fn may_go_on(error: &CallError) -> bool {
    let is_gone = error.is_lost() || error.is_absent();
    is_gone || error.is_refused(RefusalCode::ResourceExhausted)
}

async fn again(
    gateway: &Gateway,
    client: &Client,
    subscription: &Subscription,
) -> Result<Telling, Failure> {
    let patient_until = Instant::now() + ABSENCE;
    loop {
        sleep(PAUSE).await;
        match client.subscribe(subscription.clone()).await {
            Ok(telling) => return Ok(Box::pin(telling)),
            Err(error) if may_go_on(&error) && Instant::now() < patient_until => {}
            Err(error) => return Err(gateway.failure(&error)),
        }
    }
}
