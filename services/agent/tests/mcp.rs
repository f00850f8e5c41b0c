//! `openclaw-agent mcp` by hand: JSON-RPC lines over pipes.

#![cfg(test)]

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;
use serde_json::{Value, json};

/// For a command to start and to be ended.
const LIMIT: Duration = Duration::from_secs(20);

struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Server {
    fn start(workspace: &Path, tool_pipe: Option<&Path>) -> Self {
        let mut command = program(env!("CARGO_BIN_EXE_openclaw-agent"));
        command.arg("mcp").arg("--workspace").arg(workspace);
        if let Some(folder) = tool_pipe {
            command.arg("--tool-pipe").arg(folder);
        }
        Self::begin(command)
    }

    fn begin(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut server = Self {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            next_id: 1,
        };
        let hello = server.ask(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "openclaw");
        assert!(hello["result"]["capabilities"]["tools"].is_object());
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        (text, result["isError"] == true)
    }

    fn end(self) {
        drop(self.stdin);
        let mut child = self.child;
        assert!(child.wait().unwrap().success());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test runs the program itself"
)]
fn program(path: &str) -> Command {
    Command::new(path)
}

#[test]
fn built_in_tools_are_listed_and_work() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), None);
    let listed = server.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "read_file",
            "write_file",
            "edit",
            "apply_patch",
            "list_directory",
            "execute_shell",
            "process"
        ]
    );
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["path"]));
    let (text, failed) = server.call("write_file", json!({"path": "a/b", "content": "hi"}));
    assert!(!failed && text.starts_with("wrote 2 bytes"), "{text}");
    assert_eq!(
        server.call("read_file", json!({"path": "a/b"})),
        ("hi".to_owned(), false)
    );
    let (text, failed) = server.call("execute_shell", json!({"command": "cat a/b; false"}));
    assert_eq!(
        (text.as_str(), failed),
        (
            "exit code: 1\nstdout (2 bytes):\nhi\nstderr (0 bytes):\n",
            false
        )
    );
    server.end();
}

#[test]
fn failed_tool_is_a_result_that_names_tool_type_and_message() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), None);
    let (text, failed) = server.call("read_file", json!({"path": "missing"}));
    assert!(
        failed && text.starts_with("read_file failed (not_found): cannot read "),
        "{text}"
    );
    let (text, failed) = server.call("read_file", json!({"path": 7}));
    assert!(
        failed && text.contains("(invalid_arguments)") && text.contains("/path"),
        "{text}"
    );
    let (text, failed) = server.call("nothing", json!({}));
    assert!(failed && text.contains("known tools: read_file"), "{text}");
    server.end();
}

#[test]
fn memory_search_goes_through_the_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let pipes = tempfile::tempdir().unwrap();
    for name in ["request", "response"] {
        nix::unistd::mkfifo(&pipes.path().join(name), Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
    }
    let runner = std::thread::spawn({
        let pipes = pipes.path().to_owned();
        move || runner(&pipes)
    });
    let mut server = Server::start(folder.path(), Some(pipes.path()));
    let (text, failed) = server.call("memory_search", json!({"query": "cats", "maxResults": 2}));
    assert_eq!((text.as_str(), failed), ("USER.md:3 cats", false));
    let (text, failed) = server.call("memory_search", json!({"query": "dogs"}));
    assert_eq!(
        (text.as_str(), failed),
        ("memory_search failed (unavailable): no index", true)
    );
    let (text, failed) = server.call("memory_search", json!({"query": 7}));
    assert!(failed && text.contains("/query"), "{text}");
    server.end();
    let seen = runner.join().unwrap();
    assert_eq!(seen[0]["tool"], "offer");
    assert_eq!(seen[1]["tool"], "memory_search");
    assert_eq!(
        seen[1]["arguments"],
        json!({"query": "cats", "maxResults": 2})
    );
    assert_eq!(seen.len(), 3);
}

/// The runner's side: says what tools there are, then answers two calls; before
/// everything it says something stale.
fn runner(pipes: &Path) -> Vec<Value> {
    let requests = OpenOptions::new()
        .read(true)
        .open(pipes.join("request"))
        .unwrap();
    let mut responses = OpenOptions::new()
        .write(true)
        .open(pipes.join("response"))
        .unwrap();
    let offer = json!({"version": openclaw_turn::VERSION, "tools": ["memory_search"]}).to_string();
    let answers = [
        json!({"ok": true, "output": offer}),
        json!({"ok": true, "output": "USER.md:3 cats"}),
        json!({"ok": false, "error": {"type": "unavailable", "message": "no index"}}),
    ];
    let mut seen = Vec::new();
    writeln!(
        responses,
        "{}",
        json!({"id": 1, "ok": true, "output": "stale"})
    )
    .unwrap();
    for (line, mut answer) in BufReader::new(requests).lines().zip(answers) {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        answer["id"] = request["id"].clone();
        writeln!(responses, "{answer}").unwrap();
        seen.push(request);
    }
    seen
}

/// Each of two commands waits for the other; a file is written when both are
/// over, and before what was asked for after it.
#[test]
fn calls_are_made_at_the_same_time_but_those_that_change_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), None);
    let calls = [
        (
            71,
            "execute_shell",
            json!({"command": "mkfifo here; read word < here; cat late; echo $word"}),
        ),
        (
            72,
            "execute_shell",
            json!({"command": "until [ -p here ]; do sleep 0.01; done; echo met > here"}),
        ),
        (
            73,
            "write_file",
            json!({"path": "late", "content": "written"}),
        ),
        (74, "read_file", json!({"path": "late"})),
    ];
    for (id, tool, arguments) in calls {
        let params = json!({"name": tool, "arguments": arguments});
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
    let mut answers = std::collections::BTreeMap::new();
    for _ in 0..4 {
        let mut line = String::new();
        server.stdout.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let text = answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned();
        answers.insert(answer["id"].as_u64().unwrap(), text);
    }
    assert!(
        answers[&71].contains("met") && answers[&71].contains("No such file"),
        "{answers:?}"
    );
    assert_eq!(answers[&74], "written");
    server.end();
}

#[test]
fn cancelled_call_ends_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), None);
    let command = "echo $$ > pid.new; mv pid.new pid; exec sleep 300";
    server.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call",
        "params": {"name": "execute_shell", "arguments": {"command": command}}}));
    let pid_file = folder.path().join("pid");
    let deadline = Instant::now() + LIMIT;
    while !pid_file.exists() {
        assert!(Instant::now() < deadline, "the command did not start");
        std::thread::yield_now();
    }
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}));
    let stat = format!("/proc/{}/stat", pid.trim());
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(Instant::now() < deadline, "the command was not ended");
        std::thread::yield_now();
    }
    server.end();
}

#[test]
fn file_size_limit_is_an_error_and_not_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program("sh");
    command
        .arg("-c")
        .arg("ulimit -f 8; exec \"$0\" mcp --workspace \"$1\"")
        .arg(env!("CARGO_BIN_EXE_openclaw-agent"))
        .arg(folder.path());
    let mut server = Server::begin(command);
    let content = "x".repeat(100_000);
    let (text, failed) = server.call("write_file", json!({"path": "f", "content": content}));
    assert!(failed && text.contains("(too_large)"), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    server.end();
}
