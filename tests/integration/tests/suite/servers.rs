//! Servers of tools (MCP) from the configuration.

use integration_tests::{Setup, Suite, asked};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

/// A server in the words of the protocol and nothing else, so that nothing but
/// Python is needed.
const SERVER: &str = r#"
import base64, json, os, socket, sys, urllib.parse
TOOLS = [
    {"name": "echo", "description": "Say it again", "inputSchema": {
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "look", "description": "Read a file", "inputSchema": {
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
     "annotations": {"readOnlyHint": True}},
    {"name": "put", "description": "Write a file", "inputSchema": {
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}},
    {"name": "surroundings", "inputSchema": {"type": "object"}},
    {"name": "reach", "inputSchema": {"type": "object", "properties": {
        "host": {"type": "string"}, "port": {"type": "integer"}, "directly": {"type": "boolean"}}}},
    {"name": "die", "inputSchema": {"type": "object"}},
]
def call(name, arguments):
    if name == "echo": return "it says " + arguments["text"]
    if name == "look": return open(arguments["path"]).read()
    if name == "put":
        open(arguments["path"], "w").write("put")
        return "written"
    if name == "surroundings": return json.dumps({"env": dict(os.environ), "cwd": os.getcwd()})
    if name == "reach": return reach(**arguments)
    os._exit(3)
def reach(host, port, directly):
    if directly: return socket.create_connection((host, port), 5).recv(100).decode()
    proxy = urllib.parse.urlsplit(os.environ["https_proxy"])
    tunnel = socket.create_connection((proxy.hostname, proxy.port), 5)
    word = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    tunnel.sendall(f"CONNECT {name} HTTP/1.1\r\nHost: {name}\r\n"
        f"Proxy-Authorization: Basic {word}\r\n\r\n".encode())
    said = ""
    while piece := tunnel.recv(1000).decode():
        said += piece
        if "hello from" in said or not said.startswith("HTTP/1.1 200"): break
    return said
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
async fn servers_tools_are_further_tools() {
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
async fn servers_is_confined_to_its_own_folder() {
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
async fn servers_one_that_fails_is_told_and_takes_only_its_tools_away() {
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
async fn servers_one_that_dies_fails_the_call_and_not_the_turn() {
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
async fn policy_holds_for_its_tools() {
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
    assert_eq!(
        own,
        [
            "test__echo",
            "test__look",
            "test__surroundings",
            "test__reach"
        ]
    );
}

#[tokio::test]
async fn servers_where_somebody_is_asked_that_goes_for_its_tools_too() {
    let model = Server::start().await.unwrap();
    let program = Program::new();
    let script = program.0.path().join("server.py");
    let setup = Setup::anthropic(&model)
        .set("mcp.servers.test", program.entry())
        .asks_nobody("on-miss");
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
async fn claude_cli_has_them_too() {
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

/// Says hello to whoever connects, on every address of the machine.
async fn greeter() -> u16 {
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"hello from the machine").await;
        }
    });
    port
}

/// An address of this machine that is no loopback, if it has one.
fn address() -> Option<String> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    // No packet is sent: the kernel only looks the route up.
    socket.connect("192.0.2.1:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback()).then(|| address.to_string())
}

#[tokio::test]
async fn servers_has_no_network_unless_the_configuration_says_so() {
    let model = Server::start().await.unwrap();
    let program = Program::new();
    let port = greeter().await;
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .set("mcp.servers.test", program.entry())
        .start()
        .await;
    let address = address();
    let targets = ["127.0.0.1", "localhost", "::1", "169.254.169.254"];
    let targets = targets.into_iter().chain(address.as_deref());
    let calls: Vec<(&str, Value)> = targets
        .flat_map(|host| {
            let to = |directly| json!({"host": host, "port": port, "directly": directly});
            [("test__reach", to(true)), ("test__reach", to(false))]
        })
        .collect();
    for call in run(&suite, &model, &calls).await {
        assert_eq!(call["success"], false, "{call}");
    }
}

#[tokio::test]
async fn servers_with_a_network_it_does_not_reach_this_machine() {
    let model = Server::start().await.unwrap();
    let program = Program::new();
    let port = greeter().await;
    let mut entry = program.entry();
    entry["network"] = "full".into();
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .set("mcp.servers.test", entry)
        .start()
        .await;
    let to = |host: &str, directly| {
        let arguments = json!({"host": host, "port": port, "directly": directly});
        ("test__reach", arguments)
    };
    let refused = [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0.0.0.0",
        "::1",
        "::ffff:127.0.0.1",
        "169.254.169.254",
    ];
    let calls: Vec<_> = refused.iter().map(|host| to(host, false)).collect();
    for call in run(&suite, &model, &calls).await {
        assert!(output(&call).starts_with("HTTP/1.1 403"), "{call}");
    }
    let Some(address) = address() else {
        return;
    };
    let calls = [
        to(&address, false),
        to(&address, true),
        to("127.0.0.1", true),
    ];
    let calls = run(&suite, &model, &calls).await;
    // Nor at the address of an interface.
    assert!(
        output(&calls[0]).starts_with("HTTP/1.1 403"),
        "{}",
        calls[0]
    );
    for call in &calls[1..] {
        assert_eq!(call["success"], false, "around the proxy: {call}");
    }
}
