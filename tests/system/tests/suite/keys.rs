//! `openclawctl auth add` with what the user's service manager can: a key lies encrypted where it is decrypted for the
//! agent-runner, and else in a file of its owner's alone, which says why.

use anyhow::{Result, ensure};
use serde_json::Value;
use system_tests::{Account, Machine, Network};

use crate::stage::{PROGRAMS, SOURCE, bare_machine, quoted};

/// Where the model listens.
const MODEL: &str = "127.0.0.1:18798";
/// The first systemd that decrypts credentials for services of a user.
const DECRYPTS: u32 = 258;
/// Where a key lies in a file.
const FILE: &str = ".openclaw/agents/main/auth/anthropic.json";

fn machine() -> Result<Machine> {
    let machine = bare_machine(Network::Own)?;
    let model = format!(
        "systemd-run --quiet --unit=model -p DynamicUser=yes {PROGRAMS}/scripted-model --listen {MODEL}"
    );
    machine.run(Account::Root, &model)?.success()?;
    let configuration = serde_json::json!({
        "agents": { "defaults": { "backend": "native", "model": "anthropic/claude-scripted" } },
        "models": { "providers": { "anthropic": { "baseUrl": format!("http://{MODEL}") } } },
    });
    let configuration = quoted(&configuration.to_string());
    let line = format!(
        "umask 077 && mkdir -p ~/.openclaw && printf %s {configuration} >~/.openclaw/openclaw.json \
         && {SOURCE}/packaging/install --from {PROGRAMS} && systemctl --user start openclaw.target"
    );
    user(&machine, &line)?;
    Ok(machine)
}

fn user(machine: &Machine, line: &str) -> Result<String> {
    machine.run(Account::Claw, line)?.text()
}

fn add(machine: &Machine, key: &str, options: &str) -> Result<String> {
    let line = format!(
        "printf %s {key} | ~/.local/bin/openclawctl auth add anthropic --key-stdin {options}"
    );
    user(machine, &line)
}

/// Whether the model is asked with `key` for a message that is sent now.
fn asked_with(machine: &Machine, key: &str, word: &str) -> Result<()> {
    let said = user(machine, &format!("~/.local/bin/openclawctl message {word}"))?;
    ensure!(said.contains(word), "{said}");
    let requests = format!(
        "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://{MODEL}/_requests\").read().decode())'"
    );
    let requests: Value = serde_json::from_str(&user(machine, &requests)?)?;
    let all = requests.as_array().map(Vec::as_slice).unwrap_or_default();
    let asked = all
        .iter()
        .rev()
        .find(|it| it["body"].to_string().contains(word));
    let headers = asked
        .map(|it| it["headers"].to_string())
        .unwrap_or_default();
    ensure!(headers.contains(key), "asked with another key for {word}");
    Ok(())
}

fn version(machine: &Machine) -> Result<u32> {
    let said = user(machine, "systemctl --version")?;
    let number = said.split_whitespace().nth(1).unwrap_or_default();
    Ok(number
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default()
        .parse()?)
}

#[test]
#[ignore = "needs root and a booted systemd; run by tests/run"]
fn key_lies_encrypted_where_the_manager_decrypts_it() -> Result<()> {
    let machine = machine()?;
    let decrypts = version(&machine)? >= DECRYPTS;
    let said = add(&machine, "sk-ant-kept-once", "")?;
    let list = user(&machine, "~/.local/bin/openclawctl auth list")?;
    if decrypts {
        ensure!(said.contains("encrypted for you on this machine"), "{said}");
        ensure!(list.contains("encrypted"), "{list}");
        user(&machine, "! grep -rqs sk-ant-kept ~")?;
    } else {
        ensure!(said.contains("it is not encrypted: systemd "), "{said}");
        ensure!(
            user(&machine, &format!("stat -c %a ~/{FILE}"))?.trim() == "600",
            "{list}"
        );
    }
    asked_with(&machine, "sk-ant-kept-once", "once")?;

    let other = machine.run(
        Account::Claw,
        "printf sk-ant-kept-twice | ~/.local/bin/openclawctl auth add anthropic --key-stdin",
    )?;
    ensure!(
        other.status == 1 && other.stderr.contains("--replace"),
        "{}",
        other.describe()
    );
    add(&machine, "sk-ant-kept-twice", "--replace")?;
    asked_with(&machine, "sk-ant-kept-twice", "twice")?;
    let again = add(&machine, "sk-ant-kept-twice", "")?;
    ensure!(again.contains("has this key already"), "{again}");

    let said = add(&machine, "sk-ant-kept-plain", "--replace --plain")?;
    ensure!(said.contains("it is not encrypted)"), "{said}");
    asked_with(&machine, "sk-ant-kept-plain", "plain")?;
    if decrypts {
        add(&machine, "sk-ant-kept-plain", "")?;
        user(
            &machine,
            &format!("test ! -e ~/{FILE} && ! grep -rqs sk-ant-kept ~"),
        )?;
        asked_with(&machine, "sk-ant-kept-plain", "sealed")?;
    }

    user(
        &machine,
        "~/.local/bin/openclawctl auth remove anthropic:default --yes",
    )?;
    let list = user(&machine, "~/.local/bin/openclawctl auth list")?;
    ensure!(!list.contains("anthropic:default"), "{list}");
    user(
        &machine,
        "test ! -e ~/.config/systemd/user/openclaw-agent-runner.service.d/60-keys.conf",
    )?;
    user(&machine, "! ls ~/.config/credstore.encrypted/* 2>/dev/null")?;
    user(
        &machine,
        "~/.local/bin/openclawctl status --wait 20 >/dev/null",
    )?;
    Ok(())
}
