//! A check, and what it finds.

use openclaw_terminal::painted::Style;
use serde::Serialize;

use crate::scene::Scene;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// More is open than has to be.
    Warn,
    /// Somebody else can get in, or an agent out.
    Critical,
}

impl Severity {
    /// In one word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warning",
            Self::Critical => "critical",
        }
    }

    pub(crate) fn style(self) -> Style {
        match self {
            Self::Info => Style::Name,
            Self::Warn => Style::Warning,
            Self::Critical => Style::Bad,
        }
    }
}

/// Something that is looked at.
#[derive(Debug)]
pub(crate) struct Check {
    /// OpenClaw's name for it where it has one.
    pub(crate) id: &'static str,
    pub(crate) severity: Severity,
    pub(crate) remedy: &'static str,
    /// What is not as it should be, each a sentence.
    pub(crate) find: fn(&Scene) -> Vec<String>,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) id: &'static str,
    pub(crate) severity: Severity,
    pub(crate) detail: String,
    pub(crate) remedy: &'static str,
}

impl Check {
    pub(crate) fn look(&self, scene: &Scene) -> Vec<Finding> {
        let found = (self.find)(scene).into_iter();
        found
            .map(|detail| Finding {
                id: self.id,
                severity: self.severity,
                detail,
                remedy: self.remedy,
            })
            .collect()
    }
}
