//! What the server will say next: queue, default, follow-ups of tool calls, gates.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::prompt::{Api, Prompt};
use crate::reply::Reply;
use crate::scenario::Scenario;
use crate::scenario_name::UnknownScenario;

/// Follow-ups remembered at a time. A client may repeat a request (a retry after an error), so a follow-up is not
/// forgotten by being used, only by age.
const MAX_FOLLOW_UPS: usize = 4096;

/// Shared by all connections of one server.
#[derive(Debug)]
pub(crate) struct Stage {
    state: Mutex<State>,
    released: watch::Sender<HashSet<String>>,
}

#[derive(Debug)]
struct State {
    queue: VecDeque<Scenario>,
    default: Scenario,
    follow_ups: BTreeMap<u64, (String, Scenario)>,
    serial: u64,
}

impl Stage {
    pub(crate) fn new(default: Scenario) -> Self {
        let state = State {
            queue: VecDeque::new(),
            default,
            follow_ups: BTreeMap::new(),
            serial: 0,
        };
        Self {
            state: Mutex::new(state),
            released: watch::Sender::new(HashSet::new()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere leaves nothing half-done in these collections.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, scenario: Scenario) {
        self.state().queue.push_back(scenario);
    }

    pub(crate) fn set_default(&self, scenario: Scenario) {
        self.state().default = scenario;
    }

    pub(crate) fn queued(&self) -> usize {
        self.state().queue.len()
    }

    pub(crate) fn release(&self, gate: &str) {
        self.released.send_modify(|released| {
            released.insert(gate.to_owned());
        });
    }

    /// Returns when `gate` has been released, at once if it was released before.
    pub(crate) async fn pass(&self, gate: &str) {
        // The sender lives in self, so the channel cannot close while this waits.
        let _ = self
            .released
            .subscribe()
            .wait_for(|released| released.contains(gate))
            .await;
    }

    /// The scenario that `prompt` is answered with.
    pub(crate) fn choose(&self, prompt: &Prompt) -> Result<Scenario, UnknownScenario> {
        let mut state = self.state();
        if !prompt.results.is_empty() {
            return Ok(state
                .follow_up(prompt)
                .unwrap_or_else(Scenario::tell_result)
                .for_tools(&prompt.tools));
        }
        if prompt.is_housekeeping() {
            return Ok(Scenario::text("Scripted session"));
        }
        if let Some(directed) = Scenario::directed(&prompt.said) {
            return directed;
        }
        Ok(state
            .queue
            .pop_front()
            .unwrap_or_else(|| state.default.clone()))
    }

    /// Makes `scenario` concrete and remembers what follows its tool calls.
    pub(crate) fn reply(&self, scenario: &Scenario, prompt: &Prompt, asked_bytes: usize) -> Reply {
        let mut state = self.state();
        let follow_up = match &scenario.then {
            Some(next) => (**next).clone(),
            None if scenario.forever => scenario.clone(),
            None => Scenario::tell_result(),
        };
        let ids: Vec<_> = scenario
            .calls
            .iter()
            .map(|_| state.new_call(prompt.api, &follow_up))
            .collect();
        state.serial += 1;
        Reply::new(scenario, prompt, state.serial, ids, asked_bytes)
    }
}

impl State {
    fn follow_up(&self, prompt: &Prompt) -> Option<Scenario> {
        let made_here = |(id, _): &&(String, Scenario)| {
            prompt.results.iter().any(|result| result.call_id == *id)
        };
        self.follow_ups
            .values()
            .rev()
            .find(made_here)
            .map(|(_, scenario)| scenario.clone())
    }

    fn new_call(&mut self, api: Api, follow_up: &Scenario) -> String {
        self.serial += 1;
        let id = match api {
            Api::Anthropic => format!("toolu_{:024}", self.serial),
            Api::OpenAi | Api::Responses => format!("call_{:024}", self.serial),
        };
        self.follow_ups
            .insert(self.serial, (id.clone(), follow_up.clone()));
        while self.follow_ups.len() > MAX_FOLLOW_UPS {
            self.follow_ups.pop_first();
        }
        id
    }
}
