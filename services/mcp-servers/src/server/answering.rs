//! What a server asks of us, a bounded number of times at once. It may ask whatever it likes as
//! fast as it likes and read no answer; each question is a task and an answer that waits.

use std::future::Future;
use std::sync::Arc;

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, ServiceRole, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::Semaphore;

/// Questions of a server that are not answered yet. With so many, it is not heard further.
const UNANSWERED: usize = 64;

/// The transport behind which they are counted.
pub(super) struct Answering<T> {
    transport: T,
    places: Arc<Semaphore>,
}

impl<T> Answering<T> {
    pub(super) fn new(transport: T) -> Self {
        Self {
            transport,
            places: Arc::new(Semaphore::new(UNANSWERED)),
        }
    }
}

impl<R: ServiceRole, T: Transport<R>> Transport<R> for Answering<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<R>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let is_answer = matches!(item, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let (sending, places) = (self.transport.send(item), Arc::clone(&self.places));
        async move {
            let sent = sending.await;
            if is_answer {
                places.add_permits(1);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<R>> {
        // It is never closed.
        let place = self.places.acquire().await.ok()?;
        let message = self.transport.receive().await?;
        if matches!(message, JsonRpcMessage::Request(_)) {
            place.forget();
        }
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex};
    use tokio::time::timeout;

    use super::super::cut::Refused;
    use super::super::{Listener, greeting};

    const PIPE: usize = 1 << 12;

    /// After this long nothing more is taken.
    const STANDSTILL: Duration = Duration::from_secs(1);

    /// It asks without an end, and reads no answer for now: it is not heard further. When it
    /// reads them, it has one for each question, and is heard again.
    #[tokio::test]
    async fn server_that_reads_no_answers_is_not_heard_further() {
        let (ours, theirs) = duplex(PIPE);
        let greeted = tokio::spawn(async move {
            let ends = tokio::io::split(ours);
            greeting::greet(ends, Listener(Arc::default()), &Refused::default()).await
        });
        let (reader, mut writer) = tokio::io::split(theirs);
        let mut lines = BufReader::new(reader).lines();
        let mut heard = async || -> Value {
            serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap()
        };
        for result in [
            json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"}}),
            json!({"tools": []}),
        ] {
            let mut asked = heard().await;
            while asked["id"].is_null() {
                asked = heard().await;
            }
            let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
            writer
                .write_all(format!("{answer}\n").as_bytes())
                .await
                .unwrap();
        }
        let _running = greeted.await.unwrap().unwrap();
        let mut asked = 0;
        loop {
            let ping = json!({"jsonrpc": "2.0", "id": asked, "method": "ping"});
            let line = format!("{ping}\n");
            let asking = writer.write_all(line.as_bytes());
            if timeout(STANDSTILL, asking).await.is_err() {
                break;
            }
            asked += 1;
            assert!(asked < 40_000, "all of them are taken");
        }
        let mut left: BTreeSet<u64> = (0..asked).collect();
        while !left.is_empty() {
            let number = heard().await["id"].as_u64().unwrap();
            assert!(left.remove(&number), "{number} is answered twice");
        }
    }
}
