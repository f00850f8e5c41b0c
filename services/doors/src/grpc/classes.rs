//! Who may call which method of the control socket.
//!
//! The socket is its owner's alone (mode 0600). Channel daemons have one of their own, by which
//! they are known and not by their user, or are users of their own that the socket was opened to.
//! They hand in what came on their channel, take what goes out there, and say how they are. They
//! speak in no session of their choice, and neither read other conversations nor learn the token.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use openclaw_daemon::connections::Caller;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::server::NamedService;
use tonic::{Code, Status};
use tower::Service;

use crate::front::Front;

/// What a channel daemon needs. Everything else is the owner's. Each asks whether the account
/// is the caller's (`channels/speaker.rs`).
const OF_CHANNELS: [&str; 8] = [
    "Attach",
    "TakeDeliveries",
    "ReportDelivery",
    "HandIn",
    "Attend",
    "PutFile",
    "FetchFile",
    "ReportHealth",
];

/// A service that asks who calls before it answers.
#[derive(Clone)]
pub struct Classes<S> {
    service: S,
    front: Arc<Front>,
}

impl<S> Classes<S> {
    /// Asks before `service` does; who may what is in the settings of `front`.
    pub fn around(service: S, front: Arc<Front>) -> Self {
        Self { service, front }
    }
}

impl<S: NamedService> NamedService for Classes<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for Classes<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = futures_util::future::Either<
        S::Future,
        std::future::Ready<Result<Response<Body>, Infallible>>,
    >;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        use futures_util::future::Either;
        match check(&request, &self.front) {
            Ok(()) => Either::Left(self.service.call(request)),
            Err(status) => Either::Right(std::future::ready(Ok(status.into_http()))),
        }
    }
}

fn check(request: &Request<Body>, front: &Front) -> Result<(), Status> {
    let path = request.uri().path();
    let method = path.rsplit('/').next().unwrap_or_default();
    let Some(caller) = request.extensions().get::<Caller>() else {
        return Err(Status::internal("it is not known who calls"));
    };
    let guest = || front.settings().gateway.channel_uids.contains(&caller.uid);
    let is_channel = || caller.is_channel || guest();
    if caller.is_owner() || (OF_CHANNELS.contains(&method) && is_channel()) {
        return Ok(());
    }
    tracing::warn!(
        peer_uid = caller.uid,
        method,
        "refused a call that is the owner's"
    );
    Err(Status::new(
        Code::PermissionDenied,
        format!("{method} is for the user that the gateway runs as"),
    ))
}
