//! What a client of the OpenAI-compatible API sends: the whole conversation,
//! of which the last words are the message.

use openclaw_conversations::storage::TurnOptions;
use openclaw_proto::gateway::Message;
use openclaw_proto::runner::ContextFile;
use openclaw_runs::{Extra, Sender};
use openclaw_sessions::now_ms;
use openclaw_sessions::transcript::{self, AssistantMessage, Block, Content, UserMessage};
use serde_json::Map;

use super::problem::Problem;
use super::target::Target;

/// The name under which the client's instructions stand in the system prompt.
const INSTRUCTIONS: &str = "Instructions of the client";

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// `system` or `developer`.
    Client,
    /// `user`.
    User,
    /// `assistant`.
    Assistant,
}

/// What was said, in order.
pub(super) type Conversation = Vec<(Speaker, String)>;

/// The message and what goes with it. A session that lasts has what was said before itself; to a
/// new one it is told. `param` names the conversation in errors.
pub(super) fn submission(
    conversation: Conversation,
    target: Target,
    param: &str,
) -> Result<(Message, Extra), Problem> {
    let (instructions, mut said): (Vec<_>, Vec<_>) = conversation
        .into_iter()
        .partition(|(speaker, _)| *speaker == Speaker::Client);
    let last = said.iter().rposition(|(who, _)| *who == Speaker::Assistant);
    let message = said.split_off(last.map_or(0, |last| last + 1));
    let text = paragraphs(message);
    if text.trim().is_empty() {
        let problem = "must end with a message of the user that has text";
        return Err(Problem::invalid(param, problem));
    }
    let instructions = paragraphs(instructions);
    let extra = Extra {
        turn: TurnOptions {
            instructions: match instructions.trim() {
                "" => Vec::new(),
                _ => vec![ContextFile {
                    name: INSTRUCTIONS.to_owned(),
                    content: instructions,
                }],
            },
            ..TurnOptions::default()
        },
        earlier: if target.lasts {
            Vec::new()
        } else {
            let channel = &target.channel;
            said.into_iter().map(|part| entry(part, channel)).collect()
        },
        // In a conversation that its client keeps, there is nothing to command.
        sender: if target.lasts {
            Sender::default()
        } else {
            Sender::program()
        },
        ..Extra::default()
    };
    let message = Message {
        text,
        session_key: target.session_key,
        // The key names the agent, and may name another than the model.
        agent_id: String::new(),
        idempotency_key: target.idempotency_key,
        channel: target.channel,
        route: None,
    };
    Ok((message, extra))
}

fn paragraphs(parts: Conversation) -> String {
    let texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    texts.join("\n\n")
}

/// What was said before, over the same channel.
fn entry((speaker, text): (Speaker, String), channel: &str) -> transcript::Message {
    let timestamp = now_ms();
    let mut message = match speaker {
        Speaker::Assistant => transcript::Message::Assistant(AssistantMessage {
            content: Content::Blocks(vec![Block::Text {
                text,
                rest: Map::new(),
            }]),
            timestamp,
            ..AssistantMessage::default()
        }),
        Speaker::User | Speaker::Client => transcript::Message::User(UserMessage {
            content: Content::Text(text),
            timestamp,
            idempotency_key: None,
            rest: Map::new(),
        }),
    };
    message.set_arrival(channel, None);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(lasts: bool) -> Target {
        Target {
            agent: "main".to_owned(),
            session_key: "agent:main:x".to_owned(),
            channel: "api".to_owned(),
            idempotency_key: String::new(),
            lasts,
        }
    }

    fn said(parts: &[(Speaker, &str)]) -> Conversation {
        parts
            .iter()
            .map(|(who, text)| (*who, (*text).to_owned()))
            .collect()
    }

    #[test]
    fn last_words_are_the_message_and_the_rest_comes_before() {
        use Speaker::{Assistant, Client, User};
        let parts = [
            (Client, "Be brief."),
            (User, "one"),
            (Assistant, "two"),
            (User, "three"),
            (Client, "And kind."),
            (User, "four"),
        ];
        let (message, extra) = submission(said(&parts), target(false), "messages").unwrap();
        assert_eq!(message.text, "three\n\nfour");
        assert_eq!(extra.earlier.len(), 2);
        assert_eq!(extra.turn.instructions[0].content, "Be brief.\n\nAnd kind.");
        let (_, extra) = submission(said(&parts), target(true), "messages").unwrap();
        assert!(extra.earlier.is_empty(), "a lasting session knows it");
    }

    #[test]
    fn conversation_without_words_of_the_user_there_is_no_message() {
        use Speaker::{Assistant, Client, User};
        for parts in [
            &[][..],
            &[(Client, "x")],
            &[(User, "x"), (Assistant, "y")],
            &[(User, " ")],
        ] {
            assert!(submission(said(parts), target(false), "messages").is_err());
        }
    }
}
