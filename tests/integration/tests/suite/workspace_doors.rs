//! Level workspace, at which a turn has the machine's own network: what it connects to there.

use integration_tests::{Setup, Suite};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

const LEVEL: (&str, &str) = ("sandbox.level", "workspace");

/// Tries the port of the turn's proxy at every address of the loopback, by Node's own sockets.
const CONNECT: &str = r#"
    const { connect } = require("node:net");
    const port = new URL(process.env.HTTPS_PROXY).port;
    const tried = (host) => new Promise((done) => {
        const socket = connect({ port, host, family: host.includes(":") ? 6 : 4 });
        socket.on("connect", () => done(`${host} reached`));
        socket.on("error", (error) => done(`${host} ${error.code}`));
    });
    (async () => {
        for (const host of ["127.0.0.1", "127.0.0.2", "0.0.0.0", "::1"]) console.log(await tried(host));
        process.exit(0);
    })();
"#;

async fn status(suite: &Suite) -> Value {
    let status = suite.ctl(&["status", "--json"]).await.document();
    status["runner"].clone()
}

/// Nothing is said of addresses beside the door, which the machine judges.
async fn is_held_to_doors(suite: &Suite) {
    let status = status(suite).await;
    assert_eq!(status["sandboxLevel"], "workspace", "{status}");
    assert!(!status.to_string().contains("every address"), "{status}");
    let confinements = status["confinements"].as_array().unwrap();
    let doors = confinements
        .iter()
        .find(|it| it["name"] == "door_addresses");
    assert_eq!(doors.unwrap()["state"], "enforced", "{status}");
}

#[tokio::test]
async fn claude_reaches_its_model_at_level_workspace() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = setup.set(LEVEL.0, LEVEL.1).start().await;
    model.push(Scenario::text("From the other side of the door."));
    let said = suite.ctl(&["message", "hello"]).await.ok();
    assert_eq!(said, "From the other side of the door.\n");
    is_held_to_doors(&suite).await;
}

/// It hides its memory first of all, and is a static binary.
#[tokio::test]
async fn codex_reaches_its_model_at_level_workspace() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::codex(&model) else {
        return;
    };
    let suite = setup.set(LEVEL.0, LEVEL.1).start().await;
    model.push(Scenario::text("From the other side of the door."));
    let said = suite.ctl(&["message", "hello"]).await.ok();
    assert_eq!(said, "From the other side of the door.\n");
    is_held_to_doors(&suite).await;
}

#[tokio::test]
async fn agent_with_listed_hosts_reaches_its_proxy_and_nothing_beside_it() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set(LEVEL.0, LEVEL.1)
        .set("sandbox.network", "allowlist")
        .set("sandbox.hosts", json!(["example.org"]))
        .set("tools.exec.ask", "off")
        .start()
        .await;
    std::fs::create_dir_all(suite.workspace()).unwrap();
    std::fs::write(suite.workspace().join("connect.js"), CONNECT).unwrap();
    let command = json!({"command": "node connect.js > found 2>&1"});
    model.push(Scenario::tool("execute_shell", command).then(Scenario::text("Tried.")));
    let run = suite.ask("try").await;
    assert_eq!(run["toolCalls"][0]["success"], true, "{run}");
    let found = suite.written("found").unwrap();
    assert_eq!(
        found.as_str(),
        "127.0.0.1 reached\n127.0.0.2 EACCES\n0.0.0.0 EACCES\n::1 EACCES\n"
    );
    is_held_to_doors(&suite).await;
}
