use super::*;
use crate::wire::channel as wire;

fn hand_in(what: What) -> HandIn {
    HandIn {
        account: AccountName {
            channel: "telegram".to_owned(),
            account: "work".to_owned(),
        },
        key: "77".to_owned(),
        place: Place {
            chat: ChatKind::Group,
            id: "-100".to_owned(),
            former_id: "-5".to_owned(),
            thread: Some("4".to_owned()),
            title: "Garden".to_owned(),
        },
        sender: Person {
            id: "42".to_owned(),
            user_name: "ada".to_owned(),
            display_name: "Ada".to_owned(),
            is_bot: false,
        },
        sent_ms: 5,
        what,
    }
}

#[test]
fn hand_in_survives_the_wire() {
    let message = Message {
        text: "hello".to_owned(),
        provider_ids: vec!["1".to_owned(), "2".to_owned()],
        is_to_bot: true,
        is_edit: true,
        reply_to: Some(Quoted {
            provider_id: "0".to_owned(),
            text: "so?".to_owned(),
            sender: "Bo".to_owned(),
            is_own: true,
        }),
        attachments: vec![Attachment {
            file_id: "f".to_owned(),
            kind: "image".to_owned(),
            mime_type: "image/png".to_owned(),
            name: "a.png".to_owned(),
            size: 3,
            missing: "too large".to_owned(),
            is_waiting: true,
        }],
        texts: vec!["hello".to_owned(), String::new()],
    };
    let reaction = Reaction {
        provider_id: "1".to_owned(),
        emoji: vec!["👍".to_owned()],
        is_to_own: true,
    };
    let press = Press {
        data: "d".to_owned(),
        provider_id: "1".to_owned(),
    };
    let all = [
        What::Message(message),
        What::Reaction(reaction),
        What::Press(press),
        What::Membership(true),
    ];
    for what in all {
        let sent = hand_in(what);
        let heard = HandIn::try_from(wire::HandInRequest::from(sent.clone())).unwrap();
        assert_eq!(heard, sent);
    }
}

#[test]
fn hand_in_names_what_is_missing() {
    let of = |change: fn(&mut wire::HandInRequest)| {
        let mut request = wire::HandInRequest::from(hand_in(What::Membership(true)));
        change(&mut request);
        HandIn::try_from(request).unwrap_err().to_string()
    };
    assert!(of(|it| it.key.clear()).contains("field key is missing"));
    assert!(of(|it| it.place = None).contains("field place is missing"));
    assert!(of(|it| it.what = None).contains("field what is missing"));
    let chatless = of(|it| it.place.as_mut().unwrap().chat = 0);
    assert_eq!(chatless, "Place: field chat is missing");
}

#[test]
fn outcome_survives_the_wire_and_the_ledger() {
    let all = [
        Outcome::Taken(Taken {
            run_id: "r".to_owned(),
            session_key: "agent:main:main".to_owned(),
            agent_id: "main".to_owned(),
            is_command: true,
        }),
        Outcome::Ignored(Ignored {
            code: IgnoredCode::NotMentioned,
            reason: "nobody called".to_owned(),
        }),
        Outcome::Answered {
            text: "Allowed.".to_owned(),
        },
    ];
    for outcome in all {
        let kept = serde_json::to_string(&outcome).unwrap();
        assert_eq!(serde_json::from_str::<Outcome>(&kept).unwrap(), outcome);
        let handed_in = Answer::HandedIn(HandedIn {
            is_existing: true,
            outcome,
        });
        for sent in [handed_in, Answer::FilesWanted] {
            let heard = Answer::try_from(wire::HandInResponse::from(sent.clone())).unwrap();
            assert_eq!(heard, sent);
        }
    }
    for code in IgnoredCode::ALL {
        assert_eq!(IgnoredCode::parse(code.as_str()), code);
    }
}

#[test]
fn settings_survive_the_wire() {
    let json = serde_json::json!({"streaming": "off"});
    let sent = Instruction::Settings(Settings {
        json: json.as_object().unwrap().clone(),
        names: vec!["Ada".to_owned()],
        commands: vec![OfferedCommand {
            name: "stop".to_owned(),
            description: "Stop it".to_owned(),
        }],
    });
    for sent in [sent, Instruction::Retire("switched off".to_owned())] {
        let heard = Instruction::try_from(wire::AttendResponse::from(sent.clone())).unwrap();
        assert_eq!(heard, sent);
    }
}

#[test]
fn health_survives_the_wire() {
    for state in Connection::ALL {
        let health = Health {
            state,
            identity: "@bot".to_owned(),
            last_contact_ms: 1,
            last_error: "refused".to_owned(),
            last_error_ms: 2,
            backlog: 3,
            notes: vec!["privacy mode is on".to_owned()],
            waiting_until_ms: 4,
        };
        let sent = (AccountName::default(), health);
        let heard: (AccountName, Health) = wire::ReportHealthRequest::from(sent.clone())
            .try_into()
            .unwrap();
        assert_eq!(heard, sent);
    }
}
