use serde_json::json;

use super::*;

fn judged(api: Api, body: &Value, grants: &Grants) -> Result<Value, Unfit> {
    let judged = judge(
        api,
        body.to_string().as_bytes(),
        grants,
        None,
        &ModelOptions::default(),
    )?;
    Ok(serde_json::from_slice(&judged.bytes).unwrap())
}

fn passes(api: Api, body: &Value) -> Value {
    judged(api, body, &Grants::default()).unwrap_or_else(|why| panic!("{why}: {body}"))
}

fn is_refused(api: Api, body: &Value) {
    assert!(judged(api, body, &Grants::default()).is_err(), "{body}");
}

#[test]
fn request_is_written_anew_as_it_was_read() {
    let twice = br#"{"model":"a","messages":[],"mcp_servers":[],"model":"b","max_tokens":7}"#;
    let judged = judge(
        Api::Anthropic,
        twice,
        &Grants::default(),
        None,
        &ModelOptions::default(),
    )
    .unwrap();
    assert_eq!(
        &judged.bytes[..],
        br#"{"model":"b","messages":[],"max_tokens":7}"#
    );
    assert_eq!((judged.model.as_str(), judged.most_output), ("b", Some(7)));
    let named = judge(
        Api::Chat,
        br#"{"model":"dear"}"#,
        &Grants::default(),
        Some("mine"),
        &ModelOptions::default(),
    );
    assert_eq!(&named.unwrap().bytes[..], br#"{"model":"mine"}"#);
    let of_bytes = |body: &[u8]| {
        judge(
            Api::Anthropic,
            body,
            &Grants::default(),
            None,
            &ModelOptions::default(),
        )
    };
    let deep = format!(r#"{{"messages":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    for body in [
        "",
        "[]",
        "null",
        "{\"model\":\"a\"} x",
        "{\"model\":\"a\"}{\"model\":\"b\"}",
        "{\"model\":",
        "{model: 1}",
        "{\"a\":\"\u{0}\"}",
        &deep,
    ] {
        let judged = of_bytes(body.as_bytes());
        assert!(matches!(judged, Err(Unfit::Malformed(_))), "{body:.40}");
    }
    let wide = format!("{{\"model\":[{}0]}}", "0,".repeat(MOST_VALUES));
    assert_eq!(of_bytes(wide.as_bytes()).unwrap_err(), Unfit::TooMuch);
    let broken = b"{\"model\":\"\xff\"}";
    assert!(of_bytes(broken).is_err());
}

#[test]
fn messages_request_of_the_program_goes_through_as_it_is() {
    let body = json!({
        "model": "claude-opus-4-8", "max_tokens": 64000, "stream": true,
        "system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "d"}},
            ]},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t", "name": "f",
                    "input": {"source": {"type": "url", "url": "http://x"}, "file_id": "f", "image_url": "http://x"}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": [
                    {"type": "web_search_result", "url": "https://x", "title": "t", "encrypted_content": "e"}]},
            ]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "see http://x"}]},
        ],
        "tools": [
            {"name": "f", "input_schema": {"type": "object", "properties": {"file_id": {"type": "string"}}}},
            {"type": "custom", "name": "g", "input_schema": {}},
            {"type": "bash_20250124", "name": "bash"},
            {"type": "text_editor_20250728", "name": "e"},
            {"type": "memory_20250818", "name": "memory"},
            {"type": "tool_search_tool_regex_20251119", "name": "s"},
        ],
        "tool_choice": {"type": "auto"},
        "metadata": {"user_id": "u"}, "thinking": {"type": "adaptive"},
        "context_management": {"edits": []}, "output_config": {"effort": "high"},
    });
    assert_eq!(passes(Api::Anthropic, &body), body);
}

#[test]
fn messages_request_cannot_have_the_provider_carry_data_out() {
    let with = |name: &str, value: Value| {
        let mut body = json!({"model": "m", "messages": []});
        body[name] = value;
        body
    };
    let said = |block: Value| with("messages", json!([{"role": "user", "content": [block]}]));
    for body in [
        with("mcp_servers", json!([{"type": "url", "url": "https://x"}])),
        with("mcp_servers", json!({"a": 1})),
        with("container", json!("c")),
        with(
            "container",
            json!({"skills": [{"type": "anthropic", "skill_id": "pdf"}]}),
        ),
        with(
            "tools",
            json!([{"type": "web_fetch_20250910", "name": "web_fetch"}]),
        ),
        with(
            "tools",
            json!([{"type": "web_search_20250305", "name": "web_search"}]),
        ),
        with(
            "tools",
            json!([{"type": "code_execution_20250825", "name": "c"}]),
        ),
        with(
            "tools",
            json!([{"type": "mcp_toolset", "mcp_server_name": "x"}]),
        ),
        with("tools", json!([{"type": "newest_thing_20300101"}])),
        with(
            "tools",
            json!([{"type": ["web_fetch_20250910"], "name": "w"}]),
        ),
        with("tools", json!(["web_fetch"])),
        with("tools", json!({"type": "web_fetch_20250910"})),
        said(json!({"type": "image", "source": {"type": "url", "url": "https://x/?d=1"}})),
        said(json!({"type": "image", "source": {"type": "URL", "url": "https://x/?d=1"}})),
        // Under a name that the API does not know today.
        said(json!({"type": "image", "sourc(": {"type": "url", "url": "https://x/?d=1"}})),
        said(json!({"type": "document", "source": {"type": "url", "url": "http://x"}})),
        said(json!({"type": "document", "source": {"type": "file", "file_id": "f"}})),
        said(
            json!({"type": "document", "source": {"type": "content", "content": [
            {"type": "image", "source": {"type": "url", "url": "https://x"}}]}}),
        ),
        said(json!({"type": "container_upload", "file_id": "f"})),
        said(
            json!({"type": "tool_result", "tool_use_id": "t", "content": [
            {"type": "image", "source": {"type": "url", "url": "https://x"}}]}),
        ),
        with(
            "system",
            json!([{"type": "image", "source": {"type": "url", "url": "https://x"}}]),
        ),
        with("anthropic_beta", json!("web-fetch-2025-09-10")),
        with("model", json!("perplexity/sonar")),
        with("model", json!("claude-x:online")),
    ] {
        is_refused(Api::Anthropic, &body);
        is_refused(Api::Bedrock, &body);
        let open = judged(Api::Anthropic, &body, &Grants::everything());
        let is_shape = matches!(open, Err(Unfit::Shape { .. }));
        assert!(is_shape || open.is_ok(), "{open:?} {body}");
    }
}

#[test]
fn tool_of_the_provider_is_left_out_where_others_remain() {
    let body = json!({
        "model": "m", "messages": [],
        "tools": [{"name": "f"}, {"type": "web_search_20250305", "name": "web_search"}],
    });
    let tools = passes(Api::Anthropic, &body)["tools"].clone();
    assert_eq!(tools, json!([{"name": "f"}]));
    let search = Grants::only(&[ProviderTool::WebSearch], &[]);
    assert_eq!(judged(Api::Anthropic, &body, &search).unwrap(), body);
    let mut forced = body.clone();
    forced["tool_choice"] = json!({"type": "tool", "name": "web_search"});
    is_refused(Api::Anthropic, &forced);
    let codex = json!({
        "model": "m", "input": [],
        "tools": [
            {"type": "function", "name": "f"},
            {"type": "web_search", "external_web_access": true},
            {"type": "namespace", "name": "mcp__x", "tools": [{"type": "function", "name": "g"}, {"type": "mcp"}]},
        ],
    });
    let tools = passes(Api::Responses, &codex)["tools"].clone();
    assert_eq!(
        tools[1]["tools"],
        json!([{"type": "function", "name": "g"}])
    );
    assert_eq!(tools.as_array().unwrap().len(), 2);
    for choice in [
        json!({"type": "web_search"}),
        json!({"type": "file_search"}),
        json!({"type": "allowed_tools", "tools": [{"type": "web_search"}]}),
    ] {
        let mut forced = codex.clone();
        forced["tool_choice"] = choice;
        is_refused(Api::Responses, &forced);
    }
}

#[test]
fn tool_of_the_provider_is_left_out_of_what_was_said_before() {
    let own = json!({"type": "function", "name": "f"});
    let call =
        json!({"type": "tool_use", "id": "t", "name": "f", "input": {"tools": [{"type": "mcp"}]}});
    for (api, said, bringer) in [
        (
            Api::Responses,
            "input",
            json!({"type": "additional_tools", "role": "developer"}),
        ),
        (
            Api::Responses,
            "input",
            json!({"type": "tool_search_output", "call_id": "c"}),
        ),
        (
            Api::Chat,
            "messages",
            json!({"role": "user", "content": "x"}),
        ),
        (
            Api::Anthropic,
            "messages",
            json!({"role": "assistant", "content": [call]}),
        ),
    ] {
        let mut item = bringer.clone();
        item["tools"] = json!([own, {"type": "web_search"}, {"type": "mcp", "connector_id": "c"}]);
        let body = json!({"model": "m", said: [item]});
        let sent = passes(api, &body)[said][0].clone();
        let kept: Vec<_> = sent["tools"].as_array().unwrap().iter().collect();
        assert!(
            !kept
                .iter()
                .any(|tool| tool["type"] == "web_search" || tool["type"] == "mcp")
        );
        assert_eq!(sent["content"], bringer["content"]);
    }
}

#[test]
fn field_that_nobody_knows_or_that_costs_more_is_left_out() {
    let body = json!({
        "model": "m", "messages": [], "speed": "fast", "service_tier": "priority",
        "fallbacks": [{"model": "dear"}], "newest": 1,
        "anthropic_beta": ["interleaved-thinking-2025-05-14", "web-fetch-2025-09-10"],
    });
    let sent = passes(Api::Bedrock, &body);
    let expected = json!({
        "model": "m", "messages": [], "anthropic_beta": ["interleaved-thinking-2025-05-14"],
    });
    assert_eq!(sent, expected);
    let open = judged(Api::Bedrock, &body, &Grants::everything()).unwrap();
    assert!(open["newest"] == 1 && open.get("speed").is_none(), "{open}");
}

#[test]
fn responses_request_of_the_program_goes_through_and_is_not_kept() {
    let body = json!({
        "model": "gpt-5", "stream": true, "store": true, "parallel_tool_calls": true,
        "input": [
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "see http://x"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
                {"type": "input_file", "filename": "a", "file_data": "data:text/plain;base64,AA=="},
            ]},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{\"image_url\":\"http://x\"}"},
            {"type": "web_search_call", "action": {"type": "search", "url": "https://x"}},
        ],
        "tools": [
            {"type": "function", "name": "f", "parameters": {"properties": {"image_url": {"type": "string"}}}},
            {"type": "custom", "name": "apply_patch"}, {"type": "local_shell"},
            {"type": "shell", "environment": {"type": "local"}},
        ],
        "tool_choice": "auto", "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k",
    });
    let mut expected = body.clone();
    expected["store"] = false.into();
    assert_eq!(passes(Api::Responses, &body), expected);
}

#[test]
fn responses_request_cannot_have_the_provider_carry_data_out() {
    let with = |name: &str, value: Value| {
        let mut body = json!({"model": "m", "input": []});
        body[name] = value;
        body
    };
    let said = |part: Value| with("input", json!([{"role": "user", "content": [part]}]));
    for body in [
        with("background", json!(true)),
        with("previous_response_id", json!("resp_1")),
        with("conversation", json!("conv_1")),
        with("prompt", json!({"id": "pmpt_1"})),
        with("tools", json!([{"type": "web_search_preview"}])),
        with("tools", json!([{"type": "web_search"}])),
        with(
            "tools",
            json!([{"type": "file_search", "vector_store_ids": ["v"]}]),
        ),
        with(
            "tools",
            json!([{"type": "code_interpreter", "container": {"type": "auto"}}]),
        ),
        with("tools", json!([{"type": "image_generation"}])),
        with("tools", json!([{"type": "mcp", "server_url": "https://x"}])),
        with("tools", json!([{"type": "shell"}])),
        with(
            "tools",
            json!([{"type": "shell", "environment": {"type": "container_auto"}}]),
        ),
        with("tools", json!([{"name": "untyped"}])),
        with("input", json!([{"type": "item_reference", "id": "i"}])),
        // The API takes these for references too.
        with("input", json!([{"id": "msg_1"}])),
        with("input", json!([{"type": null, "id": "msg_1"}])),
        with("input", json!([{"type": "", "role": "", "id": "msg_1"}])),
        said(json!({"type": "input_file", "file_data": "https://x/?d=1"})),
        said(json!({"type": "input_video", "video": "https://x"})),
        said(json!({"type": "input_image", "image_url": "https://x/?d=1"})),
        said(json!({"type": "input_image", "image_url": "HTTP://x"})),
        said(json!({"type": "input_image", "file_id": "f"})),
        said(json!({"type": "input_file", "file_url": "https://x"})),
        said(json!({"type": "input_file", "file_id": "f"})),
        with(
            "input",
            json!([{"type": "function_call_output", "call_id": "c", "output": [
            {"type": "input_image", "image_url": "https://x"}]}]),
        ),
        with(
            "input",
            json!([{"type": "computer_call_output", "output": {"image_url": "//x"}}]),
        ),
        with("model", json!("o3-deep-research")),
    ] {
        is_refused(Api::Responses, &body);
    }
}

#[test]
fn chat_request_cannot_have_the_provider_carry_data_out() {
    let with = |name: &str, value: Value| {
        let mut body = json!({"model": "m", "messages": []});
        body[name] = value;
        body
    };
    let said = |part: Value| with("messages", json!([{"role": "user", "content": [part]}]));
    for body in [
        with("web_search_options", json!({})),
        with("tools", json!([{"type": "web_search"}])),
        with(
            "tools",
            json!([{"type": "builtin_function", "function": {"name": "$web_search"}}]),
        ),
        said(json!({"type": "image_url", "image_url": {"url": "https://x/?d=1"}})),
        said(json!({"type": "image_url", "image_url": "https://x"})),
        said(json!({"type": "video_url", "video_url": {"url": "https://x"}})),
        said(json!({"type": "file", "file": {"file_id": "f"}})),
        said(json!({"type": "file", "file": {"filename": "a", "file_data": "https://x/?d=1"}})),
        said(json!({"type": "file", "file": {"file_data": " gs://bucket/x"}})),
        said(json!({"type": "image", "image": "https://x/?d=1"})),
        said(json!({"type": "image", "url": "HTTPS://x", "detail": "low"})),
        said(json!({"type": "media", "mimeType": "image/png", "file_uri": "gs://bucket/x"})),
    ] {
        is_refused(Api::Chat, &body);
    }
    let plugins = passes(Api::Chat, &with("plugins", json!([{"id": "web"}])));
    assert!(plugins.get("plugins").is_none());
    for part in [
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,A"}}),
        json!({"type": "file", "file": {"filename": "https://x", "file_data": "data:a/b;base64,A"}}),
        json!({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}),
        json!({"type": "image", "image": "iVBORw0KGgo="}),
    ] {
        let data = said(part);
        assert_eq!(passes(Api::Chat, &data), data);
    }
}

#[test]
fn url_may_be_fetched_from_hosts_of_the_list_alone() {
    let hosts = Grants::only(&[], &["pictures.example", "*.files.example:8443"]);
    let fetched = |url: &str| {
        let image = json!({"type": "image", "source": {"type": "url", "url": url}});
        let body = json!({"model": "m", "messages": [{"role": "user", "content": [image]}]});
        judged(Api::Anthropic, &body, &hosts).is_ok()
    };
    assert!(fetched("https://pictures.example/a.png"));
    assert!(fetched("https://a.files.example:8443/a"));
    for url in [
        "https://pictures.example:8443/a",
        "https://pictures.example.evil.example/a",
        "https://pictures.example@evil.example/a",
        "https://user:word@pictures.example/a",
        "https:\\\\evil.example\\pictures.example",
        "ftp://pictures.example/a",
        "s3://pictures.example/a",
        "//pictures.example/a",
        "pictures.example/a",
        "",
    ] {
        assert!(!fetched(url), "{url}");
    }
}

/// Forms of servers that speak an API of these and more than it says.
#[test]
fn content_is_named_in_no_other_form_either() {
    let parts = [
        json!({"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/x", "bucketOwner": "9"}}}}),
        json!({"type": "video", "video": ["https://x/1", "https://x/2"]}),
        json!({"type": "input_audio", "input_audio": {"data": "https://x"}}),
        json!({"input_audio": {"data": "https://x"}}),
        json!({"type": "image", "image": {"uri": "https://x"}}),
        json!({"type": "file", "file": {"uri": "https://x"}}),
        json!({"fileData": {"fileUri": "https://x"}}),
        json!({"type": "text", "text": "x", "images": ["https://x"]}),
        json!({"imageUrl": "https://x"}),
        json!({"image_url": ["https://x"]}),
        json!({"image_url": {"url": ["https://x"]}}),
        json!({"type": "image", "source": {"type": "gcs", "uri": "gs://b/x"}}),
        json!({"type": "image", "source": [{"type": "url", "url": "https://x", "a": 1}]}),
        json!({"type": "image", "source": "https://x"}),
        json!({"type": "file", "file": {"file_data": format!("{}https://x", " ".repeat(600))}}),
        json!({"type": "image", "image": format!("{}https://x", "\n".repeat(45))}),
        json!({"type": "image", "image": "\u{feff}\u{200b}https://x"}),
        json!({"type": "image", "image": "ht\ntps:/\t/x"}),
        json!({"type": "image", "image": "//x.example/y"}),
        json!({"type": "image", "image": "\\\\x.example\\y"}),
        json!({"type": "image", "image": "s3:b"}),
        json!({"type": "later", "place": {"deep": [["wss://x"]]}}),
        json!({"type": "later", "place": "HTTPS:x"}),
        json!({"type": "later", "place": "any+thing://x"}),
        json!({"type": "later", "url": "https://x"}),
    ];
    for part in parts {
        for (api, list) in [
            (Api::Anthropic, "messages"),
            (Api::Bedrock, "messages"),
            (Api::Chat, "messages"),
            (Api::Responses, "input"),
        ] {
            let message = json!({"type": "message", "role": "user", "content": [part]});
            let mut body = json!({"model": "m", "max_tokens": 1});
            body[list] = json!([message]);
            is_refused(api, &body);
            body[list] = json!([{"type": "message", "role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "content": [part]}]}]);
            is_refused(api, &body);
        }
    }
}

/// What begins as an address is none where it is read, was found, or is a tool's own.
#[test]
fn words_are_no_addresses_whatever_they_begin_with() {
    let parts = [
        json!({"type": "text", "text": "https://x", "citations": [
            {"type": "web_search_result_location", "url": "https://x", "title": "https://x", "cited_text": "https://x"}]}),
        json!({"type": "thinking", "thinking": "https://x", "signature": "s"}),
        json!({"type": "document", "title": "https://x", "context": "s3://x",
            "source": {"type": "text", "media_type": "text/plain", "data": "https://x is where"}}),
        json!({"type": "search_result", "source": "https://x", "title": "t", "content": [{"type": "text", "text": "t"}]}),
        json!({"type": "tool_result", "tool_use_id": "t", "content": "//x"}),
        json!({"type": "tool_use", "id": "t", "name": "f", "input": {"url": "https://x", "all": ["https://x"]}}),
        json!({"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["curl", "https://x"]}}),
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "//79AAA="}, "note": "a: b"}),
        json!({"type": "later", "when": "12:30", "id": "urn:a", "what": "note: x", "path": "/etc/x"}),
    ];
    for part in parts {
        let body = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": [part]}]});
        assert_eq!(passes(Api::Anthropic, &body)["messages"], body["messages"]);
    }
    let said = json!({"model": "m", "max_tokens": 1, "system": "https://x",
        "messages": [{"role": "user", "content": "https://x"}, {"role": "user", "content": ["https://x"]}]});
    assert_eq!(passes(Api::Anthropic, &said)["messages"], said["messages"]);
}
