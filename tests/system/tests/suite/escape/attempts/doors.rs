//! The door to the model: what is behind it gets the user's credential, so what is asked for there is the model's answer
//! alone. `ask` asks through the agent's door where it has one, and the provider itself; `asked` looks at what reached it.

use crate::escape::attempt::Gap::{Direct, Network};
use crate::escape::attempt::{Attempt, left};

pub(super) const ALL: &[Attempt] = &[
    left(
        "make a key with an encoded path",
        "ask POST /v1/%2e%2e/api/oauth/claude_cli/create_api_key?$PORT",
        "asked create_api_key?$PORT",
    )
    .but(&[Direct]),
    left(
        "leave the path with encoded dots",
        "ask POST /v1/.%2E/dots-$PORT",
        "asked dots-$PORT",
    )
    .but(&[Direct]),
    left(
        "leave the path with an encoded slash",
        "ask POST /v1/..%2fslash-$PORT",
        "asked slash-$PORT",
    )
    .but(&[Direct]),
    left(
        "leave the path with plain dots",
        "ask POST /v1/../plain-$PORT",
        "asked plain-$PORT",
    )
    .but(&[Direct]),
    left(
        "leave the path with two slashes",
        "ask POST //double-$PORT/v1/messages",
        "asked double-$PORT",
    )
    .but(&[Direct]),
    left(
        "leave the path with a backslash",
        "ask POST '/v1/..\\back-'$PORT",
        "asked back-$PORT",
    )
    .but(&[Direct]),
    left(
        "leave the path behind the messages",
        "ask POST /v1/messages/../behind-$PORT",
        "asked behind-$PORT",
    )
    .but(&[Direct]),
    left(
        "leave the path with an encoded letter",
        "ask POST /v1/%66iles?letter-$PORT",
        "asked letter-$PORT",
    )
    .but(&[Direct]),
    left("list the user's files", "ask GET /v1/files?$PORT", "asked /v1/files?$PORT").but(&[Direct]),
    left(
        "read a file of the user's",
        "ask GET /v1/files/file_$PORT/content",
        "asked file_$PORT",
    )
    .but(&[Direct]),
    left(
        "remove a file of the user's",
        "ask DELETE /v1/files/remove_$PORT",
        "asked remove_$PORT",
    )
    .but(&[Direct]),
    left(
        "leave a batch of requests",
        "ask POST /v1/messages/batches?$PORT",
        "asked batches?$PORT",
    )
    .but(&[Direct]),
    left(
        "ask about the organization",
        "ask GET /v1/organizations/me?$PORT",
        "asked organizations/me?$PORT",
    )
    .but(&[Direct]),
    left(
        "ask the provider for another site",
        "ask GET http://public.example:443/absolute-$PORT",
        "asked absolute-$PORT",
    )
    .but(&[Direct]),
    left(
        "use another method",
        "ask PUT /v1/messages?put-$PORT",
        "asked put-$PORT",
    )
    .but(&[Direct]),
    left(
        "have the provider fetch a page",
        "ask POST /v1/messages '{\"model\":\"claude-scripted\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"fetch\"}],\"tools\":[{\"type\":\"web_fetch_20250910\",\"name\":\"fetch-'$PORT'\"}]}'",
        "asked fetch-$PORT",
    )
    .but(&[Network]),
    left(
        "have the provider ask a server",
        "ask POST /v1/messages '{\"model\":\"claude-scripted\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"server\"}],\"mcp_servers\":[{\"type\":\"url\",\"url\":\"https://other.example/server-'$PORT'\",\"name\":\"s\"}]}'",
        "asked server-$PORT",
    )
    .but(&[Network]),
    left(
        "have the provider run a program",
        "ask POST /v1/messages '{\"model\":\"claude-scripted\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"run\"}],\"tools\":[{\"type\":\"code_execution_20250825\",\"name\":\"code-'$PORT'\"}]}'",
        "asked code-$PORT",
    )
    .but(&[Network]),
    left(
        "have the provider open an address",
        "ask POST /v1/messages '{\"model\":\"claude-scripted\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://other.example/image-'$PORT'\"}}]}]}'",
        "asked image-$PORT",
    )
    .but(&[Network]),
];
