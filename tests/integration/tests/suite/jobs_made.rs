//! What jobs do beside asking an agent, and the jobs that agents make.

use integration_tests::{Setup, Suite, asked, processes, until};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

async fn jobs(suite: &Suite) -> Vec<Value> {
    let said = suite.ctl(&["cron", "list", "--json"]).await.document();
    said.as_array().cloned().unwrap()
}

/// The newest run, when it is over.
async fn last_run(suite: &Suite, before: usize) -> Value {
    loop {
        let said = suite.ctl(&["cron", "history", "--json"]).await.document();
        let runs = said.as_array().cloned().unwrap();
        if runs.len() > before && !runs[0]["endedMs"].is_null() {
            return runs[0].clone();
        }
    }
}

#[tokio::test]
async fn command_runs_in_the_sandbox_without_a_model() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.note("plants.txt", "basil\nmint\n");
    for (command, state, words) in [
        ("wc -l < plants.txt", "delivered", "2"),
        ("echo no; exit 3", "failed", "exit code 3: no"),
        ("cat /etc/shadow", "failed", "exit code 1"),
    ] {
        let before = suite.ctl(&["cron", "history", "--json"]).await.document();
        let before = before.as_array().unwrap().len();
        suite
            .ctl(&[
                "cron",
                "add",
                "--command",
                command,
                "--every",
                "1h",
                "--name",
                "c",
                "--announce",
            ])
            .await
            .ok();
        suite.ctl(&["cron", "run", "c"]).await.ok();
        let run = last_run(&suite, before).await;
        assert_eq!(run["state"], state, "{run}");
        let told = format!("{}{}", run["summary"], run["reason"]);
        assert!(told.contains(words), "{run}");
        suite.ctl(&["cron", "remove", "c"]).await.ok();
    }
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn command_that_outlives_its_gateway_runs_once() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite
        .ctl(&[
            "cron",
            "add",
            "--command",
            "echo x >> ran; sleep 2; cat ran",
            "--every",
            "1h",
            "--name",
            "c",
        ])
        .await
        .ok();
    suite.ctl(&["cron", "run", "c"]).await.ok();
    until("the command", || suite.written("ran").is_some()).await;
    processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
    let run = last_run(&suite, 0).await;
    assert_eq!(run["state"], "ran", "{run}");
    assert_eq!(run["summary"], "x", "{run}");
}

#[tokio::test]
async fn reminder_says_its_text_without_a_model() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_millis(700);
    suite
        .ctl(&[
            "cron",
            "add",
            "call Ada",
            "--remind",
            "--at",
            &soon.to_string(),
        ])
        .await
        .ok();
    let run = last_run(&suite, 0).await;
    assert_eq!(run["state"], "delivered", "{run}");
    let late = run["startedMs"].as_i64().unwrap() - run["plannedMs"].as_i64().unwrap();
    assert!((0..1000).contains(&late), "{run}");
    assert_eq!(model.requests().len(), 0);
    assert!(
        suite
            .messages()
            .iter()
            .any(|it| it.to_string().contains("call Ada"))
    );
}

/// A request: its head and its body.
type Heard = (String, Value);

/// A receiver of webhooks, which refuses the first request.
async fn receiver() -> (String, mpsc::UnboundedReceiver<Heard>) {
    let (told, heard) = mpsc::unbounded_channel();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut is_first = true;
        while let Ok((mut stream, _)) = listener.accept().await {
            let request = read(&mut stream).await;
            let answer = if is_first { "503 Busy" } else { "204 Taken" };
            let answer =
                format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
            if !std::mem::replace(&mut is_first, false) {
                told.send(request).unwrap();
            }
        }
    });
    (url, heard)
}

async fn read(stream: &mut TcpStream) -> Heard {
    let mut bytes = Vec::new();
    loop {
        assert!(
            stream.read_buf(&mut bytes).await.unwrap() > 0,
            "it was cut off"
        );
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str(body)
        {
            return (head.to_lowercase(), body);
        }
    }
}

#[tokio::test]
async fn webhook_is_told_once_where_it_may_be() {
    let model = Server::start().await.unwrap();
    let (url, mut heard) = receiver().await;
    let suite = Setup::anthropic(&model)
        .set("cron.webhookToken", "whisper")
        .start()
        .await;
    let add = |name: &'static str| {
        let job = ["--command", "echo hi", "--every", "1h", "--name", name];
        ["cron", "add", "--webhook", &url]
            .into_iter()
            .chain(job)
            .collect::<Vec<_>>()
    };
    let allow = async |hosts: &str| {
        let key = "cron.webhookSsrfPolicy.allowedHostnames";
        suite.ctl(&["config", "set", key, hosts]).await.ok();
    };
    let refused = suite.ctl(&add("w")).await;
    assert_ne!(refused.code, 0, "{refused}");
    refused.complains(&[
        "/delivery/to: ",
        "127.0.0.1",
        "cron.webhookSsrfPolicy.allowedHostnames",
    ]);

    allow("[\"127.0.0.1\"]").await;
    // Until the agent-runner has heard of it.
    while suite.ctl(&add("w")).await.code != 0 {}
    allow("[]").await;
    while suite.ctl(&add("other")).await.code == 0 {}
    // A job may be older than what is said of its receiver.
    suite.ctl(&["cron", "run", "w"]).await.ok();
    let refused = last_run(&suite, 0).await;
    let reason = refused["reason"].as_str().unwrap();
    assert_eq!(refused["state"], "ran", "{refused}");
    assert!(reason.contains("allowedHostnames"), "{reason}");
    heard.try_recv().unwrap_err();

    allow("[\"127.0.0.1\"]").await;
    // Until the agent-runner has heard of it.
    let mut taken = refused;
    for before in 1.. {
        suite.ctl(&["cron", "run", "w"]).await.ok();
        taken = last_run(&suite, before).await;
        if !taken["reason"]
            .as_str()
            .unwrap()
            .contains("allowedHostnames")
        {
            break;
        }
    }
    assert_eq!(taken["state"], "delivered", "{taken}");
    let (head, body) = heard.recv().await.unwrap();
    assert_eq!(body["summary"], "hi", "{body}");
    assert_eq!(body["status"], "ok", "{body}");
    assert!(head.contains("authorization: bearer whisper"), "{head}");
    assert!(head.contains("idempotency-key: cron:"), "{head}");
    heard.try_recv().unwrap_err();
}

#[tokio::test]
async fn failures_are_told_after_so_many() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite
        .ctl(&[
            "cron",
            "add",
            "--command",
            "exit 1",
            "--every",
            "1h",
            "--name",
            "f",
            "--alert-after",
            "3",
        ])
        .await
        .ok();
    suite.say("hello").await;
    for before in 0..3 {
        let told = suite.messages();
        assert!(!format!("{told:?}").contains("failed"), "{told:?}");
        suite.ctl(&["cron", "run", "f"]).await.ok();
        last_run(&suite, before).await;
    }
    while !format!("{:?}", suite.messages()).contains("failed 3 times in a row") {}
}

#[tokio::test]
async fn agent_makes_jobs_that_are_its_own_and_go_at_once() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .start()
        .await;
    let job = json!({"action": "add", "job": {
        "schedule": {"kind": "every", "everyMs": 3_600_000},
        "payload": {"kind": "agentTurn", "message": "look at the mail"},
    }});
    model.push(Scenario::tool("cron", job).then(Scenario::text("Done.")));
    let run = suite.ask("look at my mail each hour").await;
    assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
    let remind = json!({"text": "call Ada", "when": "in 2 hours"});
    model.push(Scenario::tool("remind", remind).then(Scenario::text("I will.")));
    suite.ask("remind me to call Ada in two hours").await;
    suite
        .ctl(&["cron", "add", "mine", "--every", "1h"])
        .await
        .ok();
    let made = jobs(&suite).await;
    assert_eq!(made.len(), 3, "{made:?}");
    let of_agent = made.iter().filter(|job| job["madeBy"]["agentId"] == "main");
    assert_eq!(of_agent.count(), 2, "{made:?}");
    let listed = suite.ctl(&["cron", "list"]).await.ok();
    assert!(
        listed.contains("agent main") && listed.contains("you"),
        "{listed}"
    );

    // It sees its own, and not the user's.
    let mine = made.iter().find(|job| job["name"] == "mine").unwrap();
    let remove = json!({"action": "remove", "jobId": mine["id"]});
    model.push(Scenario::tool("cron", remove).then(Scenario::text("No.")));
    let run = suite.ask("remove all jobs").await;
    assert_eq!(run["toolCalls"][0]["success"], false, "{run}");
    let command = json!({"action": "add", "job": {
        "schedule": {"kind": "every", "everyMs": 3_600_000},
        "payload": {"kind": "command", "argv": ["true"]},
    }});
    model.push(Scenario::tool("cron", command).then(Scenario::text("No.")));
    let run = suite.ask("run a command").await;
    assert_eq!(run["toolCalls"][0]["success"], false, "{run}");

    let removed = suite.ctl(&["cron", "remove", "--agent-made"]).await.ok();
    assert_eq!(removed, "removed 2 jobs that agents made\n");
    assert_eq!(jobs(&suite).await.len(), 1);
}

/// A job's turn makes and starts none, in a session of people's neither: they would beget
/// without end.
#[tokio::test]
async fn run_of_a_job_in_the_main_session_makes_and_starts_no_jobs() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .start()
        .await;
    let again = json!({"action": "add", "job": {
        "schedule": {"kind": "every", "everyMs": 3_600_000},
        "payload": {"kind": "agentTurn", "message": "and again"},
    }});
    for (tool, arguments) in [
        ("remind", json!({"text": "water", "when": "in 2 hours"})),
        ("cron", again),
    ] {
        model.push(Scenario::tool(tool, arguments).then(Scenario::text("Well.")));
        let before = model.turns().len();
        let words = [
            "cron",
            "add",
            "look around",
            "--session",
            "main",
            "--at",
            "1s",
        ];
        suite.ctl(&words).await.ok();
        until("the run has answered", || model.turns().len() >= before + 2).await;
        let told = asked::words(model.turns().last().unwrap());
        assert!(told.contains("a run of a job may not make jobs"), "{told}");
    }
    let of_agent = jobs(&suite).await;
    assert!(
        of_agent.iter().all(|job| job["madeBy"].is_null()),
        "{of_agent:?}"
    );
}

/// What is refused is refused before anybody is asked about it.
#[tokio::test]
async fn agent_hears_at_once_that_nobody_would_be_told() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let mut job = json!({"action": "add", "job": {
        "schedule": {"kind": "every", "everyMs": 3_600_000}, "sessionTarget": "isolated",
        "payload": {"kind": "agentTurn", "message": "look at the mail"},
    }});
    let place = json!({"channel": "telegram", "to": "5"});
    job["job"]["delivery"] = place.clone();
    job["job"]["delivery"]["mode"] = json!("announce");
    let mut failing = job.clone();
    failing["job"]["delivery"] = json!({"mode": "none"});
    failing["job"]["failureAlert"] = place;
    let remind = json!({"text": "call Ada", "when": "in 2 hours", "who": "telegram:5"});
    for (tool, arguments) in [("cron", job), ("cron", failing), ("remind", remind)] {
        model.push(Scenario::tool(tool, arguments).then(Scenario::text("No.")));
        let run = suite.ask("look at my mail each hour").await;
        assert_eq!(run["toolCalls"][0]["success"], false, "{run}");
        let told = asked::words(&model.turns().pop().unwrap());
        assert!(
            told.contains("channels.telegram is not configured"),
            "{told}"
        );
    }
    assert_eq!(jobs(&suite).await.len(), 0);
}

/// Others hear a group's session: it knows of the jobs that were made in it.
#[tokio::test]
async fn agent_in_a_group_sees_no_jobs_of_other_conversations() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .start()
        .await;
    let remind = json!({"text": "the safe opens with walrus-47", "when": "in 2 hours"});
    model.push(Scenario::tool("remind", remind).then(Scenario::text("I will.")));
    suite.ask("remind me").await;
    let own = json!({"text": "feed the heron", "when": "in 2 hours"});
    let group = "agent:main:telegram:group:-9";
    model.push(Scenario::tool("remind", own).then(Scenario::text("I will.")));
    suite
        .ctl(&["message", "--session", group, "remind us"])
        .await
        .ok();
    let made = jobs(&suite).await;
    assert_eq!(made.len(), 2, "{made:?}");
    let private = made
        .iter()
        .find(|it| it["name"] != "feed the heron")
        .unwrap();
    for (arguments, is_shown) in [
        (json!({"action": "list"}), true),
        (json!({"action": "get", "jobId": private["id"]}), false),
        (json!({"action": "runs", "jobId": private["id"]}), false),
        (json!({"action": "remove", "jobId": private["id"]}), false),
    ] {
        model.push(Scenario::tool("cron", arguments).then(Scenario::text("Well.")));
        suite
            .ctl(&["message", "--session", group, "which jobs are there?"])
            .await
            .ok();
        let turn = model.turns().pop().unwrap();
        let messages = turn.json()["messages"].as_array().cloned().unwrap();
        let told = messages.last().unwrap().to_string();
        assert!(!told.contains("walrus"), "{told}");
        assert_eq!(told.contains("feed the heron"), is_shown, "{told}");
    }
    assert_eq!(jobs(&suite).await.len(), 2);
}

#[tokio::test]
async fn agent_is_not_let_act_later_unless_somebody_allows_it() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let job = json!({"action": "add", "job": {
        "schedule": {"kind": "every", "everyMs": 3_600_000},
        "payload": {"kind": "agentTurn", "message": "look at the mail"},
    }});
    for (decision, count) in [("deny", 0), ("allow", 1)] {
        model.push(Scenario::tool("cron", job.clone()).then(Scenario::text("Well.")));
        let mut talk = suite.begin(&["message", "--json", "look at my mail each hour"]);
        talk.hear("\"approval_requested\"").await;
        let waiting = suite.ctl(&["approvals", "list", "--json"]).await.document();
        let waiting = &waiting["waiting"][0];
        assert!(
            waiting["reason"].as_str().unwrap().contains("later"),
            "{waiting}"
        );
        let id = waiting["id"].as_str().unwrap();
        suite.ctl(&["approvals", decision, id]).await.ok();
        talk.end().await;
        assert_eq!(jobs(&suite).await.len(), count);
    }
    // A reminder to the user does nothing by itself.
    let remind = json!({"text": "call Ada", "when": "tomorrow 9:00"});
    model.push(Scenario::tool("remind", remind).then(Scenario::text("I will.")));
    let run = suite.ask("remind me").await;
    assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
    assert_eq!(jobs(&suite).await.len(), 2);
}

/// What is told to a session whose turn it is not acts later, as a job does.
#[tokio::test]
async fn agent_wakes_no_other_session_unless_somebody_allows_it() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    suite.say("hello").await;
    let group = "agent:main:telegram:group:-9";
    let wake = |key: &str| {
        json!({"action": "wake", "text": "open walrus-47", "mode": "next-heartbeat",
            "sessionKey": key})
    };
    // Its own.
    model.push(Scenario::tool("cron", wake(group)).then(Scenario::text("Well.")));
    suite
        .ctl(&["message", "--session", group, "wake yourself"])
        .await
        .ok();
    let turn = model.turns().pop().unwrap();
    let messages = turn.json()["messages"].as_array().cloned().unwrap();
    let told = messages.last().unwrap().to_string();
    assert!(told.contains("ok"), "{told}");
    // The user's, from a group: nobody is asked.
    model.push(Scenario::tool("cron", wake("agent:main:main")).then(Scenario::text("Well.")));
    suite
        .ctl(&["message", "--session", group, "wake the other one"])
        .await
        .ok();
    let turn = model.turns().pop().unwrap();
    let messages = turn.json()["messages"].as_array().cloned().unwrap();
    let told = messages.last().unwrap().to_string();
    assert!(told.contains("not the owner's own"), "{told}");
    suite.say("what is new?").await;
    let turn = model.turns().pop().unwrap();
    assert!(!turn.json().to_string().contains("walrus"), "{turn:?}");
    // Another one, from the user's.
    model.push(Scenario::tool("cron", wake("agent:main:work")).then(Scenario::text("Well.")));
    let mut talk = suite.begin(&["message", "--json", "wake the other one"]);
    talk.hear("\"approval_requested\"").await;
    let waiting = suite.ctl(&["approvals", "list", "--json"]).await.document();
    let waiting = &waiting["waiting"][0];
    let reason = waiting["reason"].as_str().unwrap();
    assert!(reason.contains("agent:main:work"), "{waiting}");
    let id = waiting["id"].as_str().unwrap();
    suite.ctl(&["approvals", "deny", id]).await.ok();
    talk.end().await;
    suite
        .ctl(&["message", "--session", "work", "what is new?"])
        .await
        .ok();
    let turn = model.turns().pop().unwrap();
    assert!(!turn.json().to_string().contains("walrus"), "{turn:?}");
}

/// How often an agent may make jobs does not depend on how long the gateway has run.
#[tokio::test]
async fn agent_makes_no_more_jobs_in_an_hour_after_the_gateway_was_killed() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let remind = json!({"text": "call Ada", "when": "in 2 hours"});
    for number in 0..22 {
        if number == 19 {
            processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
        }
        model.push(Scenario::tool("remind", remind.clone()).then(Scenario::text("Well.")));
        let run = suite.ask("remind me").await;
        assert_eq!(
            run["toolCalls"][0]["success"],
            number < 20,
            "{number}: {run}"
        );
        if number == 20 {
            // What is gone has been made all the same.
            suite.ctl(&["cron", "remove", "--agent-made"]).await.ok();
        }
    }
    assert_eq!(jobs(&suite).await.len(), 0);
}

/// The processor time that a process has used, in ticks of a hundredth of a second.
fn ticks(pid: Pid) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// What a gateway costs that was started anew and has nothing to do: KiB that it has to
/// itself, and ticks in spans of three seconds, of which the last is what it goes on with:
/// what it does to start is over some spans later, on a busy machine.
async fn cost_of_a_new_gateway(suite: &Suite) -> (u64, Vec<u64>) {
    processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
    // Not by what lists jobs: what it read for that stays for a while.
    suite.ctl(&["sessions"]).await.ok();
    let gateway = suite.daemon("openclaw-gateway");
    let mut spans = Vec::new();
    while spans.len() < 5 && spans.last().is_none_or(|ticks| *ticks > 1) {
        let begun = ticks(gateway);
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        spans.push(ticks(gateway) - begun);
    }
    let memory = processes::memory(gateway, "Private_Dirty").unwrap();
    (memory, spans)
}

#[tokio::test]
async fn thousand_jobs_cost_nothing_while_none_is_due() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    // The one that added them keeps more than the jobs: each is seen at one that did not.
    let (before, _) = cost_of_a_new_gateway(&suite).await;
    let mut socket = integration_tests::Socket::enter(&suite).await;
    for number in 0..1000 {
        let job = json!({
            "name": format!("n{number}"), "schedule": {"kind": "cron", "expr": "0 9 1 1 *"},
            "sessionTarget": "isolated", "wakeMode": "now",
            "payload": {"kind": "agentTurn", "message": "look"},
        });
        socket.call("cron.add", job).await;
    }
    let full = json!({
        "name": "x", "schedule": {"kind": "every", "everyMs": 1000}, "sessionTarget": "main",
        "wakeMode": "now", "payload": {"kind": "systemEvent", "text": "x"},
    });
    let refused = socket.fail("cron.add", full).await;
    assert!(refused.to_string().contains("1000 jobs"), "{refused}");
    let (after, spans) = cost_of_a_new_gateway(&suite).await;
    eprintln!(
        "1,000 jobs: {before} KiB before, {after} KiB after; ticks in spans of 3 s: {spans:?}"
    );
    assert!(
        spans.last() <= Some(&1),
        "{spans:?} ticks while nothing is due"
    );
    assert!(
        after.saturating_sub(before) < 1024,
        "{before} to {after} KiB"
    );
    asked::turns(&model, 0).await;
}
