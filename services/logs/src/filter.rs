//! Which records are wanted.

use openclaw_settings::LogLevel;

use crate::record::Record;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub(crate) level: Option<LogLevel>,
    pub(crate) session: Option<String>,
    pub(crate) run: Option<String>,
    pub(crate) channel: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) unit: Option<Unit>,
    /// A daemon as `openclawctl run` calls it, which may have several of a kind.
    pub(crate) daemon: Option<String>,
    pub(crate) since_ms: Option<i64>,
    pub(crate) until_ms: Option<i64>,
    /// The last so many.
    pub(crate) lines: Option<usize>,
}

/// A part of the suite that logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Unit {
    /// openclaw-gateway
    #[value(alias = "openclaw-gateway", alias = "openclaw-gateway.service")]
    Gateway,
    /// openclaw-agent-runner
    #[value(
        alias = "runner",
        alias = "openclaw-agent-runner",
        alias = "openclaw-agent-runner.service"
    )]
    AgentRunner,
    /// openclaw-memory
    #[value(alias = "openclaw-memory", alias = "openclaw-memory.service")]
    Memory,
    /// openclaw-telegram
    #[value(alias = "openclaw-telegram", alias = "openclaw-telegram.service")]
    Telegram,
    /// The processes of turns
    #[value(alias = "turns", alias = "openclaw-turn")]
    Turn,
    /// Servers of tools
    #[value(alias = "openclaw-servers")]
    Servers,
}

impl Unit {
    /// All.
    pub(crate) const ALL: [Self; 6] = [
        Self::Gateway,
        Self::AgentRunner,
        Self::Memory,
        Self::Telegram,
        Self::Turn,
        Self::Servers,
    ];

    /// As records name it.
    pub(crate) fn part(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::AgentRunner => "agent-runner",
            Self::Memory => "memory",
            Self::Telegram => "telegram",
            Self::Turn => "turn",
            Self::Servers => "servers",
        }
    }
}

impl Filter {
    /// All of one run.
    pub(crate) fn of_run(run: &str) -> Self {
        Self {
            run: Some(run.to_owned()),
            ..Self::default()
        }
    }

    /// The fields that are asked for.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("openclaw_session", &self.session),
            ("openclaw_run", &self.run),
            ("openclaw_channel", &self.channel),
            ("openclaw_tool", &self.tool),
            ("openclaw_agent", &self.agent),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }

    /// Whether `record` is wanted.
    pub(crate) fn admits(&self, record: &Record) -> bool {
        let at = record.at.as_millisecond();
        self.level.is_none_or(|least| record.level >= least)
            && self.since_ms.is_none_or(|since| at >= since)
            && self.until_ms.is_none_or(|until| at < until)
            && self.unit.is_none_or(|unit| record.part == unit.part())
            && self
                .daemon
                .as_deref()
                .is_none_or(|name| record.field("daemon") == Some(name))
            && self
                .fields()
                .all(|(name, value)| record.field(name) == Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record_of(daemon: &str) -> Record {
        let line = format!(
            r#"{{"timestamp":"2023-11-14T22:13:20Z","level":"warn","message":"slow",
            "context":{{"daemon":"{daemon}","target":"openclaw_telegram"}}}}"#
        );
        Record::of_line(&line).unwrap()
    }

    #[test]
    fn record_is_wanted_when_all_that_is_asked_for_holds() {
        let line = r#"{"timestamp":"2023-11-14T22:13:20Z","level":"warn","message":"slow",
            "context":{"openclaw_run":"r1","openclaw_tool":"read","target":"openclaw_turn_process"}}"#;
        let record = Record::of_line(line).unwrap();
        let at = record.at.as_millisecond();
        let text = |text: &str| Some(text.to_owned());
        let base = Filter::default;
        let of_work = record_of("telegram:work");
        for (daemon, wanted) in [("telegram:work", true), ("telegram", false)] {
            let daemon = text(daemon);
            assert_eq!(Filter { daemon, ..base() }.admits(&of_work), wanted);
        }
        for (filter, wanted) in [
            (base(), true),
            (
                Filter {
                    level: Some(LogLevel::Warn),
                    ..base()
                },
                true,
            ),
            (
                Filter {
                    level: Some(LogLevel::Error),
                    ..base()
                },
                false,
            ),
            (
                Filter {
                    run: text("r1"),
                    tool: text("read"),
                    ..base()
                },
                true,
            ),
            (
                Filter {
                    run: text("r1"),
                    tool: text("write"),
                    ..base()
                },
                false,
            ),
            (
                Filter {
                    session: text("s"),
                    ..base()
                },
                false,
            ),
            (
                Filter {
                    unit: Some(Unit::Turn),
                    since_ms: Some(at),
                    ..base()
                },
                true,
            ),
            (
                Filter {
                    unit: Some(Unit::Memory),
                    ..base()
                },
                false,
            ),
            (
                Filter {
                    since_ms: Some(at + 1),
                    ..base()
                },
                false,
            ),
            (
                Filter {
                    until_ms: Some(at),
                    ..base()
                },
                false,
            ),
        ] {
            assert_eq!(filter.admits(&record), wanted, "{filter:?}");
        }
    }
}
