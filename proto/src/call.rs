//! Calls of a daemon that bring no answer, and the patience with one that is
//! started again.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

mod status;

pub use status::refused;

/// The wait before the first new attempt; it doubles with each one.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest wait between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How long a question that changes nothing is asked again of a daemon that was lost
/// over it: one that its socket starts again answers within a second.
const READING: Duration = Duration::from_secs(3);

/// Why a call brought no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nobody listens at the daemon's socket, or not to this user. The service
    /// manager keeps the socket of a daemon that it starts again, so nobody will
    /// be there in a moment either.
    #[error(transparent)]
    Absent(#[from] NotConnected),
    /// The daemon was lost over it.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// The daemon's answer: it does not do what it is asked.
    #[error("{message}{}", remedy.as_ref().map(|it| format!("; {it}")).unwrap_or_default())]
    Refused {
        /// For programs.
        code: RefusalCode,
        /// For people.
        message: String,
        /// What they can do about it.
        remedy: Option<String>,
    },
}

/// How a daemon was lost.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// The connection broke, or the daemon ends. Asked again it may answer.
    #[error("{0}")]
    Lost(String),
    /// It said nothing in the time it had, so it hangs.
    #[error("no answer within {0:?}")]
    Late(Duration),
}

/// A socket that could not be connected to.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot connect to {}: {why}", socket.display())]
pub struct NotConnected {
    socket: PathBuf,
    kind: ErrorKind,
    why: String,
}

/// Why a daemon does not do what it is asked, by gRPC's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalCode {
    /// The request is wrong, whenever it is made.
    InvalidArgument,
    /// What it names is not there.
    NotFound,
    /// What it would make is there.
    AlreadyExists,
    /// As things are it cannot be done.
    FailedPrecondition,
    /// A limit is reached.
    ResourceExhausted,
    /// The caller, or the daemon, may not.
    PermissionDenied,
    /// What it names is gone.
    OutOfRange,
    /// Something else is being done that it cannot stand beside.
    Aborted,
    /// The daemon does not know this request: it is of another version.
    Unimplemented,
    /// A fault of the daemon's.
    Internal,
}

impl CallError {
    /// The stream of answers ended before the last.
    pub fn cut_off() -> Self {
        Broken::Lost("the stream ended before the last answer".to_owned()).into()
    }

    /// The code of a refusal.
    pub fn code(&self) -> Option<RefusalCode> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::Absent(_) | Self::Broken(_) => None,
        }
    }

    /// Whether the daemon refuses with `code`.
    pub fn is_refused(&self, code: RefusalCode) -> bool {
        self.code() == Some(code)
    }

    /// Whether no daemon is there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent(_))
    }

    /// Whether the connection broke rather than the daemon having answered.
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Broken(Broken::Lost(_)))
    }
}

impl NotConnected {
    pub(crate) fn new(socket: &Path, error: &io::Error) -> Self {
        Self {
            socket: socket.to_owned(),
            kind: error.kind(),
            why: error.to_string(),
        }
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Why it could not be.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether there is nobody to connect to; else too many want to.
    fn is_absence(&self) -> bool {
        use ErrorKind::{ConnectionRefused, NotFound, PermissionDenied};
        matches!(self.kind(), NotFound | ConnectionRefused | PermissionDenied)
    }
}

/// How long a daemon that was lost is asked again.
#[derive(Debug, Clone)]
pub struct Patience {
    total: Duration,
    with_absent: bool,
    pause: Duration,
    until: Option<Instant>,
}

impl Patience {
    /// New attempts for `total` after the first that failed.
    pub fn of(total: Duration) -> Self {
        Self {
            total,
            with_absent: false,
            pause: FIRST_PAUSE,
            until: None,
        }
    }

    /// The same with a daemon that is not there: whoever knows that it was
    /// there waits for it to be started by hand too.
    pub fn with_absent(self) -> Self {
        Self {
            with_absent: true,
            ..self
        }
    }

    /// Begins anew: the daemon said something.
    pub fn renew(&mut self) {
        *self = Self {
            pause: FIRST_PAUSE,
            until: None,
            ..self.clone()
        };
    }

    /// Waits for the next attempt.
    ///
    /// # Errors
    /// `error`, when another attempt does not help or it took too long.
    pub async fn wait(&mut self, error: CallError) -> Result<(), CallError> {
        let until = *self
            .until
            .get_or_insert_with(|| Instant::now() + self.total);
        let helps = error.is_lost() || (self.with_absent && error.is_absent());
        if !helps || Instant::now() >= until {
            return Err(error);
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }

    /// Calls until there is an answer.
    ///
    /// # Errors
    /// That of the last attempt.
    pub async fn call<T, F>(mut self, mut attempt: impl FnMut() -> F) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        loop {
            match attempt().await {
                Ok(answer) => return Ok(answer),
                Err(error) => self.wait(error).await?,
            }
        }
    }
}

/// What a call brings that may be made twice, because it changes nothing: it is made
/// again where the daemon was lost over it.
///
/// # Errors
/// That of the last attempt.
pub(crate) async fn read<T, F>(attempt: impl FnMut() -> F) -> Result<T, CallError>
where
    F: Future<Output = Result<T, CallError>>,
{
    Patience::of(READING).call(attempt).await
}

/// What `call` brings within `limit`.
///
/// # Errors
/// Its own, or that it took longer.
pub async fn within<T>(
    limit: Duration,
    call: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    timeout(limit, call)
        .await
        .unwrap_or_else(|_| Err(Broken::Late(limit).into()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn lost() -> CallError {
        CallError::cut_off()
    }

    fn absent() -> CallError {
        let source = io::Error::from(ErrorKind::NotFound);
        NotConnected::new(Path::new("/run/a.sock"), &source).into()
    }

    fn busy() -> CallError {
        CallError::Refused {
            code: RefusalCode::Aborted,
            message: "it is being compacted".to_owned(),
            remedy: Some("wait for it".to_owned()),
        }
    }

    /// Attempts that `patience` makes when each fails as `error`.
    async fn attempts(patience: Patience, error: fn() -> CallError) -> u32 {
        let made = Cell::new(0);
        let attempt = || {
            made.set(made.get() + 1);
            async { Err::<(), _>(error()) }
        };
        patience.call(attempt).await.unwrap_err();
        made.get()
    }

    #[tokio::test]
    async fn patience_asks_again_only_where_it_may_help() {
        let patience = Patience::of(FIRST_PAUSE * 2);
        let late = || Broken::Late(Duration::from_secs(1)).into();
        assert!(attempts(patience.clone(), lost).await > 1);
        assert_eq!(attempts(patience.clone(), absent).await, 1);
        assert!(attempts(patience.clone().with_absent(), absent).await > 1);
        assert_eq!(attempts(patience.clone(), busy).await, 1);
        assert_eq!(attempts(patience, late).await, 1);
    }

    #[tokio::test]
    async fn patience_begins_anew_when_the_daemon_spoke() {
        let mut patience = Patience::of(FIRST_PAUSE);
        for _ in 0..3 {
            patience.wait(lost()).await.unwrap();
            assert!(patience.wait(lost()).await.is_err());
            patience.renew();
        }
    }

    #[tokio::test]
    async fn within_ends_a_call_that_hangs() {
        let limit = Duration::from_millis(5);
        let error = within(limit, std::future::pending::<Result<(), _>>()).await;
        assert_eq!(error.unwrap_err().to_string(), "no answer within 5ms");
        let limit = Duration::from_secs(60);
        assert_eq!(within(limit, async { Ok(7) }).await.unwrap(), 7);
    }

    #[test]
    fn call_error_says_what_to_do() {
        assert_eq!(busy().to_string(), "it is being compacted; wait for it");
        assert!(busy().is_refused(RefusalCode::Aborted));
        let absent = absent().to_string();
        assert!(
            absent.starts_with("cannot connect to /run/a.sock: "),
            "{absent}"
        );
    }
}
