//! What clients may ask for. `hello-ok` advertises exactly this table.

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
use std::sync::Arc;

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

/// What a method gives back.
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

    /// Says `text` in a session as the assistant; the id of the entry.
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

    /// The parameters of a method that changes a session: without one there
    /// is an error of its own.
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

/// What a client must be to use a method.
#[derive(Debug, Clone, Copy)]
enum Access {
    /// Anybody who was let in, a node too.
    Anyone,
    /// An operator with this scope.
    Needs(Scope),
    /// An operator; the method looks at the parameters to know more.
    Looks,
}

struct Method {
    name: &'static str,
    access: Access,
    answer: fn(Call) -> Answering,
}

/// One line of the table.
macro_rules! method {
    ($name:literal, $access:expr, $answer:path) => {
        Method {
            name: $name,
            access: $access,
            answer: |call| Box::pin($answer(call)),
        }
    };
}

use Access::{Anyone, Looks, Needs};

const READ: Access = Needs(Scope::Read);
const WRITE: Access = Needs(Scope::Write);
const ADMIN: Access = Needs(Scope::Admin);
const PAIRING: Access = Needs(Scope::Pairing);
const APPROVALS: Access = Needs(Scope::Approvals);

/// In the order of their names.
const METHODS: &[Method] = &[
    method!("agent", Looks, agent::agent),
    method!("agent.identity.get", READ, agents::identity),
    method!("agent.wait", WRITE, agent::wait),
    method!("agents.list", READ, agents::list),
    method!("channels.logout", ADMIN, channels::logout),
    method!("channels.status", READ, channels::status),
    method!("chat.abort", WRITE, chat::abort),
    method!("chat.history", READ, chat::history),
    method!("chat.inject", ADMIN, chat::inject),
    method!("chat.send", WRITE, chat::send),
    method!("commands.list", READ, commands::list),
    method!("config.apply", ADMIN, config::apply),
    method!("config.get", READ, config::get),
    method!("config.patch", ADMIN, config::patch),
    method!("config.schema", READ, config::schema),
    method!("config.schema.lookup", READ, config::lookup),
    method!("config.set", ADMIN, config::set),
    method!("cron.add", ADMIN, cron::add),
    method!("cron.get", READ, cron::get),
    method!("cron.list", READ, cron::list),
    method!("cron.remove", ADMIN, cron::remove),
    method!("cron.run", ADMIN, cron::run),
    method!("cron.runs", READ, cron::runs),
    method!("cron.status", READ, cron::status),
    method!("cron.update", ADMIN, cron::update),
    method!("device.pair.approve", PAIRING, devices::approve),
    method!("device.pair.list", PAIRING, devices::list),
    method!("device.pair.reject", PAIRING, devices::reject),
    method!("device.pair.remove", PAIRING, devices::remove),
    method!("device.pair.rename", PAIRING, devices::rename),
    method!("device.token.revoke", PAIRING, devices::revoke),
    method!("device.token.rotate", PAIRING, devices::rotate),
    method!("exec.approval.get", APPROVALS, approvals::get),
    method!("exec.approval.list", APPROVALS, approvals::list),
    method!("exec.approval.request", APPROVALS, approvals::request),
    method!("exec.approval.resolve", APPROVALS, approvals::resolve),
    method!("exec.approval.waitDecision", APPROVALS, approvals::wait),
    method!("health", Anyone, system::health),
    method!("last-heartbeat", READ, system::last_heartbeat),
    method!("logs.tail", READ, logs::tail),
    method!("models.list", READ, models::list),
    method!("send", WRITE, outbound::send),
    method!("sessions.abort", WRITE, sessions::abort),
    method!("sessions.compact", ADMIN, sessions::compact),
    method!("sessions.create", Looks, sessions::create),
    method!("sessions.delete", Looks, sessions::delete),
    method!("sessions.describe", READ, sessions::describe),
    method!("sessions.list", READ, sessions::list),
    method!("sessions.messages.subscribe", READ, sessions::follow),
    method!("sessions.messages.unsubscribe", READ, sessions::unfollow),
    method!("sessions.patch", Looks, sessions::patch),
    method!("sessions.preview", READ, sessions::preview),
    method!("sessions.reset", ADMIN, sessions::reset),
    method!("sessions.resolve", READ, sessions::resolve),
    method!("sessions.send", WRITE, sessions::send),
    method!("sessions.subscribe", READ, sessions::subscribe),
    method!("sessions.unsubscribe", READ, sessions::unsubscribe),
    method!("status", READ, status::status),
    method!("system-event", ADMIN, system::event),
    method!("system-presence", READ, system::presence),
    method!("tools.catalog", READ, tools::catalog),
    method!("usage.cost", READ, usage::cost),
    method!("wake", WRITE, outbound::wake),
];

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
    let method = &METHODS[at];
    let role = client.identity.role;
    if role != Role::Operator && !matches!(method.access, Anyone) {
        return Err(Failure::role(role.as_str()));
    }
    match method.access {
        Needs(scope) => client.need(scope)?,
        // An operator needs a scope even for what a node may ask.
        Anyone if role == Role::Operator => client.need(Scope::Read)?,
        Anyone | Looks => {}
    }
    Ok(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_has_nothing_twice() {
        let names = names();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    }
}
