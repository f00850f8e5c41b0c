//! A channel daemon: everything that runs beside each other in it.

use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::StreamExt as _;
use openclaw_daemon::Notifier;
use openclaw_daemon::configuration::now_ms;
use openclaw_proto::call::{CallError, RefusalCode};
use openclaw_proto::channel::{AccountName, Attend, Instruction, Settings};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::account::Folder;
use crate::link::{Link, Pauses};
use crate::progress::Records;
use crate::provider::Provider;
use crate::spool::{Merged, Spool};
use crate::{health, intake, outgoing};

/// How often records are looked for that are too old.
const TIDY_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// What a daemon is told before it begins.
#[derive(Debug)]
pub struct Post {
    /// The account it speaks for.
    pub account: AccountName,
    /// The gateway's control socket.
    pub gateway: PathBuf,
    /// What it must not forget.
    pub folder: Folder,
    /// The way to the service manager.
    pub notifier: Notifier,
    /// Cancelled when it is to end.
    pub shutdown: CancellationToken,
}

/// Why a daemon's work is over before it is asked to end.
#[derive(Debug, thiserror::Error)]
pub enum Over {
    /// The account is to be spoken for no longer; no fault.
    #[error("the gateway let the account go: {0}")]
    Retired(String),
    /// The configuration has no such account, or it is off.
    #[error("the gateway has no such account")]
    Refused(#[source] CallError),
}

/// Runs a daemon until shutdown, or until the gateway lets its account go.
pub async fn run<P: Provider>(provider: Arc<P>, post: Post) -> anyhow::Result<()> {
    let folder = post.folder.path();
    let spool = Arc::new(Spool::open(&folder.join("in")).context("open the spool")?);
    let merged = Merged::open(&folder.join("merged"), now_ms())
        .context("open the list of merged updates")?;
    let records = Records::open(&folder.join("out")).context("open the records of deliveries")?;
    let link = Link::new(post.gateway.clone(), post.account.clone(), records);
    let (settings, received) = watch::channel(None);

    let board = provider.board().clone();
    let _tasks = [
        task(intake::run(
            Arc::clone(&provider),
            link.clone(),
            Arc::clone(&spool),
            merged,
        )),
        task(receive(
            Arc::clone(&provider),
            Arc::clone(&spool),
            received.clone(),
        )),
        task(deliver(Arc::clone(&provider), link.clone(), received)),
        task(tidy(link.records.clone())),
        task(health::report(
            board,
            spool,
            link.clone(),
            post.notifier.clone(),
        )),
        task(openclaw_daemon::client::feed_watchdog(
            post.notifier.clone(),
            || true,
        )),
        task(openclaw_daemon::client::rest()),
    ];
    post.notifier.ready();
    tokio::select! {
        over = attend(provider.as_ref(), &link, &settings) => match over {
            Over::Retired(reason) => {
                tracing::info!("the gateway let the account go: {reason}");
                Ok(())
            }
            over @ Over::Refused(_) => Err(over.into()),
        },
        () = post.shutdown.cancelled() => {
            post.notifier.stopping();
            Ok(())
        }
    }
}

/// Removes records that are nobody's any more. Never returns.
async fn tidy(records: Records) {
    loop {
        sleep(TIDY_INTERVAL).await;
        let records = records.clone();
        if let Ok(Err(error)) = spawn_blocking(move || records.tidy()).await {
            openclaw_daemon::failure::report("remove old records of deliveries", &error);
        }
    }
}

fn task(work: impl Future<Output = ()> + Send + 'static) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(work))
}

/// Speaks for the account, over restarts of the gateway, until it is let go.
async fn attend<P: Provider>(
    provider: &P,
    link: &Link,
    settings: &watch::Sender<Option<Arc<Settings>>>,
) -> Over {
    let mut pauses = Pauses::default();
    loop {
        let attend = Attend {
            account: link.account.clone(),
            abilities: provider.abilities(),
        };
        let error = match link.channels.attend(attend).await {
            Ok(stream) => {
                let mut stream = std::pin::pin!(stream);
                loop {
                    match stream.next().await {
                        Some(Ok(Instruction::Settings(new))) => {
                            pauses.renew();
                            take(provider, settings, new);
                        }
                        Some(Ok(Instruction::Retire(reason))) => return Over::Retired(reason),
                        Some(Err(error)) => break error,
                        None => break CallError::cut_off(),
                    }
                }
            }
            Err(error) => error,
        };
        if error.is_refused(RefusalCode::FailedPrecondition)
            || error.is_refused(RefusalCode::InvalidArgument)
        {
            return Over::Refused(error);
        }
        pauses.wait("speak for the account", &error).await;
    }
}

/// The same settings again, after a restart of the gateway, disturb nothing.
fn take<P: Provider>(provider: &P, settings: &watch::Sender<Option<Arc<Settings>>>, new: Settings) {
    settings.send_if_modified(|current| {
        let is_new = current.as_deref() != Some(&new);
        if is_new {
            provider.configure(&new);
            *current = Some(Arc::new(new));
        }
        is_new
    });
}

/// Receives with the settings as they are.
async fn receive<P: Provider>(
    provider: Arc<P>,
    spool: Arc<Spool>,
    mut settings: watch::Receiver<Option<Arc<Settings>>>,
) {
    loop {
        let is_configured = settings.borrow_and_update().is_some();
        let receiving = async {
            if is_configured {
                provider.receive(Arc::clone(&spool)).await;
            }
            pending::<()>().await;
        };
        tokio::select! {
            () = receiving => {}
            changed = settings.changed() => if changed.is_err() { return },
        }
    }
}

/// Delivers from the first settings on.
async fn deliver<P: Provider>(
    provider: Arc<P>,
    link: Link,
    mut settings: watch::Receiver<Option<Arc<Settings>>>,
) {
    if settings.wait_for(Option::is_some).await.is_ok() {
        outgoing::run(provider, link).await;
    }
}
