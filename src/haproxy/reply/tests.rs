use std::path::Path;

use bytes::{BufMut as _, BytesMut};
use proptest::prelude::*;
use tokio_util::codec::Decoder as _;

use super::{Answer, ReplyDecoder, prompt_at_end};

/// Feeds `input` in pieces that end at `cuts`; what comes out, in order.
fn decode_split(input: &[u8], cuts: &[usize]) -> Vec<Answer> {
    let mut decoder = ReplyDecoder;
    let mut buffer = BytesMut::new();
    let mut answers = Vec::new();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([input.len()]) {
        buffer.put_slice(&input[from..cut]);
        from = cut;
        while let Some(answer) = decoder.decode(&mut buffer).unwrap() {
            answers.push(answer);
        }
    }
    answers.extend(decoder.decode_eof(&mut buffer).unwrap());
    answers
}

fn whole(input: &str) -> Answer {
    let answers = decode_split(input.as_bytes(), &[]);
    assert_eq!(answers.len(), 1, "{input:?}");
    answers.into_iter().next().unwrap()
}

#[test]
fn the_text_is_what_stands_before_the_prompt() {
    for (input, text) in [
        ("master> ", ""),
        ("\nmaster> ", ""),
        ("a b\n\nmaster> ", "a b"),
        ("No such backend.\nmaster> ", "No such backend."),
        ("one\ntwo\n\n\nmaster> ", "one\ntwo"),
        ("+ + + \nmaster> ", ""),
        ("+ + Success!\n\nmaster> ", "Success!"),
        ("x\n4711> ", "x"),
        ("x\n4711(ex)> ", "x"),
        ("x\nmaster(xed)> ", "x"),
    ] {
        assert_eq!(
            whole(input),
            Answer { text: text.into(), reload_failed: false, complete: true },
            "{input:?}"
        );
    }
    assert_eq!(
        whole("x\n\nmaster[ReloadFailed](e)> "),
        Answer { text: "x".into(), reload_failed: true, complete: true }
    );
}

#[test]
fn what_only_looks_like_a_prompt_is_text() {
    for input in [
        "master>",
        "xmaster> ",
        "\nmaster()> ",
        "\nmaster(y)> ",
        "\n> ",
        "\n12345678901> ",
        "\nMaster> ",
        "\nmaster) > ",
        "a\nmaster> b\n",
    ] {
        let answer = whole(input);
        assert!(!answer.complete, "{input:?}");
    }
    assert_eq!(whole("a\nmaster> b\n\nmaster> ").text, "a\nmaster> b");
}

#[test]
fn the_end_of_the_connection_ends_an_answer() {
    let answer = whole("Success=1\n--\nlog\n\n");
    assert_eq!(answer, Answer { text: "Success=1\n--\nlog".into(), reload_failed: false, complete: false });
    assert!(decode_split(b"", &[]).is_empty());
}

#[test]
fn a_large_answer_costs_no_more_than_its_length() {
    let line = b"0x7f11c4627fc0 /some/path backend_of_a_service\n";
    let mut decoder = ReplyDecoder;
    let mut buffer = BytesMut::new();
    // 9 MB, looked at after every line: minutes when each look read everything again.
    for _ in 0..200_000 {
        buffer.put_slice(line);
        assert_eq!(decoder.decode(&mut buffer).unwrap(), None);
    }
    buffer.put_slice(b"\nmaster> ");
    let answer = decoder.decode(&mut buffer).unwrap().unwrap();
    assert_eq!(answer.text.len(), 200_000 * line.len() - 1);
}

/// Bytes whose prompt, if any, is at the very end: all that HAProxy sends for one command.
fn has_inner_prompt(input: &[u8]) -> bool {
    (1..input.len()).any(|end| prompt_at_end(&input[..end]).is_some())
}

#[test]
fn corpus() {
    let folders = ["fuzz/corpus/reply", "src/haproxy/fixtures"];
    let mut count = 0;
    for folder in folders {
        for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let input = std::fs::read(entry.unwrap().path()).unwrap();
            count += 1;
            let expected = decode_split(&input, &[]);
            let split_everywhere: Vec<usize> = (0..input.len()).collect();
            let answers = decode_split(&input, &split_everywhere);
            if !has_inner_prompt(&input) {
                assert_eq!(answers, expected);
            }
            for step in [2, 3, 7, 63] {
                let cuts: Vec<usize> = (0..input.len()).step_by(step).collect();
                let answers = decode_split(&input, &cuts);
                if !has_inner_prompt(&input) {
                    assert_eq!(answers, expected);
                }
            }
        }
    }
    assert!(count > 20, "the corpus is gone");
}

proptest! {
    #[test]
    fn any_split_gives_the_same_answer(
        text in "[ -~\n+]{0,200}",
        prompt in prop_oneof![
            Just("master> "), Just("master[ReloadFailed]> "), Just("master(e)> "), Just("77> "), Just("")
        ],
        seeds in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let input = format!("{text}\n{prompt}").into_bytes();
        prop_assume!(!has_inner_prompt(&input));
        let mut cuts: Vec<usize> = seeds.iter().map(|seed| seed.index(input.len())).collect();
        cuts.sort_unstable();
        prop_assert_eq!(decode_split(&input, &cuts), decode_split(&input, &[]));
    }

    #[test]
    fn no_bytes_break_it(input in prop::collection::vec(any::<u8>(), 0..300), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(input.len() + 1);
        decode_split(&input, &[cut]);
    }
}
