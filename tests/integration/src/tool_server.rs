//! Servers of tools (MCP) for tests: one in the words of the protocol that does
//! what it is told, and real ones.

use std::path::PathBuf;

use serde_json::{Value, json};

/// Names the folder with the real ones, or is `skip`.
const VARIABLE: &str = "OPENCLAW_TEST_MCP";
/// Where tests/run installs them, beneath the workspace's root.
const INSTALLED: &str = "target/mcp-servers";

/// Nothing but Python is needed. Its one argument is JSON: what it does.
const SCRIPT: &str = r#"
import json, os, sys, time
HOW = json.loads(sys.argv[1])
STARTED = f"{time.time()}-{os.getpid()}"
COUNT = 0
names = ["count", "image", "large", "die", "more"] + [f"t{n}" for n in range(HOW.get("tools", 0))]
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def call(name, arguments):
    global COUNT
    if name == "die":
        print("I have had enough", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "large": return [{"type": "text", "text": "first" + arguments["of"] * arguments["times"] + "last"}]
    if name == "image": return [{"type": "text", "text": "look"}, {"type": "image", "mimeType": "image/png", "data": HOW["image"]}]
    if name == "more":
        names.append("newcomer")
        say({"method": "notifications/tools/list_changed"})
        return [{"type": "text", "text": "there are more"}]
    COUNT += 1
    return [{"type": "text", "text": f"{COUNT} {STARTED}"}]
if HOW.get("hang"): time.sleep(3600)
if "gate" in HOW:
    while not os.path.exists(HOW["gate"]): time.sleep(0.02)
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if "id" not in message: continue
    result = {}
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {"listChanged": True}},
                  "serverInfo": {"name": "test", "version": "1"}, "instructions": HOW.get("instructions", "")}
    elif method == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    elif method == "tools/call":
        result = {"content": call(message["params"]["name"], message["params"].get("arguments", {}))}
    say({"id": message["id"], "result": result})
"#;

/// The server's program, in a folder that is nobody's home.
#[derive(Debug)]
pub struct ToolServer(tempfile::TempDir);

impl Default for ToolServer {
    fn default() -> Self {
        let folder = tempfile::tempdir_in("/tmp").expect("make a folder");
        std::fs::write(folder.path().join("server.py"), SCRIPT).expect("write the script");
        Self(folder)
    }
}

impl ToolServer {
    /// As the configuration has it, when it is to do this.
    pub fn entry(&self, how: &Value) -> Value {
        let script = self.0.path().join("server.py");
        json!({"command": "python3", "args": [script, how.to_string()]})
    }

    /// A file at which one waits to answer (`gate`): it sees its folder.
    pub fn gate(&self) -> PathBuf {
        self.0.path().join("gate")
    }

    /// As the configuration has one that waits for that file.
    pub fn gated(&self) -> Value {
        let mut entry = self.entry(&json!({"gate": self.gate()}));
        entry["paths"] = json!({"ro": [self.0.path()]});
        entry
    }
}

/// The real ones as the configuration has them: `mcp-server-time` for Python and
/// `server-everything` for Node; `None` where the tests were told to do without.
pub fn real() -> Option<[Value; 2]> {
    let folder = match std::env::var(VARIABLE) {
        Ok(skip) if skip == "skip" => return None,
        Ok(folder) => PathBuf::from(folder),
        Err(_) => {
            let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
            root.join(INSTALLED)
        }
    };
    let folder = folder.canonicalize().unwrap_or(folder);
    let python = folder.join("python/bin/python");
    assert!(
        python.exists(),
        "no MCP servers at {}: run tests/run, or set {VARIABLE}=skip",
        folder.display()
    );
    let everything = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    // Their files are then in memory: a first start from a disk that others use
    // takes longer than a message waits.
    let script = folder.join("python/bin/mcp-server-time");
    let first = std::process::Command::new(&script).arg("--help").output();
    assert!(first.expect("start it").status.success());
    let paths = json!({"ro": [folder.join("node_modules")]});
    Some([
        json!({"command": script}),
        json!({"command": "node", "args": [folder.join(everything), "stdio"], "paths": paths}),
    ])
}
