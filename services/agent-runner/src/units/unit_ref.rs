//! A unit that this daemon has a hold on: the manager keeps it until it was
//! asked why its process ended, and forgets it when the hold or the daemon is
//! gone (RefUnit in org.freedesktop.systemd1(5)).

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::runtime::Handle;
use tokio::time::timeout;
use zbus::message::Type;
use zbus::zvariant::{OwnedObjectPath, OwnedValue};
use zbus::{Connection, MatchRule, MessageStream};

use super::Verdict;
use super::systemd::{NAME, Systemd};

/// The longest time the manager gets to notice an end that this daemon has seen.
const DEADLINE: Duration = Duration::from_secs(5);

/// SIGKILL as the number that the manager takes.
const SIGKILL: i32 = nix::libc::SIGKILL;

const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const UNIT: &str = "org.freedesktop.systemd1.Unit";
const SERVICE: &str = "org.freedesktop.systemd1.Service";

/// States of a unit whose process may still be there.
const UP: [&str; 3] = ["activating", "active", "reloading"];

/// Exit codes of a process that could not get the users or the view of its unit (systemd.exec(5)).
const EXIT_USER: i32 = 217;
const EXIT_NAMESPACE: i32 = 226;

#[derive(Debug)]
pub(crate) struct UnitRef {
    systemd: Arc<Systemd>,
    unit: String,
}

impl UnitRef {
    /// Lets go, when it is dropped, of a unit that this daemon has referenced.
    pub(super) fn new(systemd: Arc<Systemd>, unit: String) -> Self {
        Self { systemd, unit }
    }

    /// Takes hold of a unit that an earlier daemon started, if it is there.
    pub(super) async fn take(systemd: &Arc<Systemd>, unit: String) -> Option<Self> {
        systemd.ask("RefUnit", &unit).await.ok()?;
        Some(Self::new(Arc::clone(systemd), unit))
    }

    /// Kills all of its processes.
    pub(crate) async fn kill(&self) {
        let everything = (&self.unit, "all", SIGKILL);
        let killed = timeout(DEADLINE, self.systemd.ask("KillUnit", &everything)).await;
        if let Ok(Err(error)) = killed {
            // It may be gone since; its main process is killed in any case.
            tracing::debug!(unit = self.unit, "a unit was not killed: {error}");
        }
    }

    /// Why its process, which is gone, ended.
    pub(crate) async fn verdict(&self) -> Option<Verdict> {
        // The manager tells a client everything or nothing.
        let _only = self.systemd.listening.lock().await;
        let subscribed = self.systemd.ask("Subscribe", &()).await;
        let found = timeout(DEADLINE, self.judge()).await;
        if subscribed.is_ok() {
            let _ = self.systemd.ask("Unsubscribe", &()).await;
        }
        match found {
            Ok(Ok(verdict)) => Some(verdict),
            Ok(Err(error)) => {
                tracing::debug!(%error, unit = self.unit, "it is not known why a unit ended");
                None
            }
            Err(_) => {
                tracing::warn!(unit = self.unit, "a unit goes on without its process");
                None
            }
        }
    }

    async fn judge(&self) -> zbus::Result<Verdict> {
        let line = self.systemd.line().await?;
        let found = self.systemd.ask("GetUnit", &self.unit).await?;
        let path: OwnedObjectPath = found.body().deserialize()?;
        let rule = MatchRule::builder()
            .msg_type(Type::Signal)
            .interface(PROPERTIES)?
            .member("PropertiesChanged")?
            .path(&path)?
            .build();
        let mut changes = MessageStream::for_match_rule(rule, &line, None).await?;
        // The manager learns of the end when the process is reaped, which may
        // be after its files were closed.
        while UP.contains(&text(&line, &path, UNIT, "ActiveState").await?.as_str()) {
            changes.next().await;
        }
        Ok(
            match text(&line, &path, SERVICE, "Result").await?.as_str() {
                "oom-kill" => Verdict::OutOfMemory,
                "timeout" => Verdict::Timeout,
                "exit-code" if lacks_namespaces(&line, &path).await? => Verdict::NoNamespaces,
                other => Verdict::Other(other.to_owned()),
            },
        )
    }
}

impl Drop for UnitRef {
    fn drop(&mut self) {
        // At the daemon's end its line to the manager goes, and all holds.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let (systemd, unit) = (Arc::clone(&self.systemd), std::mem::take(&mut self.unit));
        runtime.spawn(async move {
            if let Err(error) = systemd.ask("UnrefUnit", &unit).await {
                tracing::debug!(%error, unit, "there was no hold on the unit");
            }
        });
    }
}

async fn lacks_namespaces(line: &Connection, path: &OwnedObjectPath) -> zbus::Result<bool> {
    let code = i32::try_from(get(line, path, SERVICE, "ExecMainStatus").await?)?;
    Ok([EXIT_USER, EXIT_NAMESPACE].contains(&code))
}

async fn text(
    line: &Connection,
    path: &OwnedObjectPath,
    interface: &str,
    property: &str,
) -> zbus::Result<String> {
    Ok(String::try_from(
        get(line, path, interface, property).await?,
    )?)
}

async fn get(
    line: &Connection,
    path: &OwnedObjectPath,
    interface: &str,
    property: &str,
) -> zbus::Result<OwnedValue> {
    let answer = line
        .call_method(
            Some(NAME),
            path,
            Some(PROPERTIES),
            "Get",
            &(interface, property),
        )
        .await?;
    answer.body().deserialize()
}
