//! Which records are written, by their level (seed 002, property 24).

use openclaw_settings::LogLevel;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::Context;

/// How the names of our own crates begin.
const OURS: &str = "openclaw";

/// Lets through what is severe enough, and every span of ours: an error that is
/// written has the session it is about, whatever the level is.
#[derive(Debug)]
pub(super) struct Severity {
    records: Targets,
    level: LevelFilter,
}

impl Severity {
    /// What is at least as severe as `least`.
    pub(super) fn new(least: LogLevel) -> Self {
        let level = match least {
            LogLevel::Debug => LevelFilter::DEBUG,
            LogLevel::Info => LevelFilter::INFO,
            LogLevel::Warn => LevelFilter::WARN,
            LogLevel::Error => LevelFilter::ERROR,
            LogLevel::Silent => LevelFilter::OFF,
        };
        // The libraries' own news are of no use to the user of the assistant.
        let records = Targets::new()
            .with_default(level.min(LevelFilter::WARN))
            .with_target(OURS, level);
        Self { records, level }
    }

    fn admits(&self, metadata: &Metadata<'_>) -> bool {
        let (target, level) = (metadata.target(), metadata.level());
        let is_span = metadata.is_span() && target.starts_with(OURS);
        is_span || self.records.would_enable(target, level)
    }
}

impl<S: Subscriber> Layer<S> for Severity {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.admits(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.admits(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // Our spans are of level info.
        Some(self.level.max(LevelFilter::INFO))
    }
}
