//! Servers of tools (MCP) from the configuration.

use integration_tests::{Setup, Suite, asked};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// A server in the words of the protocol and nothing else, so that nothing but
/// Python is needed.
const SERVER: &str = r#"
import json, os, sys
TOOLS = [
    {"name": "echo", "description": "Say it again", "inputSchema": {
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "look", "description": "Read a file", "inputSchema": {
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
     "annotations": {"readOnlyHint": True}},
    {"name": "put", "description": "Write a file", "inputSchema": {
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}},
    {"name": "surroundings", "inputSchema": {"type": "object"}},
    {"name": "die", "inputSchema": {"type": "object"}},
]
def call(name, arguments):
    if name == "echo": return "it says " + arguments["text"]
    if name == "look": return open(arguments["path"]).read()
    if name == "put":
        open(arguments["path"], "w").write("put")
        return "written"
    if name == "surroundings": return json.dumps({"env": dict(os.environ), "cwd": os.getcwd()})
    os._exit(3)
for line in sys.stdin:
    message = json.loads(line)
    method, answer = message.get("method"), None
    if "id" not in message: continue
    if method == "initialize":
        answer = {"protocolVersion": message["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "test", "version": "1"}}
    elif method == "tools/list": answer = {"tools": TOOLS}
    elif method == "tools/call":
        try:
            text, failed = call(message["params"]["name"], message["params"]["arguments"]), False
        except Exception as error:
            text, failed = str(error), True
        answer = {"content": [{"type": "text", "text": text}], "isError": failed}
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if answer is None: reply["error"] = {"code": -32601, "message": "no such method"}
    else: reply["result"] = answer
    print(json.dumps(reply), flush=True)
"#;

/// The server's program, in a folder that is nobody's home.
struct Program(tempfile::TempDir);

impl Program {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        std::fs::write(folder.path().join("server.py"), SERVER).unwrap();
        Self(folder)
    }

    /// As the configuration has it.
    fn entry(&self) -> Value {
        let script = self.0.path().join("server.py").display().to_string();
        json!({"command": "python3", "args": [script], "env": {"SECRET_WORD": "xylophone"}})
    }
}

async fn run(suite: &Suite, model: &Server, calls: &[(&str, Value)]) -> Vec<Value> {
    let last = Scenario::text("Done.");
    let chain = calls.iter().rev().fold(last, |next, (name, arguments)| {
        Scenario::tool(*name, arguments.clone()).then(next)
    });
    model.push(chain);
    let run = suite.ask("go on").await;
    assert_eq!(run["status"], "done", "{run}");
    run["toolCalls"].as_array().cloned().unwrap_or_default()
}

fn output(call: &Value) -> &str {
    call["output"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn its_tools_are_further_tools() {
    let model = Server::start().await.unwrap();
    let program = Program::new();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .set("mcp.servers.test", program.entry())
        .start()
        .await;
    let calls = run(
        &suite,
        &model,
        &[
            ("test__echo", json!({"text": "hello"})),
            ("test__echo", json!({"words": "hello"})),
            ("test__look", json!({"path": "/nonexistent"})),
            ("test__surroundings", json!({})),
        ],
    )
    .await;
    assert_eq!(calls[0]["success"], true, "{}", calls[0]);
    assert_eq!(output(&calls[0]), "it says hello");
    assert_eq!(calls[1]["success"], false, "checked: {}", calls[1]);
    assert_eq!(calls[2]["success"], false, "{}", calls[2]);
    assert!(
        calls[2].to_string().contains("No such file"),
        "{}",
        calls[2]
    );
    let around: Value = serde_json::from_str(output(&calls[3])).unwrap();
    assert_eq!(around["env"]["SECRET_WORD"], "xylophone", "{around}");
    assert_eq!(around["env"].get("ANTHROPIC_API_KEY"), None, "{around}");
    let tools = asked::tools(&asked::turns(&model, 1).await[0]);
    for tool in ["read_file", "test__echo", "test__surroundings"] {
        assert!(
            tools.iter().any(|it| it == tool),
            "no {tool} among {tools:?}"
        );
    }
}

#[tokio::test]
async fn it_is_confined_to_its_own_folder() {
    let model = Server::start().await.unwrap();
    let program = Program::new();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .set("mcp.servers.test", program.entry())
        .note("MEMORY.md", "private\n")
        .start()
        .await;
    let inside = |name: &str| suite.workspace().join(name).display().to_string();
    let configuration = suite.configuration().display().to_string();
    let calls = run(
        &suite,
        &model,
        &[
            ("test__look", json!({"path": inside("MEMORY.md")})),
            ("test__look", json!({"path": configuration})),
            ("test__put", json!({"path": inside("x")})),
            ("test__put", json!({"path": "own.txt"})),
            ("test__look", json!({"path": "own.txt"})),
        ],
    )
    .await;
    for call in &calls[..3] {
        assert_eq!(call["success"], false, "{call}");
    }
    assert_eq!(suite.written("x"), None);
    assert_eq!(output(&calls[3]), "written", "{}", calls[3]);
    assert_eq!(output(&calls[4]), "put", "{}", calls[4]);
}

#[tokio::test]
async fn one_that_fails_is_told_and_takes_only_its_tools_away() {
    let model = Server::start().await.unwrap();
    let program = Program::new();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .set("mcp.servers.good", program.entry())
        .set("mcp.servers.absent.command", "no-such-program")
        .set("mcp.servers.broken.command", "sh")
        .set(
            "mcp.servers.broken.args",
            json!(["-c", "echo out of order >&2; exit 7"]),
        )
        .start()
        .await;
    model.push(Scenario::tool("good__echo", json!({"text": "hello"})));
    let said = suite.ctl(&["message", "--json", "go on"]).await.ok();
    assert!(said.contains("it says hello"), "{said}");
    assert!(said.contains("the MCP server absent cannot be used: there is no program"));
    assert!(
        said.contains("the MCP server broken cannot be used") && said.contains("out of order"),
        "{said}"
    );
}

#[tokio::test]
async fn one_that_dies_fails_the_call_and_not_the_turn() {
    let model = Server::start().await.unwrap();
    let program = Program::new();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .set("mcp.servers.test", program.entry())
        .start()
        .await;
    let calls = [
        ("test__die", json!({})),
        ("test__echo", json!({"text": "x"})),
    ];
    for call in run(&suite, &model, &calls).await {
        assert_eq!(call["success"], false, "{call}");
    }
    let calls = run(&suite, &model, &calls[1..]).await;
    assert_eq!(output(&calls[0]), "it says x", "the next turn has it again");
}

#[tokio::test]
async fn the_policy_holds_for_its_tools() {
    let model = Server::start().await.unwrap();
    let program = Program::new();
    let suite = Setup::anthropic(&model)
        .set("mcp.servers.test", program.entry())
        .set("tools.deny", json!(["test__d*", "test__put", "group:fs"]))
        .start()
        .await;
    let calls = run(&suite, &model, &[("test__die", json!({}))]).await;
    assert_eq!(calls[0]["success"], false, "{}", calls[0]);
    let tools = asked::tools(&asked::turns(&model, 1).await[0]);
    let own: Vec<&String> = tools
        .iter()
        .filter(|name| name.starts_with("test__"))
        .collect();
    assert_eq!(own, ["test__echo", "test__look", "test__surroundings"]);
}

#[tokio::test]
async fn where_somebody_is_asked_that_goes_for_its_tools_too() {
    let model = Server::start().await.unwrap();
    let program = Program::new();
    let script = program.0.path().join("server.py");
    let setup = Setup::anthropic(&model)
        .set("mcp.servers.test", program.entry())
        .set("tools.exec.ask", "on-miss")
        .set("tools.exec.approvalTimeoutSec", 1);
    let look = json!({"path": script.display().to_string()});
    let suite = setup.start().await;
    let calls = run(&suite, &model, &[("test__look", look.clone())]).await;
    let said = calls[0].to_string();
    assert!(
        said.contains("nobody allowed it"),
        "it was believed: {said}"
    );

    let suite = setup.set("mcp.servers.test.trusted", true).start().await;
    let put = json!({"path": "own.txt"});
    let calls = run(&suite, &model, &[("test__look", look), ("test__put", put)]).await;
    assert_eq!(calls[0]["success"], true, "it only reads: {}", calls[0]);
    assert_eq!(calls[1]["success"], false, "{}", calls[1]);
    assert!(
        calls[1].to_string().contains("nobody allowed it"),
        "{}",
        calls[1]
    );
}

#[tokio::test]
async fn the_claude_cli_has_them_too() {
    let model = Server::start().await.unwrap();
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let program = Program::new();
    let suite = setup.set("mcp.servers.test", program.entry()).start().await;
    let call = (
        "mcp__openclaw__test__echo",
        json!({"text": "hello from afar"}),
    );
    let calls = run(&suite, &model, &[call]).await;
    assert_eq!(calls[0]["success"], true, "{}", calls[0]);
    assert!(
        output(&calls[0]).contains("it says hello from afar"),
        "{}",
        calls[0]
    );
}
