use proptest::prelude::*;
use serde_json::json;

use super::*;

fn settings(section: serde_json::Value) -> Gateway {
    let (gateway, hooks) = (serde_json::from_value(section).unwrap(), Default::default());
    Gateway::resolve(&gateway, &hooks, "f").unwrap()
}

fn ask(headers: &[(&'static str, &str)], settings: &Gateway) -> Result<Peer, Misdirected> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, value.parse().unwrap());
    }
    let addr: std::net::SocketAddr = "127.0.0.1:5000".parse().unwrap();
    identify(&map, addr, settings)
}

#[test]
fn names_of_the_loopback_and_addresses_are_ours() {
    let settings = settings(json!({"allowedHosts": ["Claw.Example"]}));
    for host in [
        "localhost",
        "LOCALHOST:18789",
        "claw.localhost",
        "127.0.0.1:18789",
        "[::1]:18789",
        "192.168.1.7:18789",
        "claw.example:443",
    ] {
        assert!(ask(&[("host", host)], &settings).is_ok(), "{host}");
    }
}

#[test]
fn guard_other_names_are_not() {
    let settings = settings(json!({}));
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.nip.io",
        "evil.example:18789",
    ] {
        let refused = ask(&[("host", host)], &settings).unwrap_err();
        assert_eq!(refused, Misdirected::Host(host.to_owned()));
    }
    for headers in [
        &[][..],
        &[("host", "")],
        &[("host", "a@localhost")],
        &[("host", "[::1]r-x")],
        &[("host", "[::1].evil.example:80")],
    ] {
        assert_eq!(ask(headers, &settings).unwrap_err(), Misdirected::NoHost);
    }
    let twice = [("host", "localhost"), ("host", "evil.example")];
    assert!(ask(&twice, &settings).is_err());
}

#[test]
fn pages_of_the_port_itself_and_allowed_ones_may() {
    let settings = settings(json!({"controlUi": {"allowedOrigins": ["https://UI.example/"]}}));
    let ok = |host: &str, origin: &str| {
        ask(&[("host", host), ("origin", origin)], &settings)
            .unwrap()
            .origin_ok
    };
    assert!(ok("localhost:18789", "http://localhost:18789"));
    assert!(ok("127.0.0.1:18789", "https://ui.example"));
    assert!(
        ok("ui.example", "https://ui.example"),
        "an allowed origin's own name"
    );
    for origin in [
        "null",
        "http://evil.example",
        "http://localhost:5173",
        "http://127.0.0.1:18789",
    ] {
        assert!(!ok("localhost:18789", origin), "{origin}");
    }
}

#[test]
fn unknown_proxy_is_refused_and_a_known_one_believed() {
    let headers = [
        ("host", "localhost"),
        ("x-forwarded-for", "8.8.8.8, 10.0.0.9"),
    ];
    assert_eq!(
        ask(&headers, &settings(json!({}))).unwrap_err(),
        Misdirected::Proxy
    );
    let known = settings(json!({"trustedProxies": ["127.0.0.1", "10.0.0.9"]}));
    let peer = ask(&headers, &known).unwrap();
    assert_eq!(peer.addr.ip().to_string(), "8.8.8.8");
    assert!(!peer.is_local_program());
    // What a client wrote itself is no address that a proxy saw.
    for unreadable in ["8.8.8.8, 1.1.1.1:80", "8.8.8.8, unknown, 10.0.0.9"] {
        let headers = [("host", "localhost"), ("x-forwarded-for", unreadable)];
        let peer = ask(&headers, &known).unwrap();
        assert_eq!(peer.addr.ip().to_string(), "127.0.0.1", "{unreadable}");
        assert!(!peer.is_local_program());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever a page's name is: it is refused unless it is the loopback's.
    #[test]
    fn guard_no_name_of_a_page_is_taken_for_ours(name in "[a-z0-9]{1,12}(\\.[a-z0-9]{1,12}){1,3}") {
        let none = settings(json!({}));
        let literal = name.parse::<IpAddr>().is_ok();
        let ours = literal || name.ends_with(".localhost");
        prop_assert_eq!(ask(&[("host", &name)], &none).is_ok(), ours);
        let origin = format!("http://{name}");
        let peer = ask(&[("host", "localhost:18789"), ("origin", &origin)], &none).unwrap();
        prop_assert!(!peer.origin_ok);
    }

    /// No header makes the guard fail in another way than by an answer.
    #[test]
    fn guard_any_header_gets_an_answer(host in "[ -~]{0,60}", origin in "[ -~]{0,60}") {
        let none = settings(json!({}));
        let _ = ask(&[("host", &host), ("origin", &origin)], &none);
    }
}
