//! Indexing on request, with news of how far it is.

use openclaw_proto::memory::Progress;
use openclaw_proto::wire::memory as wire;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use crate::agents::Agents;
use crate::error::Error;
use crate::indexer::Command;

/// News that was not read yet.
const AHEAD: usize = 8;

type News = Result<wire::IndexProgress, Status>;

/// Makes the indexer of `agent` look at everything.
pub(super) async fn run(
    agents: &Agents,
    agent: &str,
    force: bool,
) -> Result<ReceiverStream<News>, Error> {
    let store = agents.store(agent)?;
    let commands = agents.commands(agent)?;
    let (done, finished) = oneshot::channel();
    let progress = store.progress.subscribe();
    let command = Command::Look { force, done };
    commands.send(command).await.map_err(|_| Error::Ending)?;
    let (out, stream) = mpsc::channel(AHEAD);
    tokio::spawn(follow(progress, finished, out));
    Ok(ReceiverStream::new(stream))
}

async fn follow(
    mut progress: watch::Receiver<Progress>,
    mut finished: oneshot::Receiver<Result<(), Error>>,
    out: mpsc::Sender<News>,
) {
    let ended = loop {
        tokio::select! {
            ended = &mut finished => break ended,
            changed = progress.changed() => {
                let now = *progress.borrow_and_update();
                let news = Progress { done: false, ..now };
                // The work goes on when nobody reads any more.
                if changed.is_err() || out.send(Ok(news.into())).await.is_err() {
                    return;
                }
            }
        }
    };
    let last = match ended {
        Ok(Ok(())) => Ok(Progress {
            done: true,
            ..*progress.borrow()
        }
        .into()),
        Ok(Err(error)) => Err(error.into()),
        Err(_) => Err(Error::Ending.into()),
    };
    let _ = out.send(last).await;
}
