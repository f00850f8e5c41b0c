//! What is granted is granted by the units too.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::stage::{Stage, stage};

/// Has agent `scripted` call a tool.
fn call(stage: &Stage, tool: &str, arguments: &Value) -> Result<String> {
    stage.ask("scripted", &format!("[[scenario:tool {tool} {arguments}]]"))
}

/// The agent's workspace, a folder of its own besides, and what its server of tools may write, all outside the state
/// folder.
fn configure(configuration: &mut Value) {
    configuration["agents"]["list"][0]["workspace"] = json!("~/some where/100%");
    configuration["sandbox"] = json!({"paths": {"rw": ["~/besides"]}});
    configuration["tools"] = json!({"exec": {"ask": "off"}});
    configuration["mcp"] = json!({"servers": {"disk": {
        "command": "~/.local/bin/openclaw-agent",
        "args": ["mcp", "--workspace", "/home/claw/granted"],
        "paths": {"rw": ["~/granted"]},
    }}});
}

/// What is granted is there, and empty.
fn make_places(stage: &Stage) -> Result<()> {
    stage.user("mkdir -p ~/granted ~/besides ~/.openclaw && rm -rf ~/granted/* ~/besides/*")?;
    Ok(())
}

#[test]
#[ignore = "boots a machine, needs root"]
fn agents_and_servers_of_tools_write_where_the_configuration_says() -> Result<()> {
    let stage = stage()?;
    make_places(&stage)?;
    stage.configured(configure, || {
        for (tool, path) in [
            ("disk__write_file", "/home/claw/granted/file"),
            (
                "disk__write_file",
                "/home/claw/.openclaw/agents/scripted/mcp/disk/file",
            ),
            ("write_file", "/home/claw/besides/file"),
            ("write_file", "/home/claw/some where/100%/file"),
        ] {
            let said = call(&stage, tool, &json!({"path": path, "content": "written"}))?;
            let there = stage.attempt(&format!("cat '{path}'"))?.stdout;
            ensure!(there == "written", "{tool} {path}: {said}");
        }
        let outside = json!({"path": "/home/claw/besides/other", "content": "x"});
        call(&stage, "disk__write_file", &outside)?;
        let there = stage.attempt("cat ~/besides/other")?;
        ensure!(
            there.status != 0,
            "a server writes what its agent alone may"
        );
        let units =
            stage.user("systemctl --user list-units --plain --no-legend 'openclaw-servers-*'")?;
        ensure!(units.lines().count() == 1, "{units}");
        Ok(())
    })
}

#[test]
#[ignore = "boots a machine, needs root"]
fn memory_writes_notes_in_a_workspace_elsewhere() -> Result<()> {
    let stage = stage()?;
    make_places(&stage)?;
    stage.configured(configure, || {
        let unit = stage.user("systemctl --user cat openclaw-memory.service")?;
        ensure!(unit.contains("some where/100%%"), "{unit}");
        let said = call(
            &stage,
            "memory_write",
            &json!({"text": "The cat is called Mourek."}),
        )?;
        let notes = stage.attempt("cat ~/'some where/100%'/memory/*.md")?.stdout;
        ensure!(notes.contains("Mourek"), "{said}: {notes}");
        Ok(())
    })
}
