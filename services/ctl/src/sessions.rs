//! `sessions`: which there are, what was said in them, and changing them.

mod change;
mod find;
mod list;
mod show;

use std::process::ExitCode;

use openclaw_config::{Environment, Paths};
use openclaw_proto::call::CallError;
use openclaw_proto::sessions::Named;
use openclaw_terminal::Failure;

use crate::cli;
use crate::cli::sessions::Action;
use openclaw_connection::{self as connection, Gateway};

/// Does what was asked with the sessions.
pub(crate) fn execute(
    arguments: &cli::Sessions,
    environment: &Environment,
) -> Result<ExitCode, Failure> {
    let paths = Paths::resolve(environment)?;
    connection::runtime()?.block_on(async {
        let gateway = Gateway::at(&paths);
        let done = match &arguments.action {
            None => list::execute(&gateway, &arguments.list).await,
            Some(Action::List(list)) => list::execute(&gateway, list).await,
            Some(Action::Show(show)) => show::execute(&gateway, show).await,
            Some(Action::Find(find)) => return find::execute(&gateway, find).await,
            Some(Action::Create(create)) => change::create(&gateway, create).await,
            Some(Action::Patch(patch)) => change::patch(&gateway, patch).await,
            Some(Action::Reset(one)) => change::reset(&gateway, one).await,
            Some(Action::Compact(compact)) => change::compact(&gateway, compact).await,
            Some(Action::Archive(one)) => change::archive(&gateway, one, true).await,
            Some(Action::Unarchive(one)) => change::archive(&gateway, one, false).await,
            Some(Action::Delete(delete)) => change::delete(&gateway, delete).await,
        };
        done.map(|()| ExitCode::SUCCESS)
    })
}

/// How the gateway knows the session.
pub(crate) fn named<'a>(session: &'a str, agent: Option<&'a str>) -> Named<'a> {
    Named {
        session,
        agent_id: agent.unwrap_or_default(),
    }
}

/// What the gateway did not do. What it says of a session is the whole story.
pub(crate) fn failure(gateway: &Gateway, error: &CallError) -> Failure {
    gateway.refused(error)
}

/// What whoever was refused can do about it.
pub(crate) fn remedy(error: &CallError) -> Option<&str> {
    match error {
        CallError::Refused { remedy, .. } => remedy.as_deref(),
        CallError::Absent(_) | CallError::Broken(_) => None,
    }
}
