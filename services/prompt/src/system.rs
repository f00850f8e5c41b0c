//! The instructions.

use std::fmt::Write as _;
use std::path::Path;

use openclaw_settings::Persona;

/// What the instructions are made of.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The agent.
    pub agent_id: &'a str,
    /// Who it is.
    pub persona: &'a Persona,
    /// The folder that it works in.
    pub workspace: &'a Path,
    /// Bootstrap files: names and contents.
    pub files: &'a [(&'a str, &'a str)],
    /// Whether a message is answered; a summary is written without what takes the
    /// place of everything.
    pub is_message: bool,
}

/// The system prompt. It changes once a day at most, so that the provider's
/// prompt cache holds: what belongs to the message goes with the message.
pub fn system(told: Told<'_>) -> String {
    if let Some(whole) = whole(told.persona, told.is_message) {
        return whole.to_owned();
    }
    let persona = told.persona;
    let mut text = format!(
        "You are {}the user's personal assistant, running as agent \"{}\" on their own Linux \
         machine. Today is {}.\nYour workspace is {}: it is the only place you can write to, \
         the rest of the system is read-only and most of it hidden. Use tools to act and to \
         check; when a tool fails, say so. Be brief and honest.\n",
        name(persona),
        told.agent_id,
        today(),
        told.workspace.display(),
    );
    identity(&mut text, persona);
    if let Some(instructions) = &persona.instructions {
        let _ = write!(text, "\n## Instructions\n{}\n", instructions.trim_end());
    }
    for (name, content) in told.files {
        let _ = write!(text, "\n## {name}\n{}\n", content.trim_end());
    }
    text
}

/// What takes the place of everything an agent is told of itself.
pub fn whole(persona: &Persona, is_message: bool) -> Option<&str> {
    persona.whole_prompt.as_deref().filter(|_| is_message)
}

fn name(persona: &Persona) -> String {
    let name = persona.name.as_deref();
    name.map_or_else(String::new, |name| format!("{name}, "))
}

/// Who the agent is, as its settings say.
fn identity(text: &mut String, persona: &Persona) {
    if let Some(theme) = &persona.theme {
        let _ = writeln!(text, "Your manner: {theme}");
    }
    if let Some(emoji) = &persona.emoji {
        let _ = writeln!(text, "Your emoji: {emoji}");
    }
}

fn today() -> String {
    jiff::Zoned::now().strftime("%A, %Y-%m-%d (%Z)").to_string()
}
