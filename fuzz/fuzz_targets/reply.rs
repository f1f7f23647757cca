//! Bytes from the master CLI: framing and every parser behind it.
#![no_main]

use std::path::Path;

use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use outrigger::haproxy::{
    ReplyDecoder, parse_certificates, parse_crt_list, parse_info, parse_map, parse_servers_state, parse_show_proc,
};
use tokio_util::codec::Decoder as _;

fuzz_target!(|input: (u16, &[u8])| {
    let (cut, bytes) = input;
    let cut = usize::from(cut).min(bytes.len());
    let mut decoder = ReplyDecoder;
    let mut buffer = BytesMut::new();
    let mut answers = Vec::new();
    for piece in [&bytes[..cut], &bytes[cut..]] {
        buffer.extend_from_slice(piece);
        answers.extend(decoder.decode(&mut buffer).expect("small answers never fail"));
    }
    answers.extend(decoder.decode_eof(&mut buffer).expect("small answers never fail"));
    assert!(buffer.is_empty());
    for answer in answers {
        let _ = parse_show_proc(&answer.text);
        let _ = parse_info(&answer.text);
        let _ = parse_servers_state(&answer.text);
        let _ = parse_map(&answer.text);
        let _ = parse_certificates(&answer.text, Path::new("/certs"));
        let _ = parse_crt_list(&answer.text, Path::new("/certs"));
    }
});
