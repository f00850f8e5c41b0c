//! Content that a request does not have but names, for the provider to fetch.

use openclaw_settings::ProviderTool;
use reqwest::Url;

use super::tree::{Fields, Tree};
use super::{Grants, Unfit};

/// Ends of the names of fields that hold a URL which the provider fetches:
/// `image_url`, `file_url`, `video_url`. A plain `url` is one only in a source,
/// or in what looks like one wherever it stands; elsewhere it says where
/// something was found.
const URL: &str = "_url";
/// Kinds of content that servers other than the API's own take by a URL under another
/// name: `{"type": "image", "image": "https://…"}`.
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
/// Bytes of the name of a scheme with what may stand before it: `https`.
const SCHEME: usize = 40;
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
/// What a call of a tool was given, which is the tool's own and opaque to the
/// API.
const ARGUMENTS: [&str; 4] = ["arguments", "input", "input_schema", "parameters"];
/// Parts of a conversation that have such.
const CALLS: [&str; 5] = [
    "custom_tool_call",
    "function_call",
    "mcp_tool_use",
    "server_tool_use",
    "tool_use",
];

/// Refuses content by reference that the policy does not grant.
pub(super) fn check(content: Option<&Tree<'_>>, grants: &Grants) -> Result<(), Unfit> {
    match content {
        Some(content) if !grants.has_all() => look(content, grants),
        _ => Ok(()),
    }
}

fn look(value: &Tree<'_>, grants: &Grants) -> Result<(), Unfit> {
    match value {
        Tree::List(items) => items.iter().try_for_each(|item| look(item, grants)),
        Tree::Object(fields) => look_into(fields, grants),
        _ => Ok(()),
    }
}

fn look_into(fields: &Fields<'_>, grants: &Grants) -> Result<(), Unfit> {
    let kind = fields
        .get("type")
        .and_then(Tree::as_str)
        .unwrap_or_default();
    match kind {
        "container_upload" => need_files("a file for a container", grants)?,
        "item_reference" => {
            let what = "item_reference".to_owned();
            return Err(Unfit::NotPassed { what });
        }
        _ => {}
    }
    let is_call = CALLS.contains(&kind);
    if let (2, "url", Some(Tree::Text(url))) = (fields.len(), kind, fields.get("url")) {
        fetch(url, grants)?;
    }
    for (name, inner) in fields.iter() {
        match (name, inner) {
            (name, _) if is_call && ARGUMENTS.contains(&name) => {}
            ("file_id", Tree::Text(_)) => need_files("file_id", grants)?,
            // Where data is meant there is no place to be fetched.
            ("file_data", Tree::Text(data)) => fetch_if_place(data, grants)?,
            (name, Tree::Text(text)) if MEDIA.contains(&kind) && CONTENT.contains(&name) => {
                fetch_if_place(text, grants)?;
            }
            ("source", Tree::Object(source)) => look_at_source(source, grants)?,
            (name, Tree::Text(url)) if name.ends_with(URL) => fetch(url, grants)?,
            (name, Tree::Object(inner)) if name.ends_with(URL) => {
                if let Some(Tree::Text(url)) = inner.get("url") {
                    fetch(url, grants)?;
                }
                look_into(inner, grants)?;
            }
            (_, inner) => look(inner, grants)?,
        }
    }
    Ok(())
}

/// Where the data of an image or a document is.
fn look_at_source(source: &Fields<'_>, grants: &Grants) -> Result<(), Unfit> {
    if let Some(Tree::Text(url)) = source.get("url") {
        fetch(url, grants)?;
    }
    match source.get("type").and_then(Tree::as_str) {
        Some("file") => need_files("a file of the provider's", grants),
        _ => look_into(source, grants),
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

/// As [`fetch`], where it is data unless it names a place. What data is written in has no
/// colon (RFC 4648).
fn fetch_if_place(text: &str, grants: &Grants) -> Result<(), Unfit> {
    let scheme = text.split(':').next().filter(|it| it.len() < text.len());
    match scheme {
        Some(scheme) if scheme.len() < SCHEME => fetch(text.trim_start(), grants),
        _ => Ok(()),
    }
}

/// Whether the provider may fetch this. Data that stands in the URL itself is
/// not fetched.
fn fetch(url: &str, grants: &Grants) -> Result<(), Unfit> {
    if url
        .get(..5)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
    {
        return Ok(());
    }
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(Url::host_str).unwrap_or_default();
    let is_plain = parsed.as_ref().is_some_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
    });
    let port = parsed.as_ref().and_then(Url::port_or_known_default);
    match port {
        Some(port) if is_plain && grants.has_host(host, port) => Ok(()),
        _ => Err(Unfit::Host {
            host: if host.is_empty() { "this URL" } else { host }.to_owned(),
        }),
    }
}
