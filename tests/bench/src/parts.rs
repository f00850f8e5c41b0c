//! What is measured, part by part.

use std::fmt;

use clap::ValueEnum;

use crate::arguments::Arguments;
use crate::stage::Stage;
use crate::table::Table;

mod activation;
mod claude;
mod clients;
mod command;
mod crowd;
mod disk;
mod front;
mod gap;
mod http;
mod messages;
mod offline;
mod spawn;
mod start;

/// A part of the benchmark. Each makes its own home and needs no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Exec to READY, and memory of the idle daemons
    Start,
    /// Messages through the running suite: round trips, memory, processor time, request size
    Messages,
    /// Whole openclawctl processes, beside OpenClaw's own command line
    Command,
    /// Messages of several clients at once
    Clients,
    /// The OpenAI-compatible API on the gateway's port
    Http,
    /// WebSocket clients by the hundred: idle, told of a turn, and sending messages
    Front,
    /// The agent's process, plain and confined
    Spawn,
    /// From socket activation to the first reply
    Activation,
    /// What the offline backend sends to a model
    Offline,
    /// kill -9 of each daemon in the middle of an answer
    Gap,
    /// A hundred turns at once
    Crowd,
    /// What a message costs the disk, by how many sessions there are
    Disk,
    /// The claude-cli backend, compared with the plain Claude Code CLI
    Claude,
}

impl Part {
    pub(crate) const ALL: [Self; 13] = [
        Self::Start,
        Self::Messages,
        Self::Command,
        Self::Clients,
        Self::Http,
        Self::Front,
        Self::Spawn,
        Self::Activation,
        Self::Offline,
        Self::Gap,
        Self::Crowd,
        Self::Disk,
        Self::Claude,
    ];

    /// Measures it and adds the figures to `table`.
    pub(crate) async fn measure(
        self,
        stage: &Stage,
        arguments: &Arguments,
        table: &mut Table,
    ) -> anyhow::Result<()> {
        match self {
            Self::Start => start::measure(stage, table).await,
            Self::Messages => messages::measure(stage, table).await,
            Self::Command => command::measure(stage, arguments, table).await,
            Self::Clients => clients::measure(stage, table).await,
            Self::Http => http::measure(stage, table).await,
            Self::Front => front::measure(stage, table).await,
            Self::Spawn => spawn::measure(stage, table).await,
            Self::Activation => activation::measure(stage, table).await,
            Self::Offline => offline::measure(stage, table).await,
            Self::Gap => gap::measure(stage, table).await,
            Self::Crowd => crowd::measure(stage, table).await,
            Self::Disk => disk::measure(stage, table).await,
            Self::Claude => claude::measure(stage, arguments, table).await,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}
