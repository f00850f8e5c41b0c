//! What the suite adds to the Claude Code CLI.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use openclaw_proto::gateway::Client;
use serde_json::json;

use crate::arguments::Arguments;
use crate::conversation;
use crate::home::Backend;
use crate::model::Model;
use crate::plain::Plain;
use crate::recording::{read_back, recorder};
use crate::sample::Sample;
use crate::stage::Stage;
use crate::suite::Suite;
use crate::table::{Table, Unit};

/// Pairs of a plain run and a message that count.
const ROUNDS: usize = 10;
/// Pairs before them: the CLI's first run in a home takes longer.
const WARM_UP: usize = 2;
/// What a user takes to read an answer and write the next message, at least.
const READING: Duration = Duration::from_secs(2);
/// Longer than that.
const WARM_SECONDS: u64 = 60;
/// Where the CLI looks for its model.
const MODEL_URL: &str = "ANTHROPIC_BASE_URL";
/// Milliseconds added to the plain CLI, at most.
const ADDED_TARGET: f64 = 40.0;

pub(super) async fn measure(
    stage: &Stage,
    arguments: &Arguments,
    table: &mut Table,
) -> anyhow::Result<()> {
    let Some(program) = arguments.claude() else {
        table.words(
            "claude-cli",
            "skipped: no Claude Code CLI; name one with --claude",
        );
        return Ok(());
    };
    let model = Model::start(&stage.programs).await?;
    let plain = record(stage, &model, &program).await?;
    let named = program.clone();
    let home = stage.home("claude", Backend::Claude(program), model.url())?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let compared = compare(&plain, &suite.client(), table).await;
    compared.with_context(|| format!("the suite's last lines:\n{}", suite.last_lines()))?;
    suite.stop().await?;
    let cold = conversed(stage, &model, &named, 0).await?;
    let warm = conversed(stage, &model, &named, WARM_SECONDS).await?;
    let unit = Unit::Milliseconds;
    let words = "claude-cli in one session, first text, p50";
    table.figure(words, unit, cold.p50());
    let words = "  with cliWarmSeconds, first text, p50";
    table.figure(words, unit, warm.p50());
    Ok(())
}

/// First texts in one session, with a pause for reading before each message.
async fn conversed(
    stage: &Stage,
    model: &Model,
    program: &Path,
    seconds: u64,
) -> anyhow::Result<Sample> {
    let name = format!("warm-{seconds}");
    let backend = Backend::Claude(program.to_path_buf());
    let home = stage.home(&name, backend, model.url())?;
    home.configure(&json!({"agents": {"defaults": {"cliWarmSeconds": seconds}}}))?;
    let suite = Suite::start(&stage.programs, &home).await?;
    let mut first_texts = Sample::default();
    for round in 0..WARM_UP + ROUNDS {
        let exchange = conversation::exchange(&suite.client(), "main").await?;
        if round >= WARM_UP {
            first_texts.add(exchange.first_text);
        }
        tokio::time::sleep(READING).await;
    }
    suite.stop().await?;
    Ok(first_texts)
}

/// Has the runner start a recorder in the CLI's place.
async fn record(stage: &Stage, model: &Model, program: &Path) -> anyhow::Result<Plain> {
    let script = recorder(&stage.folder().join("recorder"))?;
    let home = stage.home("recorded", Backend::Claude(script), model.url())?;
    let suite = Suite::start(&stage.programs, &home).await?;
    // It fails: the recorder is no agent.
    let (_, terminal) = conversation::send(&suite.client(), "main").await?;
    suite.stop().await?;
    let mut plain = read_back(
        program,
        &home.paths.agent_home("main"),
        &home.paths.default_workspace(),
        &stage.folder().join("plain"),
    )
    .with_context(|| format!("how the runner starts the CLI was not recorded: {terminal:?}"))?;
    // The turn's door is gone with the turn.
    for (name, value) in &mut plain.environment {
        if name == MODEL_URL {
            model.url().clone_into(value);
        }
    }
    Ok(plain)
}

async fn compare(plain: &Plain, client: &Client, table: &mut Table) -> anyhow::Result<()> {
    let (mut results, mut exits) = (Sample::default(), Sample::default());
    let (mut first_texts, mut messages) = (Sample::default(), Sample::default());
    for round in 0..WARM_UP + ROUNDS {
        let alone = plain.run().await?;
        // A session of its own, as the plain run has.
        let exchange = conversation::exchange(client, &format!("round-{round}")).await?;
        if round >= WARM_UP {
            results.add(alone.result);
            exits.add(alone.exit);
            first_texts.add(exchange.first_text);
            messages.add(exchange.ended);
        }
    }
    let unit = Unit::Milliseconds;
    table.figure(
        "plain claude -p, start to its result, p50",
        unit,
        results.p50(),
    );
    table.figure("plain claude -p, start to its end, p50", unit, exits.p50());
    table.figure(
        "claude-cli through the suite, first text, p50",
        unit,
        first_texts.p50(),
    );
    table.figure(
        "claude-cli through the suite, whole, p50",
        unit,
        messages.p50(),
    );
    let added = messages.over(&exits);
    table.target(
        "claude-cli, added to plain claude -p, p50",
        unit,
        added.p50(),
        ADDED_TARGET,
    );
    table.words(
        "  least and most added",
        format!(
            "{:.2} ms, {:.2} ms",
            added.percentile(1),
            added.percentile(100)
        ),
    );
    Ok(())
}
