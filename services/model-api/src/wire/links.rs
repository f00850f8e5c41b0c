//! Content that a request does not have but names, for the provider to fetch.
//!
//! Servers know such in more forms than the APIs they speak: so wherever a text is not known
//! to be read by the model alone, one that begins as an address is taken for a reference.

mod place;

use openclaw_settings::ProviderTool;

use self::place::{fetch, fetch_address, fetch_place};
use super::tree::{Fields, Tree};
use super::{Grants, Unfit};

/// Ends of the names of fields that hold a URL which the provider fetches:
/// `image_url`, `file_url`, `video_url`.
const URL: &str = "_url";
/// Kinds of content, in which what is under [`CONTENT`] is data or says where it is:
/// `{"type": "image", "image": "https://…"}`.
const MEDIA: [&str; 12] = [
    "audio",
    "document",
    "file",
    "image",
    "image_url",
    "input_audio",
    "input_file",
    "input_image",
    "input_video",
    "media",
    "video",
    "video_url",
];
/// What such content is under. Names and titles are none.
const CONTENT: [&str; 9] = [
    "audio",
    "data",
    "file",
    "file_data",
    "file_uri",
    "image",
    "uri",
    "url",
    "video",
];
/// What the model reads, or what it said: words, whatever they begin with.
const WORDS: [&str; 25] = [
    "arguments",
    "cited_text",
    "content",
    "context",
    "data",
    "description",
    "encrypted_content",
    "filename",
    "id",
    "input",
    "instructions",
    "lines",
    "name",
    "output",
    "queries",
    "query",
    "reasoning",
    "reasoning_content",
    "refusal",
    "signature",
    "stderr",
    "stdout",
    "text",
    "thinking",
    "title",
];
/// Kinds that say where something was found: their `url` and `source` are words.
const FOUND: [&str; 10] = [
    "char_location",
    "find_in_page",
    "open_page",
    "search",
    "search_result",
    "search_result_location",
    "url_citation",
    "web_fetch_result",
    "web_search_result",
    "web_search_result_location",
];
/// What says where it was found.
const WHERE_FOUND: [&str; 2] = ["source", "url"];
/// What a call of a tool was given, which is the tool's own and opaque to the
/// API.
const ARGUMENTS: [&str; 7] = [
    "action",
    "arguments",
    "code",
    "input",
    "input_schema",
    "operation",
    "parameters",
];
/// Parts of a conversation that have such.
const CALLS: [&str; 11] = [
    "apply_patch_call",
    "code_interpreter_call",
    "computer_call",
    "custom_tool_call",
    "function_call",
    "local_shell_call",
    "mcp_tool_use",
    "server_tool_use",
    "shell_call",
    "tool_use",
    "web_search_call",
];

/// Refuses content by reference that the policy does not grant.
pub(super) fn check(content: Option<&Tree<'_>>, grants: &Grants) -> Result<(), Unfit> {
    match content {
        Some(content) if !grants.has_all() => look(content, Meant::Words, grants),
        _ => Ok(()),
    }
}

/// What a text is, by the names it is under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant {
    /// Read by the model.
    Words,
    /// Nothing that is known.
    Anything,
    /// Data, or where it is.
    Data,
    /// Where something is.
    Url,
}

fn look(value: &Tree<'_>, meant: Meant, grants: &Grants) -> Result<(), Unfit> {
    match (value, meant) {
        (Tree::List(items), _) => items.iter().try_for_each(|item| look(item, meant, grants)),
        (Tree::Object(fields), _) => look_into(fields, meant, grants),
        (Tree::Text(text), Meant::Anything) => fetch_address(text, grants),
        (Tree::Text(text), Meant::Data) => fetch_place(text, grants),
        (Tree::Text(text), Meant::Url) => fetch(text, grants),
        _ => Ok(()),
    }
}

fn look_into(fields: &Fields<'_>, around: Meant, grants: &Grants) -> Result<(), Unfit> {
    let kind = fields.text("type");
    match kind {
        "container_upload" => need_files("a file for a container", grants)?,
        "item_reference" => {
            let what = "item_reference".to_owned();
            return Err(Unfit::NotPassed { what });
        }
        _ => {}
    }
    let is_call = CALLS.contains(&kind);
    // `{"type": "url", "url": …}`, whatever it is under.
    let is_source = fields.len() == 2 && kind == "url";
    let is_media = MEDIA.contains(&kind) || matches!(around, Meant::Data | Meant::Url);
    for (name, inner) in fields.iter() {
        match (name, inner) {
            // Most of a conversation, which says what it is and by whom, and is read by the model.
            ("type" | "role" | "content" | "text", Tree::Text(_)) => {}
            (name, _) if is_call && ARGUMENTS.contains(&name) => {}
            ("file_id", Tree::Text(_)) => need_files("file_id", grants)?,
            ("source", Tree::Object(source)) => look_at_source(source, grants)?,
            ("url", Tree::Text(url)) if is_source || around == Meant::Url => fetch(url, grants)?,
            (name, inner) => look(inner, meant(name, kind, is_media), grants)?,
        }
    }
    Ok(())
}

/// What `name` is in something of a kind.
fn meant(name: &str, kind: &str, is_media: bool) -> Meant {
    if name.ends_with(URL) {
        Meant::Url
    } else if MEDIA.contains(&name) || is_media && CONTENT.contains(&name) || name == "file_data" {
        Meant::Data
    } else if WORDS.contains(&name) || FOUND.contains(&kind) && WHERE_FOUND.contains(&name) {
        Meant::Words
    } else {
        Meant::Anything
    }
}

/// Where the data of an image or a document is.
fn look_at_source(source: &Fields<'_>, grants: &Grants) -> Result<(), Unfit> {
    if let Some(Tree::Text(url)) = source.get("url") {
        fetch(url, grants)?;
    }
    match source.text("type") {
        "file" => need_files("a file of the provider's", grants),
        // What is given as text is no data.
        "text" => look_into(source, Meant::Anything, grants),
        _ => look_into(source, Meant::Data, grants),
    }
}

fn need_files(what: &str, grants: &Grants) -> Result<(), Unfit> {
    if grants.has(ProviderTool::Files) {
        Ok(())
    } else {
        Err(Unfit::NotGranted {
            what: what.to_owned(),
            tool: ProviderTool::Files,
        })
    }
}
