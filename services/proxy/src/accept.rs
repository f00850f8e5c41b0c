//! Connections to a proxy.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Before the next try when nothing can be accepted, mostly because this
/// process has all the files open that it may: nobody tells when that ends.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves every connection to `listener`, at most `most` at once, until
/// it is dropped.
pub(super) async fn serve<A, F>(listener: TcpListener, most: usize, attend: A)
where
    A: Fn(TcpStream) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(most));
    loop {
        // Before accept: what is too much waits in the kernel's queue.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let attended = attend(stream);
                tokio::spawn(async move {
                    attended.await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a connection to a proxy cannot be accepted now");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
