//! The program as scripts use it.

// The attribute tells clippy that this is test code, where unwrapping is allowed.
#[cfg(test)]
mod client;

use std::net::SocketAddr;
use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "no agent process: the program under test itself"
)]
async fn first_line_says_where_and_the_script_is_played() {
    let script = std::env::temp_dir().join(format!("scripted-model-{}.json", std::process::id()));
    std::fs::write(&script, r#"["text from the script"]"#).unwrap();
    let mut program = tokio::process::Command::new(env!("CARGO_BIN_EXE_scripted-model"))
        .arg("--script")
        .arg(&script)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    std::fs::remove_file(&script).unwrap();
    let address: SocketAddr = url.strip_prefix("http://").unwrap().parse().unwrap();
    let body = json!({"model": "m", "max_tokens": 9, "stream": true,
        "messages": [{"role": "user", "content": "hi"}]});
    let answer = client::ask_at(address, "/v1/messages", &body).await;
    assert_eq!(answer.text(), "from the script");
}
