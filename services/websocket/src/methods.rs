//! The methods of the protocol. `hello-ok` advertises exactly these.

/// States the methods that a module answers: the name of each, what a client must be to use it,
/// and the function.
macro_rules! methods {
    ($( $name:literal => $access:ident, $answer:path; )*) => {
        /// The methods that are answered here.
        pub(in crate::methods) const METHODS: &[crate::methods::Method] = &[$(
            crate::methods::Method {
                name: $name,
                access: crate::methods::Access::$access,
                answer: |call| Box::pin($answer(call)),
            },
        )*];
    };
}

mod agent;
mod agents;
mod approvals;
mod attachments;
mod by_effect;
mod channels;
mod chat;
mod commands;
mod config;
mod cron;
mod devices;
mod logs;
mod models;
mod outbound;
mod run;
mod sessions;
mod status;
mod system;
mod tools;
mod usage;

use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use openclaw_conversations::Refusal;
use openclaw_conversations::sessions::Shown;
use openclaw_devices::Devices;
use openclaw_doors::channels::Channels;
use openclaw_doors::throttle::Throttle;
use openclaw_protocol::client::Role;
use openclaw_protocol::scope::Scope;
use openclaw_protocol::{Failure, Request, params, response};
use openclaw_runs::injected::say;
use openclaw_runs::{Core, Sender, SenderRole};
use openclaw_schedule::Schedule;
use openclaw_sessions::SessionKey;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::client::Client;
use super::health::Health;
use super::hub::Hub;
use super::presence::Presence;
use super::recent_sends::RecentSends;
use super::refused::{refused, stored};
use super::run_report::RunReporter;

type Answering = Pin<Box<dyn Future<Output = Result<Answer, Failure>> + Send>>;

/// The result of a method.
pub(super) enum Answer {
    /// The response's payload.
    Payload(Value),
    /// The method has sent its response itself.
    Given,
}

impl From<Value> for Answer {
    fn from(payload: Value) -> Self {
        Self::Payload(payload)
    }
}

/// The parts of the gateway that methods use.
pub(super) struct Context {
    pub(super) core: Arc<Core>,
    /// The accounts of channels, and who speaks for them.
    pub(super) channels: Arc<Channels>,
    /// The jobs.
    pub(super) schedule: Arc<Schedule>,
    pub(super) hub: Arc<Hub>,
    pub(super) presence: Presence,
    pub(super) health: Health,
    pub(super) devices: Arc<Devices>,
    pub(super) reporter: Arc<RunReporter>,
    pub(super) config_writes: Throttle,
    pub(super) sends: RecentSends,
}

/// A request on its way.
pub(super) struct Call {
    pub(super) context: Arc<Context>,
    pub(super) client: Arc<Client>,
    pub(super) method: &'static str,
    request: Request,
}

impl Call {
    pub(super) fn new(context: Arc<Context>, client: Arc<Client>, request: Request) -> Self {
        Self {
            context,
            client,
            method: "",
            request,
        }
    }

    /// The client as a sender of messages.
    fn sender(&self) -> Sender {
        Sender {
            role: SenderRole::Owner,
            id: self.client.identity.id.as_str().to_owned(),
            approves: self.client.identity.may(Scope::Approvals),
            // By the channel of its runs, which others than this client may follow.
            follows_levels: false,
        }
    }

    /// The session that parameters name.
    fn key(&self, session: &str, agent_id: Option<&str>) -> Result<SessionKey, Failure> {
        let agent = agent_id.unwrap_or_default();
        self.context.core.key(session, agent).map_err(refused)
    }

    /// The session, if there is one.
    async fn session(&self, key: &SessionKey) -> Result<Option<Shown>, Failure> {
        match self.context.core.sessions.get(key).await {
            Ok(shown) => Ok(Some(shown)),
            Err(Refusal::UnknownSession(_)) => Ok(None),
            Err(refusal) => Err(refused(refusal)),
        }
    }

    /// Says `text` in a session as the assistant, and returns the id of the entry.
    async fn say(&self, key: &SessionKey, text: &str) -> Result<String, Failure> {
        let core = &self.context.core;
        let said = say(&core.storage, &core.bus, key, text).await;
        said.map_err(|fault| stored(&fault))
    }

    /// The parameters.
    fn params<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        params::decode(self.method, self.request.params.take())
    }

    /// Takes parameters away that the method knows and does not use.
    fn ignore(&mut self, fields: &[&str]) {
        if let Value::Object(params) = &mut self.request.params {
            params.retain(|name, _| !fields.contains(&name.as_str()));
        }
    }

    /// The parameters of a method that changes a session: without one there is an error of its own.
    fn session_params<T: DeserializeOwned>(&mut self, field: &str) -> Result<T, Failure> {
        let named = self.request.params.get(field).and_then(Value::as_str);
        if named.is_none_or(str::is_empty) {
            let failure = Failure::invalid("session mutation target is unavailable");
            return Err(failure.with_details(json!({
                "code": "SESSION_MUTATION_TARGET_REQUIRED",
                "method": self.method,
            })));
        }
        self.params()
    }

    /// Sends a response now. More than one is for `agent` alone.
    fn answer(&self, result: Result<&Value, &Failure>) {
        self.client.text(response::text(&self.request.id, result));
    }

    /// Sends a failure that has a payload.
    fn answer_failed(&self, payload: &Value, failure: &Failure) {
        let text = response::failed_with_payload(&self.request.id, payload, failure);
        self.client.text(text);
    }
}

/// The access that a method requires.
#[derive(Debug, Clone, Copy)]
enum Access {
    /// Anybody who was let in, a node too.
    Anyone,
    /// An operator with this scope.
    Needs(Scope),
    /// An operator; the method looks at the parameters to know more.
    Looks,
}

impl Access {
    const READ: Self = Self::Needs(Scope::Read);
    const WRITE: Self = Self::Needs(Scope::Write);
    const ADMIN: Self = Self::Needs(Scope::Admin);
    const PAIRING: Self = Self::Needs(Scope::Pairing);
    const APPROVALS: Self = Self::Needs(Scope::Approvals);
}

/// A method, as the module states it that answers it.
struct Method {
    name: &'static str,
    access: Access,
    answer: fn(Call) -> Answering,
}

/// The modules that answer methods.
const ANSWERING: [&[Method]; 23] = [
    agent::METHODS,
    agents::METHODS,
    agents::identity::METHODS,
    approvals::METHODS,
    channels::METHODS,
    chat::METHODS,
    chat::history::METHODS,
    commands::METHODS,
    config::METHODS,
    cron::METHODS,
    devices::METHODS,
    logs::METHODS,
    models::METHODS,
    outbound::METHODS,
    sessions::METHODS,
    sessions::change::METHODS,
    sessions::compact::METHODS,
    sessions::list::METHODS,
    sessions::look::METHODS,
    status::METHODS,
    system::METHODS,
    tools::METHODS,
    usage::METHODS,
];

/// All methods, in the order of their names.
static METHODS: LazyLock<Vec<&Method>> = LazyLock::new(|| {
    let mut methods: Vec<_> = ANSWERING.into_iter().flatten().collect();
    methods.sort_by_key(|method| method.name);
    methods
});

/// The names of all methods.
pub(super) fn names() -> Vec<&'static str> {
    METHODS.iter().map(|method| method.name).collect()
}

/// Answers a request.
pub(super) async fn run(mut call: Call) {
    let id = call.request.id.clone();
    let client = Arc::clone(&call.client);
    let result = match find(&client, &call.request.method) {
        Ok(method) => {
            call.method = method.name;
            (method.answer)(call).await
        }
        Err(failure) => Err(failure),
    };
    match result {
        Ok(Answer::Payload(payload)) => client.text(response::text(&id, Ok(&payload))),
        Ok(Answer::Given) => {}
        Err(failure) => client.text(response::text(&id, Err(&failure))),
    }
}

/// The method, if the client may use it.
fn find(client: &Client, name: &str) -> Result<&'static Method, Failure> {
    let found = METHODS.binary_search_by(|method| method.name.cmp(name));
    let Ok(at) = found else {
        return Err(Failure::unknown_method(name));
    };
    let method = METHODS[at];
    let role = client.identity.role;
    if role != Role::Operator && !matches!(method.access, Access::Anyone) {
        return Err(Failure::role(role.as_str()));
    }
    match method.access {
        Access::Needs(scope) => client.need(scope)?,
        // An operator needs a scope even for what a node may ask.
        Access::Anyone if role == Role::Operator => client.need(Scope::Read)?,
        Access::Anyone | Access::Looks => {}
    }
    Ok(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_order_and_has_nothing_twice() {
        let names = names();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    }
}
