//! Scenarios by name: `[[scenario:NAME …]]` in a message, and strings in a JSON script.

use std::fmt;

use serde::Deserialize;
use serde_json::{Deserializer, Value};

use crate::scenario::{Ending, Pace, Scenario, ToolCall};

/// What opens a directive in a user message; `]]` closes it.
const OPENING: &str = "[[scenario:";

/// Long enough to be cancelled, short enough that a forgotten one ends.
const DEFAULT_DELAY_MS: u64 = 200;

/// More than any client should take for one answer.
const DEFAULT_FILLER_BYTES: usize = 16 * 1024 * 1024;

const SAMPLE: &str = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen.";

/// A directive or script names no known scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownScenario(String);

impl fmt::Display for UnknownScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown scenario {:?}; known: {}", self.0, KNOWN)
    }
}

impl std::error::Error for UnknownScenario {}

const KNOWN: &str = "echo, text WORDS, thinking, clock MS DELTAS, tool NAME JSON, tools [{name, arguments}, …], loop NAME JSON, slow [MS], \
    held GATE, silent GATE, cut, unfinished, bad-sse, bad-json, error-event, empty, length, huge [BYTES], \
    STATUS [RETRY-AFTER], or a scenario as JSON";

impl Scenario {
    /// The scenario of a directive's text, such as `slow 50`, `429 2`, `tool Bash {"command":"id"}` or a JSON object.
    pub fn named(text: &str) -> Result<Self, UnknownScenario> {
        let text = text.trim();
        let unknown = || UnknownScenario(text.to_owned());
        if text.starts_with('{') {
            return serde_json::from_str(text).map_err(|_| unknown());
        }
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        if let Ok(status) = name.parse::<u16>() {
            return status_failure(status, rest).ok_or_else(unknown);
        }
        plain(name, rest)
            .or_else(|| with_tools(name, rest))
            .ok_or_else(unknown)
    }

    /// The scenario of the directive in `said`, if there is one.
    pub(crate) fn directed(said: &str) -> Option<Result<Self, UnknownScenario>> {
        let start = said.rfind(OPENING)? + OPENING.len();
        Some(Self::named(directive_text(&said[start..])))
    }
}

/// The directive without its closing brackets. JSON may hold `]]` itself, so an object is measured by parsing it.
fn directive_text(rest: &str) -> &str {
    let end = rest.find("]]").unwrap_or(rest.len());
    let Some(json) = rest.find(['{', '[']).filter(|json| *json < end) else {
        return &rest[..end];
    };
    let mut values = Deserializer::from_str(&rest[json..]).into_iter::<Value>();
    match values.next() {
        Some(Ok(_)) => &rest[..json + values.byte_offset()],
        _ => &rest[..end],
    }
}

fn status_failure(status: u16, rest: &str) -> Option<Scenario> {
    let failure = (400..600)
        .contains(&status)
        .then(|| Scenario::failure(status))?;
    match rest {
        "" => Some(failure),
        seconds => Some(failure.retry_after(seconds.parse().ok()?)),
    }
}

fn plain(name: &str, rest: &str) -> Option<Scenario> {
    let sample = Scenario::text(SAMPLE);
    Some(match name {
        "echo" => Scenario::echo(),
        "text" => Scenario::text(rest),
        "empty" => Scenario::text(""),
        "thinking" => sample.thinking("Let me think about that."),
        "slow" => sample.chunk(4).delay_ms(number(rest, DEFAULT_DELAY_MS)?),
        "clock" => clock(rest)?,
        "held" if !rest.is_empty() => Scenario::held(SAMPLE, rest),
        "silent" if !rest.is_empty() => Scenario {
            pace: Pace {
                gate: Some(rest.to_owned()),
                silent: true,
                ..Pace::default()
            },
            ..sample
        },
        "cut" => sample.ending(Ending::CutOff),
        "unfinished" => sample.ending(Ending::Unfinished),
        "bad-sse" => sample.ending(Ending::MalformedSse),
        "bad-json" => sample.ending(Ending::MalformedJson),
        "error-event" => sample.ending(Ending::ErrorEvent),
        "length" => Scenario {
            stop_reason: Some("max_tokens".to_owned()),
            ..sample
        },
        "huge" => Scenario {
            filler: number(rest, DEFAULT_FILLER_BYTES)?,
            pace: Pace {
                chunk: 16_384,
                ..Pace::default()
            },
            ..sample
        },
        _ => return None,
    })
}

/// Every delta is the time at which it is sent.
fn clock(rest: &str) -> Option<Scenario> {
    let (delay_ms, deltas) = rest.split_once(char::is_whitespace)?;
    let delta = format!("{} ", Pace::CLOCK);
    let mut scenario = Scenario::text(delta.repeat(deltas.trim().parse().ok()?))
        .chunk(delta.len())
        .delay_ms(delay_ms.parse().ok()?);
    scenario.pace.clock = true;
    Some(scenario)
}

fn with_tools(name: &str, rest: &str) -> Option<Scenario> {
    match name {
        "tools" => Some(Scenario::tools(
            serde_json::from_str::<Vec<ToolCall>>(rest).ok()?,
        )),
        "tool" => one_call(rest).map(|call| Scenario::tools([call])),
        "loop" => one_call(rest).map(|call| Scenario {
            forever: true,
            ..Scenario::tools([call])
        }),
        _ => None,
    }
}

fn one_call(rest: &str) -> Option<ToolCall> {
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, "{}"));
    let arguments = serde_json::from_str(arguments).ok()?;
    (!name.is_empty()).then(|| ToolCall {
        name: name.to_owned(),
        arguments,
    })
}

fn number<N: std::str::FromStr>(text: &str, default: N) -> Option<N> {
    if text.is_empty() {
        Some(default)
    } else {
        text.parse().ok()
    }
}

/// A scenario in a script: an object, or a name.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Name(String),
    Full(Box<Scenario>),
}

/// The scenarios of a script: one, or a list; each an object or a name.
pub(crate) fn parse_script(json: &[u8]) -> Result<Vec<Scenario>, String> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Script {
        Many(Vec<Written>),
        One(Written),
    }
    let script: Script =
        serde_json::from_slice(json).map_err(|error| format!("script: {error}"))?;
    let written = match script {
        Script::Many(written) => written,
        Script::One(written) => vec![written],
    };
    written.into_iter().map(resolve).collect()
}

fn resolve(written: Written) -> Result<Scenario, String> {
    match written {
        Written::Name(name) => Scenario::named(&name).map_err(|error| error.to_string()),
        Written::Full(scenario) => Ok(*scenario),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn directive_is_found_inside_a_message() {
        let found = Scenario::directed("please [[scenario:429 7]] now")
            .unwrap()
            .unwrap();
        assert_eq!(found, Scenario::failure(429).retry_after(7));
    }

    #[test]
    fn json_in_a_directive_may_hold_the_closing_brackets() {
        let said = r#"[[scenario:tool write_file {"path":"a","content":"[[1]]"}]] thanks"#;
        let found = Scenario::directed(said).unwrap().unwrap();
        assert_eq!(
            found.calls[0].arguments,
            json!({"path": "a", "content": "[[1]]"})
        );
    }

    #[test]
    fn whole_scenario_can_be_written_in_a_directive() {
        let found = Scenario::directed(r#"[[scenario:{"text":"x","ending":"cut_off"}]]"#)
            .unwrap()
            .unwrap();
        assert_eq!(found, Scenario::text("x").ending(Ending::CutOff));
    }

    #[test]
    fn wrong_names_and_numbers_are_refused() {
        for text in [
            "nonsense",
            "slow soon",
            "held",
            "clock 5",
            "200",
            "tool",
            "tool x {",
        ] {
            assert!(Scenario::named(text).is_err(), "{text}");
        }
        assert!(Scenario::directed("no directive here").is_none());
    }

    #[test]
    fn scripts_mix_names_and_objects() {
        let script = parse_script(br#"["500", {"text": "fine"}]"#).unwrap();
        assert_eq!(script, vec![Scenario::failure(500), Scenario::text("fine")]);
        assert_eq!(parse_script(br#""echo""#).unwrap(), vec![Scenario::echo()]);
        assert!(parse_script(br#"{"txet": "typo"}"#).is_err());
    }
}
