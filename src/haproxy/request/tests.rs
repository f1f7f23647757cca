use proptest::prelude::*;

use super::*;

/// Reads a command line as HAProxy does: `;` and newline end a command, space and tab a word, a backslash protects the next
/// character; a line that ends in `<<` opens a payload.
fn commands(message: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let (mut words, mut word, mut protected) = (Vec::new(), String::new(), false);
    for c in message.chars() {
        match c {
            _ if protected && c != '\n' => {
                word.push(c);
                protected = false;
            }
            '\\' => protected = true,
            ' ' | '\t' | ';' | '\n' => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                if matches!(c, ';' | '\n') {
                    commands.push(std::mem::take(&mut words));
                    protected = false;
                }
            }
            _ => word.push(c),
        }
    }
    commands.retain(|words| !words.is_empty());
    commands
}

fn text(request: &Request) -> String {
    String::from_utf8(request.encode().unwrap().to_vec()).unwrap()
}

#[test]
fn a_request_is_spelled_as_haproxy_reads_it() {
    let request = Request::worker("add map")
        .word("/etc/maps/a b.map")
        .unwrap()
        .word("k;1")
        .unwrap()
        .word("<<")
        .unwrap();
    assert_eq!(text(&request), "@1 add map /etc/maps/a\\ b.map k\\;1 \\<\\<\n");
    let request = Request::worker("set ssl cert").word("/c.pem").unwrap().payload("a\r\n\n  \nb\n").unwrap();
    assert_eq!(text(&request), "@1 set ssl cert /c.pem <<\na\nb\n\n");
    assert_eq!(format!("{request:?}"), "Request(\"@1 set ssl cert /c.pem\")");
}

#[test]
fn what_cannot_be_said_is_refused() {
    for word in ["", "a\nb", "a\tb", "a\rb", "a\0b", "\u{7f}", "\u{85}"] {
        assert!(matches!(escape_word(word), Err(Error::Unspeakable(_))), "{word:?}");
    }
    for payload in ["", "\n\n", "a\0b"] {
        assert!(
            matches!(Request::worker("set ssl cert").payload(payload), Err(Error::Unspeakable(_))),
            "{payload:?}"
        );
    }
}

#[test]
fn a_message_that_could_crash_haproxy_is_refused() {
    let request = |size: usize| Request::worker("set ssl cert").payload(&"x".repeat(size)).unwrap().encode();
    assert!(matches!(request(15_001), Err(Error::TooLarge { .. })));
    assert!(matches!(request(14_980), Err(Error::TooLarge { bytes: 15_001, .. })));
    assert_eq!(request(14_979).unwrap().len(), MAX_MESSAGE);
    let many = (0..70).try_fold(Request::worker("add server"), |request, _| request.word("x")).unwrap();
    assert!(matches!(many.encode(), Err(Error::TooLarge { .. })));
}

#[test]
fn only_reads_are_repeated() {
    assert!(Request::master("show proc").is_read());
    assert!(Request::worker("show map").is_read());
    assert!(!Request::worker("add map").is_read());
    assert!(!Request::master("reload").is_read());
    assert!(Request::master("reload").ends_connection());
}

proptest! {
    #[test]
    fn no_word_injects_a_command(words in prop::collection::vec("\\PC{1,20}|[\\\\; <@#\n\t\r]{1,6}", 1..6)) {
        let mut request = Ok(Request::worker("add map"));
        for word in &words {
            request = request.and_then(|request| request.word(word));
        }
        if let Ok(request) = request {
            let message = text(&request);
            let mut expected = vec!["@1".to_owned(), "add".to_owned(), "map".to_owned()];
            expected.extend(words);
            prop_assert_eq!(commands(&message), vec![expected]);
            prop_assert!(!message.trim_end_matches('\n').ends_with("<<"), "opens a payload");
        }
    }

    #[test]
    fn no_payload_ends_early(payload in "[a-z;\\\\ \n\r\t]{0,80}") {
        if let Ok(request) = Request::worker("set ssl cert").payload(&payload) {
            let message = text(&request);
            let body = message.strip_prefix("@1 set ssl cert <<\n").unwrap().strip_suffix("\n\n").unwrap();
            prop_assert!(body.split('\n').all(|line| !line.trim().is_empty()));
        }
    }
}
