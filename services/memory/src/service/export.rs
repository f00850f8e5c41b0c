//! Everything that is searched, one document after the other.

use std::sync::Arc;

use openclaw_proto::wire::memory as wire;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use crate::error::Error;
use crate::store::Store;
use crate::worker::Worker;

/// Documents that were read and are not sent yet.
const AHEAD: usize = 4;

type Exported = Result<wire::ExportedDocument, Status>;

/// The documents of `store`.
pub(super) async fn documents(
    store: Arc<Store>,
    worker: Worker,
) -> Result<ReceiverStream<Exported>, Error> {
    let names = worker.run(&store, Store::names).await?;
    let (out, stream) = mpsc::channel(AHEAD);
    tokio::spawn(send(store, worker, names, out));
    Ok(ReceiverStream::new(stream))
}

async fn send(store: Arc<Store>, worker: Worker, names: Vec<String>, out: mpsc::Sender<Exported>) {
    let total = u32::try_from(names.len()).unwrap_or(u32::MAX);
    for (number, name) in (1..).zip(names) {
        let read = worker.run(&store, move |store| store.exported(&name)).await;
        let sent = match read {
            Ok(Some(mut document)) => {
                (document.number, document.total) = (number, total);
                out.send(Ok(document.into())).await
            }
            Ok(None) => Ok(()),
            Err(error) => out.send(Err(error.into())).await,
        };
        // Nobody reads any more.
        if sent.is_err() {
            return;
        }
    }
}
