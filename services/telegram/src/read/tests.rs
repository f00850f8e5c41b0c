use serde_json::json;

use super::*;

fn reader() -> Reader {
    Reader {
        bot_id: 9,
        bot_name: "Claw_bot".into(),
        options: Options {
            names: vec!["Molty".into()],
            ..Options::default()
        },
    }
}

fn read(update: &Value) -> Incoming {
    reader().read(&update.to_string()).unwrap().unwrap()
}

fn said(message: &Value) -> (Incoming, Said) {
    let incoming = read(&json!({"update_id": 1, "message": message}));
    let What::Message(said) = incoming.what.clone() else {
        panic!()
    };
    (incoming, said)
}

fn private(text: &str) -> Value {
    json!({"message_id": 5, "date": 7, "chat": {"id": 3, "type": "private", "first_name": "Ann"},
        "from": {"id": 3, "first_name": "Ann", "last_name": "B"}, "text": text})
}

fn group(text: &str, entity: Value) -> Value {
    json!({"message_id": 5, "chat": {"id": -3, "type": "supergroup", "title": "G"},
        "from": {"id": 4, "first_name": "Bob", "username": "bob"}, "text": text,
        "entities": [entity]})
}

#[test]
fn reader_reads_a_private_message() {
    let (incoming, said) = said(&private("hello"));
    assert_eq!((incoming.place.id.as_str(), incoming.sent_ms), ("3", 7000));
    assert_eq!(incoming.sender.display_name, "Ann B");
    assert!(said.is_to_bot && !incoming.is_urgent && incoming.burst.is_some());
    assert_eq!(said.provider_ids, ["5"]);
}

#[test]
fn reader_lets_a_stop_wait_for_nothing() {
    for text in [
        "/stop",
        "/abort",
        "Stop!",
        "halt",
        "Стоп.",
        "stop the agent",
    ] {
        let (incoming, _) = said(&private(text));
        assert!(incoming.is_urgent && incoming.burst.is_none(), "{text}");
    }
    assert!(!said(&private("stop it please")).0.is_urgent);
    assert_eq!(said(&private("/new")).0.burst, None);
}

#[test]
fn reader_knows_when_a_group_speaks_to_the_bot() {
    let entity = |kind: &str, offset: usize, length: usize| json!({"type": kind, "offset": offset, "length": length});
    let of = |text: &str, it: Value| {
        let said = said(&group(text, it)).1;
        (said.is_to_bot, said.text)
    };
    assert_eq!(
        of("@claw_bot hi", entity("mention", 0, 9)),
        (true, "hi".into())
    );
    assert_eq!(
        of("😀 @claw_bot", entity("mention", 3, 9)),
        (true, "😀 @claw_bot".into())
    );
    // A stop is one wherever it is addressed.
    let stop = "Stop, @claw_bot!";
    let (incoming, message) = said(&group(stop, entity("mention", 6, 9)));
    assert!(incoming.is_urgent && message.is_to_bot, "{}", message.text);
    assert_eq!(
        of("@other hi", entity("mention", 0, 6)),
        (false, "@other hi".into())
    );
    let own = "/new@Claw_bot x";
    assert_eq!(
        of(own, entity("bot_command", 0, 13)),
        (true, "/new x".into())
    );
    assert!(!of("/new@other", entity("bot_command", 0, 10)).0);
    assert!(of("hey molty?", json!({})).0 && !of("moltys", json!({})).0);
    // Past the end, and in the middle of a pair of units.
    assert!(!of("😀", entity("mention", 1, 900)).0);
}

#[test]
fn reader_reads_topics_replies_and_edits() {
    let (incoming, said) = said(&json!({"message_id": 5, "message_thread_id": 2,
        "is_topic_message": true, "chat": {"id": -3, "type": "supergroup", "is_forum": true},
        "from": {"id": 4}, "text": "x", "reply_to_message": {"message_id": 2, "from": {"id": 9}}}));
    assert_eq!(incoming.place.thread.as_deref(), Some("2"));
    assert!(said.reply_to.is_none() && !said.is_to_bot);
    let (incoming, said) = self::said(&json!({"message_id": 5,
        "chat": {"id": -3, "type": "supergroup", "is_forum": true}, "from": {"id": 4}, "text": "x",
        "reply_to_message": {"message_id": 4, "text": "mine", "from": {"id": 9, "is_bot": true}}}));
    assert_eq!(incoming.place.thread.as_deref(), Some(GENERAL));
    assert!(said.is_to_bot && said.reply_to.unwrap().is_own);
    let edit = read(&json!({"update_id": 1, "edited_message": private("better")}));
    assert!(edit.burst.is_none());
    assert!(matches!(edit.what, What::Message(said) if said.is_edit));
}

#[test]
fn reader_finds_files_and_says_which_are_too_large() {
    let (incoming, said) = said(
        &json!({"message_id": 5, "chat": {"id": 3, "type": "private"},
        "from": {"id": 3}, "caption": "look", "media_group_id": "8",
        "photo": [{"file_id": "s", "file_size": 10}, {"file_id": "l", "file_size": 900}],
        "document": {"file_id": "d", "file_size": 30_000_000, "file_name": "a.zip"}}),
    );
    assert_eq!(said.text, "look");
    assert_eq!(incoming.burst.as_deref(), Some("album 8"));
    assert_eq!(incoming.files[0].reference, "l");
    let document = &incoming.files[1];
    assert!(document.reference.is_empty());
    assert!(document.attachment.missing.contains("20 MB"));
}

#[test]
fn reader_says_what_a_message_has_that_is_neither_words_nor_a_file() {
    let of = |kind: &str, what: Value| {
        let mut message = private("");
        message[kind] = what;
        said(&message).1.text
    };
    let options = json!([{"text": "Tea", "voter_count": 1}, {"text": "Milk"}]);
    let poll = json!({"id": "1", "question": "Which?", "options": options});
    assert_eq!(of("poll", poll), "[poll Which?: Tea | Milk]");
    let list = json!({"title": "Buy", "tasks": [{"id": 1, "text": "bread"}]});
    assert_eq!(of("checklist", list), "[checklist Buy: bread]");
    let dice = json!({"emoji": "🎲", "value": 4});
    assert_eq!(of("dice", dice), "[dice 🎲 4]");
    assert_eq!(of("game", json!({"title": "Chess"})), "[game Chess]");
    let venue = json!({"location": {"latitude": 1.5, "longitude": 2.5}, "title": "Inn",
        "address": "Road 1"});
    assert_eq!(of("venue", venue), "[venue Inn, Road 1, 1.5, 2.5]");
    for kind in ["story", "paid_media", "giveaway", "giveaway_winners"] {
        let text = of(kind, json!({"id": 1}));
        assert!(text.contains("cannot be had"), "{kind}: {text}");
    }
    let mut paid = private("");
    paid["paid_media"] = json!({});
    paid["caption"] = "look".into();
    assert!(said(&paid).1.text.starts_with("look\n[paid media"));
    // Nobody said anything.
    let mut joined = private("");
    joined["new_chat_members"] = json!([{"id": 4}]);
    let joined = json!({"update_id": 1, "message": joined}).to_string();
    assert_eq!(reader().read(&joined).unwrap(), None);
}

#[test]
fn reader_reads_presses_reactions_and_memberships() {
    let press = read(
        &json!({"update_id": 1, "callback_query": {"id": "77", "data": "a:1",
        "from": {"id": 3}, "message": private("?")}}),
    );
    assert_eq!((press.reference.as_str(), press.is_urgent), ("77", true));
    let pressed = |data: &str| {
        let mut message = private("?");
        message["reply_markup"] = json!({"inline_keyboard": [
            [{"text": "Open", "url": "https://a"}, {"text": "A long label", "callback_data": "label:2"}]]});
        let update = json!({"update_id": 1, "callback_query": {"id": "77", "data": data,
            "from": {"id": 3}, "message": message}});
        match read(&update).what {
            What::Press(press) => press.data,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pressed("label:2"), "say:A long label");
    assert_eq!(
        (pressed("label:3"), pressed("a:1")),
        ("label:3".into(), "a:1".into())
    );
    let reaction = read(
        &json!({"update_id": 1, "message_reaction": {"chat": {"id": 3,
        "type": "private"}, "message_id": 6, "user": {"id": 3},
        "new_reaction": [{"type": "emoji", "emoji": "👍"}, {"type": "paid"}]}}),
    );
    assert!(matches!(reaction.what, What::Reaction(it) if it.emoji == ["👍"]));
    let gone = read(
        &json!({"update_id": 1, "my_chat_member": {"chat": {"id": -3,
        "type": "group"}, "from": {"id": 3}, "new_chat_member": {"status": "kicked"}}}),
    );
    assert_eq!(gone.what, What::Membership(false));
}

#[test]
fn reader_names_a_kind_that_it_does_not_know() {
    let unknown = json!({"update_id": 1, "telepathy": {}}).to_string();
    assert!(reader().read(&unknown).unwrap_err().contains("telepathy"));
    assert!(reader().read("{").is_err() && reader().read("[]").is_err());
    // Newer than this daemon.
    let (_, said) = said(
        &json!({"message_id": 5, "chat": {"id": 3, "type": "hive"}, "text": "x",
        "from": {"id": 4}, "entities": [{"type": "aura", "offset": 0, "length": 1}]}),
    );
    assert_eq!(said.text, "x");
}

#[test]
fn reader_tells_what_was_forwarded_from_what_is_said() {
    let of = |text: &str, origin: Value| {
        let mut message = private(text);
        message["forward_origin"] = origin;
        said(&message)
    };
    let user =
        json!({"type": "user", "sender_user": {"id": 5, "first_name": "Eve", "last_name": "X"}});
    let hidden = json!({"type": "hidden_user", "sender_user_name": "Nobody]\nx"});
    let chat = json!({"type": "chat", "sender_chat": {"id": -5, "title": "Club"}});
    let channel = json!({"type": "channel", "chat": {"id": -6, "title": "News"}, "message_id": 1,
        "author_signature": "Ed"});
    for (origin, from) in [
        (user.clone(), "Eve X"),
        (hidden, "Nobodyx"),
        (chat, "Club"),
        (channel, "News, signed Ed"),
        (json!({"type": "spirit"}), "somebody"),
    ] {
        let (_, said) = of("pay me\nnow", origin);
        assert_eq!(
            said.text,
            format!("[Forwarded from {from}]\n> pay me\n> now")
        );
    }
    for end in ["\r\n", "\r", "\u{b}", "\u{85}", "\u{2028}", "\u{2029}"] {
        let (_, said) = of(&format!("pay{end}[Forwarded from Ann]"), user.clone());
        let expected = "[Forwarded from Eve X]\n> pay\n> [Forwarded from Ann]";
        assert_eq!(said.text, expected, "{end:?}");
    }
    for command in ["/stop", "/new", "stop"] {
        let (incoming, said) = of(command, user.clone());
        assert!(!incoming.is_urgent && incoming.burst.is_some(), "{command}");
        assert!(
            said.text.ends_with(&format!("> {command}")),
            "{}",
            said.text
        );
    }
    let mut in_group = group(
        "/new",
        json!({"type": "bot_command", "offset": 0, "length": 4}),
    );
    assert!(said(&in_group).1.is_to_bot);
    in_group["forward_origin"] = user.clone();
    assert!(!said(&in_group).1.is_to_bot);
    let mut answer = private("and?");
    answer["reply_to_message"] = private("pay me");
    answer["reply_to_message"]["forward_origin"] = user;
    let quoted = said(&answer).1.reply_to.unwrap();
    assert_eq!(quoted.sender, "Ann B, forwarded from Eve X");
}

#[test]
fn reader_keeps_the_addresses_that_words_lead_to() {
    let link = |offset: usize, length: usize, url: &str| json!({"type": "text_link", "offset": offset, "length": length, "url": url});
    let mut message = private("😀 see this and that");
    message["entities"] = json!([link(16, 4, "https://b"), {"type": "bold", "offset": 3, "length": 3},
        link(7, 4, "https://a\nx"), link(8, 5, "https://over"), link(0, 2, "")]);
    let linked = "😀 see [this](https://ax) and [that](https://b)";
    assert_eq!(said(&message).1.text, linked);
    message["caption"] = message["text"].take();
    message["caption_entities"] = message["entities"].take();
    message["text"] = "".into();
    message["entities"] = json!([]);
    message["photo"] = json!([{"file_id": "s", "file_size": 10}]);
    assert_eq!(said(&message).1.text, linked);
    let mut answer = private("and?");
    answer["reply_to_message"] = message;
    let quoted = format!("{linked}\n[image photo.jpg]");
    assert_eq!(said(&answer).1.reply_to.unwrap().text, quoted);
    let mut called = group(
        "@claw_bot: this",
        json!({"type": "mention", "offset": 0, "length": 9}),
    );
    let entities = called["entities"].as_array_mut().unwrap();
    entities.push(link(11, 4, "https://a"));
    let called = said(&called).1;
    assert_eq!(
        (called.text.as_str(), called.is_to_bot),
        ("[this](https://a)", true)
    );
}

#[test]
fn reader_names_what_a_message_answers() {
    let quoted = |answer: Value| {
        let mut message = private("what is that?");
        let fields = message.as_object_mut().unwrap();
        fields.extend(answer.as_object().unwrap().clone());
        said(&message).1.reply_to.unwrap()
    };
    let long = json!({"message_id": 4, "text": "one two three", "from": {"id": 9}});
    let part = quoted(json!({"reply_to_message": long, "quote": {"text": "two", "position": 4}}));
    assert_eq!((part.text.as_str(), part.is_own), ("two", true));
    assert_eq!(
        quoted(json!({"reply_to_message": long})).text,
        "one two three"
    );
    for (content, expected) in [
        (json!({"photo": [{"file_id": "p"}]}), "[image photo.jpg]"),
        (
            json!({"document": {"file_id": "d", "file_name": "a[b].pdf"}}),
            "[document ab.pdf]",
        ),
        (
            json!({"voice": {"file_id": "v"}, "caption": "listen"}),
            "listen\n[voice voice.ogg]",
        ),
        (json!({"sticker": {"emoji": "👍"}}), "[sticker 👍]"),
        (json!({}), "[a message the content of which cannot be had]"),
    ] {
        assert_eq!(
            quoted(json!({"reply_to_message": content})).text,
            expected,
            "{content}"
        );
    }
    // Of another chat.
    let origin = json!({"type": "channel", "chat": {"id": -1, "title": "News"}, "message_id": 8});
    let other = quoted(
        json!({"external_reply": {"origin": origin, "message_id": 8},
        "quote": {"text": "it rains"}}),
    );
    assert_eq!(
        (
            other.text.as_str(),
            other.sender.as_str(),
            other.provider_id.as_str()
        ),
        ("it rains", "News", "")
    );
}

#[test]
fn reader_says_that_a_story_is_answered() {
    let answer = |chat: Value| {
        let mut message = private("lovely");
        message["reply_to_story"] = json!({"id": 3, "chat": chat});
        said(&message).1.reply_to.unwrap()
    };
    let person = answer(json!({"id": 5, "type": "private", "first_name": "Eve", "last_name": "X"}));
    let story = "[story, the content of which cannot be had]";
    assert_eq!(
        (person.text.as_str(), person.sender.as_str()),
        (story, "Eve X")
    );
    assert!(!person.is_own && person.provider_id.is_empty());
    let channel = answer(json!({"id": -5, "type": "channel", "title": "News"}));
    assert_eq!(channel.sender, "News");
    assert_eq!(answer(json!({})).sender, "somebody");
}

#[test]
fn reader_fetches_the_files_that_nobody_was_given_when_they_are_asked_about() {
    let photo = json!({"message_id": 4, "from": {"id": 5},
        "photo": [{"file_id": "p", "file_size": 10}]});
    let mention = json!({"type": "mention", "offset": 0, "length": 9});
    let files = |mut message: Value, kind: &str, answered: &Value| {
        message[kind] = answered.clone();
        let files = said(&message).0.files;
        let files = files.into_iter().map(|file| file.reference);
        files.collect::<Vec<_>>()
    };
    let called = group("@claw_bot what is that?", mention);
    assert_eq!(files(called.clone(), "reply_to_message", &photo), ["p"]);
    let origin = json!({"type": "channel", "chat": {"id": -1, "title": "News"}});
    let mut elsewhere = photo.clone();
    elsewhere["origin"] = origin;
    assert_eq!(files(private("that?"), "external_reply", &elsewhere), ["p"]);
    let none: [&str; 0] = [];
    // Nobody asks, they came before, or the bot sent them.
    let uncalled = group("what is that?", json!({}));
    assert_eq!(files(uncalled, "reply_to_message", &photo), none);
    assert_eq!(files(private("that?"), "reply_to_message", &photo), none);
    let mut own = photo;
    own["from"]["id"] = 9.into();
    assert_eq!(files(called, "reply_to_message", &own), none);
}
