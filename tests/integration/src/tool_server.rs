//! Servers of tools (MCP) for tests: one in the words of the protocol that does
//! what it is told, and real ones.

use std::path::PathBuf;

use serde_json::{Value, json};

/// Names the folder with the real ones, or is `skip`.
const VARIABLE: &str = "OPENCLAW_TEST_MCP";
/// Where tests/run installs them, beneath the workspace's root.
const INSTALLED: &str = "target/mcp-servers";

/// Nothing but Python is needed. Its one argument is JSON: what it does. Every
/// tool appends `put` to a file, waits `until` a file is there, and is `stuck`,
/// where its arguments say so; with `threads` the others are not, then.
const SCRIPT: &str = r#"
import json, os, sys, threading, time
HOW = json.loads(sys.argv[1])
STARTED = f"{time.time()}-{os.getpid()}"
COUNT = 0
LOCK = threading.Lock()
names = ["count", "image", "large", "die", "more", "values", "within", "refuse"] + [f"t{n}" for n in range(HOW.get("tools", 0))]
def say(message):
    with LOCK: print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def call(name, arguments):
    global COUNT
    if "put" in arguments:
        with open(os.path.join(HOW.get("into", "."), "put.txt"), "a") as file: file.write(arguments["put"] + "\n")
    while "until" in arguments and not os.path.exists(arguments["until"]): time.sleep(0.02)
    if arguments.get("stuck"): time.sleep(3600)
    if name == "die":
        print("I have had enough", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "values": return [{"type": "text", "text": "x", "_meta": {"a": [0] * 1_000_000}}]
    if name == "within":
        inner = []
        for _ in range(150): inner = [inner]
        return [{"type": "text", "text": "x", "_meta": {"a": inner}}]
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
        if "bulky" in HOW: result["tools"].insert(1, {"name": "bulky", "inputSchema": {"type": "object", "description": "x" * HOW["bulky"]}})
    elif method == "tools/call":
        def answer(message=message):
            if message["params"]["name"] == "refuse":
                return say({"id": message["id"], "error": {"code": -32000, "message": "I refuse" + "!" * 10_000_000}})
            try: result = {"content": call(message["params"]["name"], message["params"].get("arguments", {}))}
            except Exception as error: result = {"content": [{"type": "text", "text": str(error)}], "isError": True}
            say({"id": message["id"], "result": result})
        if HOW.get("threads"): threading.Thread(target=answer, daemon=True).start()
        else: answer()
        continue
    say({"id": message["id"], "result": result})
    if method == "tools/list": open("listed", "w").close()
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

    /// A place in the folder of the program, which those see that are granted it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// As [`ToolServer::entry`], and it sees the folder of its program.
    pub fn seeing(&self, how: &Value) -> Value {
        let mut entry = self.entry(how);
        entry["paths"] = json!({"ro": [self.0.path()]});
        entry
    }

    /// A file at which one waits to answer (`gate`): it sees its folder.
    pub fn gate(&self) -> PathBuf {
        self.path("gate")
    }

    /// As the configuration has one that waits for that file.
    pub fn gated(&self) -> Value {
        self.seeing(&json!({"gate": self.gate()}))
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
