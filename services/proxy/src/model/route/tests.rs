use super::*;

fn relay(api: Api, base_url: &str) -> Relay {
    Relay {
        api,
        base_url: base_url.to_owned(),
        mount: match api {
            Api::Responses => "/v1".to_owned(),
            _ => String::new(),
        },
        headers: Vec::new(),
        beta: None,
    }
}

/// The URL that a request goes to.
fn sent(api: Api, method: &str, target: &str) -> Option<String> {
    let base = match api {
        Api::Responses => "https://api.openai.com/v1/",
        _ => "https://api.example/base",
    };
    let relay = relay(api, base);
    let uri: Uri = target.parse().ok()?;
    let method: Method = method.parse().ok()?;
    match Route::of(&relay, &method, &uri)? {
        Route::Probe => Some("here".to_owned()),
        Route::Answer(target) | Route::Count(target) | Route::Models(target) => {
            Some(target.url(&relay)?.into())
        }
    }
}

#[test]
fn route_of_what_the_programs_ask_for_is_known() {
    for (api, method, target, url) in [
        (Api::Anthropic, "HEAD", "/", "here"),
        (
            Api::Anthropic,
            "POST",
            "/v1/messages?beta=true",
            "https://api.example/base/v1/messages?beta=true",
        ),
        (
            Api::Anthropic,
            "POST",
            "/v1/messages/count_tokens",
            "https://api.example/base/v1/messages/count_tokens",
        ),
        (
            Api::Responses,
            "POST",
            "/v1/responses",
            "https://api.openai.com/v1/responses",
        ),
        (
            Api::Responses,
            "POST",
            "/v1/responses/compact",
            "https://api.openai.com/v1/responses/compact",
        ),
        (
            Api::Responses,
            "GET",
            "/v1/models?client_version=0.169.0",
            "https://api.openai.com/v1/models?client_version=0.169.0",
        ),
        (
            Api::Bedrock,
            "POST",
            "/model/eu.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke",
            "https://api.example/base/model/eu.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke",
        ),
        (
            Api::Bedrock,
            "POST",
            "/model/anthropic.a%3A0/invoke-with-response-stream",
            "https://api.example/base/model/anthropic.a:0/invoke-with-response-stream",
        ),
        (
            Api::Bedrock,
            "POST",
            "/model/arn:aws:bedrock:eu-central-1:1:application-inference-profile%2Fabc/invoke",
            "https://api.example/base/model/arn:aws:bedrock:eu-central-1:1:application-inference-profile%2Fabc/invoke",
        ),
    ] {
        assert_eq!(sent(api, method, target).as_deref(), Some(url), "{target}");
    }
}

#[test]
fn route_of_everything_else_is_none() {
    let places = [
        "/",
        "/v1",
        "/v1/",
        "/v1/files",
        "/v1/messages/",
        "/v1/messages/batches",
        "/v1//messages",
        "//v1/messages",
        "/v1/./messages",
        "/v1/messages/..",
        "/v1/%2e%2e/api/oauth/claude_cli/create_api_key",
        "/v1/.%2E/x",
        "/v1/..%2fx",
        "/v1/..%5cx",
        "/v1/%6dessages",
        "/v1/messages%00",
        "/v1/messages%0d%0a",
        "/v1/messages%3Fx",
        "/v1/messages;x",
        "/v1/messages/count_tokens/..",
        "/v1/messages?beta=false",
        "/v1/messages?beta=true&x=1",
        "/v1/messages?",
        "/V1/messages",
        "/v1/models/x",
        "/v1/responses/resp_1",
        "/v1/responses/resp_1/cancel",
        "/v1/responses?x=1",
        "/v1/chat/completions",
        "/v1/models?client_version=../x",
        "/v1/models?client_version=",
        "/v1/models?after=x",
        "/responses",
        "/model/us.amazon.nova-pro-v1:0/invoke",
        "/model/anthropic-a/invoke",
        "/model/anthropic.x/converse",
        "/model//invoke",
        "/model/../invoke",
        "/model/./invoke",
        "/model/a..b/invoke",
        "/model/%2e%2e/invoke",
        "/model/a%2Fb/invoke",
        "/model/a%2fb/invoke",
        "/model/a%3a0/invoke",
        "/model/a%253A/invoke",
        "/model/a%5Cb/invoke",
        "/model/a/invoke/x",
        "/model/a/invoke?x",
        "/model/a/b/invoke",
        "/model/arn:aws:x:inference-profile%2F..%2Fx/invoke",
        "/model/arn:aws:x:inference-profile%2Fx%2Fy/invoke",
        "/inference-profiles?type=SYSTEM_DEFINED",
        "http://evil.example/v1/messages",
        "https://api.example/base/v1/messages",
        "api.example:443",
        "*",
    ];
    for api in [Api::Anthropic, Api::Bedrock, Api::Responses, Api::Chat] {
        for method in [
            "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE",
        ] {
            for place in places {
                assert_eq!(sent(api, method, place), None, "{api:?} {method} {place}");
            }
        }
    }
    for (api, method, place) in [
        (Api::Anthropic, "GET", "/v1/messages"),
        (Api::Anthropic, "HEAD", "/v1/messages"),
        (Api::Anthropic, "HEAD", "/?x"),
        (Api::Anthropic, "GET", "/v1/models"),
        (Api::Anthropic, "POST", "/v1/responses"),
        (Api::Responses, "POST", "/v1/messages"),
        (Api::Responses, "POST", "/v1/models"),
        (Api::Responses, "GET", "/v1/responses"),
        (Api::Bedrock, "POST", "/v1/messages"),
        (Api::Bedrock, "GET", "/model/a/invoke"),
    ] {
        assert_eq!(sent(api, method, place), None, "{api:?} {method} {place}");
    }
}

#[test]
fn url_is_that_of_the_base_and_nothing_else() {
    let target = |path: &str| Target::new(path);
    for base in ["mailto:x", "not a url", "data:text/plain,x", ""] {
        assert_eq!(
            target("/v1/messages").url(&relay(Api::Anthropic, base)),
            None,
            "{base}"
        );
    }
    let base = relay(Api::Anthropic, "https://api.example:8443/base");
    for path in ["/../x", "/%2e%2e/x", "/a/../../x", "\\..\\x"] {
        assert_eq!(target(path).url(&base), None, "{path}");
    }
}
