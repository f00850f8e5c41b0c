//! A process that stands ready for a turn, and what kills it before it has one.

use integration_tests::{Setup, Suite, processes, seen, until};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use scripted_model::{Scenario, Server};

/// Waits until a process stands ready for the next turn, after the last one.
pub(crate) async fn is_standing(suite: &Suite) {
    let what = "a process that stands ready";
    until(what, || turns(suite).len() == 1).await;
}

fn turns(suite: &Suite) -> Vec<Pid> {
    let processes = processes::of_folder(&suite.path(""));
    let turns = processes.into_iter().filter(|pid| processes::is_turn(*pid));
    turns.collect()
}

/// Waits for processes of `program`; they come later than that of their turn.
async fn running(suite: &Suite, program: &str) -> Vec<Pid> {
    seen(program, || {
        let mut all = processes::of_folder(&suite.path(""));
        all.retain(|pid| processes::program(*pid).as_deref() == Some(program));
        (!all.is_empty()).then_some(all)
    })
    .await
}

/// The kernel does it for want of memory, and the process of the turn lives on.
#[tokio::test]
async fn agent_that_was_killed_before_its_turn_fails_no_message() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("hello").await;
    for round in 0..3 {
        is_standing(&suite).await;
        let standing = turns(&suite);
        for agent in running(&suite, "openclaw-agent").await {
            processes::send(agent, Signal::SIGKILL);
        }
        until("the end of what stood ready", || {
            !turns(&suite).iter().any(|pid| standing.contains(pid))
        })
        .await;
        let answer = format!("Answer {round}.");
        model.push(Scenario::text(answer.as_str()));
        assert_eq!(suite.say("and now?").await, answer + "\n");
    }
}
