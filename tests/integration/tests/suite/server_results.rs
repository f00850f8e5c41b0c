//! What servers of tools give back, and what reaches the model of it.

use integration_tests::tool_server::ToolServer;
use integration_tests::{Setup, Suite, asked};
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

/// One pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async fn call(suite: &Suite, model: &Server, tool: &str, arguments: Value) -> Value {
    model.push(Scenario::tool(tool, arguments).then(Scenario::text("Done.")));
    let run = suite.ask("go on").await;
    assert_eq!(run["status"], "done", "{run}");
    run["toolCalls"][0].clone()
}

fn picture(setup: Setup, server: &ToolServer) -> Setup {
    setup
        .set("tools.exec.ask", "off")
        .set("mcp.servers.test", server.entry(&json!({"image": PIXEL})))
}

#[tokio::test]
async fn anthropic_model_sees_an_image() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let suite = picture(Setup::anthropic(&model), &server).start().await;
    let called = call(&suite, &model, "test__image", json!({})).await;
    assert_eq!(called["output"], "look\n[an image, image/png]", "{called}");
    let asked = asked::turns(&model, 2).await[1].json();
    let messages = asked["messages"].as_array().unwrap();
    let result = &messages.last().unwrap()["content"][0];
    assert_eq!(result["type"], "tool_result", "{result}");
    let source = json!({"type": "base64", "media_type": "image/png", "data": PIXEL});
    assert_eq!(
        result["content"][1],
        json!({"type": "image", "source": source})
    );
}

#[tokio::test]
async fn openai_model_sees_an_image_where_its_input_says_so() {
    for (input, sees) in [(json!(["text", "image"]), true), (json!(["text"]), false)] {
        let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
        let described = json!([{"id": "gpt-5", "name": "x", "input": input}]);
        let suite = picture(Setup::openai(&model), &server)
            .set("models.providers.openai.baseUrl", model.openai_url())
            .set("models.providers.openai.models", described)
            .start()
            .await;
        call(&suite, &model, "test__image", json!({})).await;
        let asked = asked::turns(&model, 2).await[1].json();
        let last = asked["messages"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone();
        if sees {
            let url = json!({"url": format!("data:image/png;base64,{PIXEL}")});
            assert_eq!(last["role"], "user", "{last}");
            assert_eq!(
                last["content"][1],
                json!({"type": "image_url", "image_url": url})
            );
        } else {
            assert_eq!(last["role"], "tool", "{last}");
            assert!(!asked.to_string().contains(PIXEL));
        }
    }
}

#[tokio::test]
async fn claude_cli_shows_its_model_an_image() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let Some(setup) = Setup::claude(&model) else {
        return;
    };
    let suite = picture(setup, &server).start().await;
    call(&suite, &model, "mcp__openclaw__test__image", json!({})).await;
    let asked = asked::turns(&model, 2).await[1].json();
    let asked = asked["messages"].to_string();
    assert!(
        asked.contains("\"image\"") && asked.contains("image/png"),
        "{asked}"
    );
}

#[tokio::test]
async fn twenty_megabytes_are_cut_like_the_output_of_a_command() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let suite = picture(Setup::anthropic(&model), &server).start().await;
    for (of, times) in [("0123456789", 2_000_000), ("ž\n", 10_000_000)] {
        let arguments = json!({"of": of, "times": times});
        let called = call(&suite, &model, "test__large", arguments).await;
        assert_eq!(called["success"], true, "{called}");
        let output = called["output"].as_str().unwrap();
        assert!(output.starts_with("first") && output.len() < 100_000);
        assert!(output.contains(" bytes elided …]"));
    }
}

#[tokio::test]
async fn instructions_of_a_server_reach_the_prompt_within_a_budget() {
    let model = Server::start().await.unwrap();
    let server = ToolServer::default();
    let long = format!("Mind the gap. {}", "x".repeat(100_000));
    let entry = server.entry(&json!({"instructions": long}));
    let setups = [Some(Setup::anthropic(&model)), Setup::claude(&model)];
    for setup in setups.into_iter().flatten() {
        model.forget();
        let suite = setup.set("mcp.servers.test", entry.clone()).start().await;
        suite.say("hello").await;
        let asked = asked::turns(&model, 1).await[0].json().to_string();
        assert!(asked.contains("Mind the gap."));
        assert!(!asked.contains(&"x".repeat(3000)));
    }
}

/// The server is ended, which is told, and there again with the next message.
#[tokio::test]
async fn result_of_more_than_can_be_held_is_refused_and_the_session_goes_on() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let suite = picture(Setup::anthropic(&model), &server).start().await;
    for (tool, why) in [
        (
            "test__values",
            "it sent a message of more than 524288 values",
        ),
        (
            "test__within",
            "it sent a message with more than 100 lists and objects",
        ),
    ] {
        let called = call(&suite, &model, tool, json!({})).await;
        assert_eq!(called["success"], false, "{called}");
        assert!(called.to_string().contains(why), "{called}");
        let called = call(&suite, &model, "test__count", json!({})).await;
        assert_eq!(called["success"], true, "{called}");
    }
}

#[tokio::test]
async fn words_of_an_error_are_told_as_far_as_somebody_reads_them() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let suite = picture(Setup::anthropic(&model), &server).start().await;
    let called = call(&suite, &model, "test__refuse", json!({})).await;
    assert_eq!(called["success"], false, "{called}");
    let told = called.to_string();
    assert!(
        told.contains("I refuse!") && told.len() < 16_384,
        "{}",
        told.len()
    );
}

#[tokio::test]
async fn tool_that_is_too_large_takes_no_other_away() {
    let (model, server) = (Server::start().await.unwrap(), ToolServer::default());
    let entry = server.entry(&json!({"bulky": 10_000_000}));
    let suite = Setup::anthropic(&model)
        .set("tools.exec.ask", "off")
        .set("mcp.servers.test", entry)
        .start()
        .await;
    let called = call(&suite, &model, "test__image", json!({})).await;
    assert_ne!(called["error"]["type"], "unknown_tool", "{called}");
    let called = call(&suite, &model, "test__bulky", json!({})).await;
    assert_eq!(called["error"]["type"], "unknown_tool", "{called}");
}
