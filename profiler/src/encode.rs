//! pprof's `profile.proto`, as much of it as a profile needs. Protobuf's wire format: a field is a key (number and kind) and a
//! number, or a length and bytes.

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use crate::profile::{Profile, ValueType};
use crate::symbols::{Line, Symbols};

/// Bytes of one message.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        loop {
            let seven = u8::try_from(value & 0x7f).unwrap_or(0);
            value >>= 7;
            if value == 0 {
                self.0.push(seven);
                return;
            }
            self.0.push(seven | 0x80);
        }
    }

    fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    /// An `int64`: negative ones are their two's complement.
    fn signed(&mut self, field: u64, value: i64) {
        self.number(field, value.cast_unsigned());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint((field << 3) | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, inner: &Self) {
        self.bytes(field, &inner.0);
    }

    /// A packed list.
    fn list(&mut self, field: u64, values: impl IntoIterator<Item = u64>) {
        let mut packed = Self::default();
        for value in values {
            packed.varint(value);
        }
        self.message(field, &packed);
    }
}

/// Distinct values, numbered from `first` in the order in which they appear.
#[derive(Debug)]
struct Numbered<T>(BTreeMap<T, u64>, u64);

impl<T: Ord + Clone> Numbered<T> {
    fn number(&mut self, value: &T) -> u64 {
        if let Some(number) = self.0.get(value) {
            return *number;
        }
        let number = self.1 + self.0.len() as u64;
        self.0.insert(value.clone(), number);
        number
    }

    fn in_order(self) -> Vec<T> {
        let mut values: Vec<(u64, T)> = self.0.into_iter().map(|(value, number)| (number, value)).collect();
        values.sort_by_key(|(number, _)| *number);
        values.into_iter().map(|(_, value)| value).collect()
    }
}

/// The string table; number 0 is the empty string.
#[derive(Debug)]
struct Strings(Numbered<String>);

impl Strings {
    fn new() -> Self {
        Self(Numbered(BTreeMap::from([(String::new(), 0)]), 0))
    }

    fn number(&mut self, text: &str) -> u64 {
        self.0.number(&text.to_owned())
    }

    fn value_type(&mut self, value: ValueType) -> Message {
        let mut message = Message::default();
        message.number(1, self.number(value.kind));
        message.number(2, self.number(value.unit));
        message
    }
}

impl Profile {
    /// The protobuf, not compressed; `go tool pprof` takes it so.
    pub fn encode(&self) -> Vec<u8> {
        let mut strings = Strings::new();
        let mut profile = Message::default();
        for value in &self.types {
            profile.message(1, &strings.value_type(*value));
        }
        let mut addresses = Numbered(BTreeMap::new(), 1);
        for sample in &self.samples {
            let mut message = Message::default();
            message.list(1, sample.stack.iter().map(|address| addresses.number(address)));
            message.list(2, sample.values.iter().map(|value| value.cast_unsigned()));
            profile.message(2, &message);
        }
        let functions = self.locations(&mut profile, addresses.in_order(), &mut strings);
        for (number, line) in (1..).zip(functions) {
            let mut message = Message::default();
            message.number(1, number);
            message.number(2, strings.number(&line.function));
            message.number(3, strings.number(&line.function));
            message.number(4, strings.number(&line.file));
            profile.message(5, &message);
        }
        let taken = self.taken.duration_since(UNIX_EPOCH).unwrap_or_default();
        profile.number(9, u64::try_from(taken.as_nanos()).unwrap_or(0));
        profile.number(10, u64::try_from(self.duration.as_nanos()).unwrap_or(0));
        profile.message(11, &strings.value_type(self.period.0));
        profile.signed(12, self.period.1);
        for text in strings.0.in_order() {
            profile.bytes(6, text.as_bytes());
        }
        profile.0
    }

    /// Writes locations and mappings; gives the functions that the locations name.
    fn locations(&self, profile: &mut Message, addresses: Vec<usize>, strings: &mut Strings) -> Vec<Line> {
        let symbols = Symbols::default();
        let mut functions = Numbered(BTreeMap::new(), 1);
        let mut named = vec![false; self.mappings.len()];
        for (number, address) in (1..).zip(addresses) {
            let mut message = Message::default();
            message.number(1, number);
            let mapping = self.mappings.iter().position(|m| (m.start..m.end).contains(&address));
            if let Some(at) = mapping {
                message.number(2, at as u64 + 1);
            }
            message.number(3, address as u64);
            for line in symbols.at(address) {
                let mut inner = Message::default();
                // A function is the same wherever in it a line is.
                inner.number(1, functions.number(&Line { line: 0, ..line.clone() }));
                inner.number(2, line.line.into());
                message.message(4, &inner);
                if let Some(named) = mapping.and_then(|at| named.get_mut(at)) {
                    *named = true;
                }
            }
            profile.message(4, &message);
        }
        for ((number, mapping), named) in (1..).zip(&self.mappings).zip(named) {
            let mut message = Message::default();
            message.number(1, number);
            message.number(2, mapping.start as u64);
            message.number(3, mapping.end as u64);
            message.number(4, mapping.offset);
            message.number(5, strings.number(&mapping.file));
            // has_functions, has_filenames, has_line_numbers, has_inline_frames: without them pprof asks for names itself.
            for field in 7..=10 {
                message.number(field, named.into());
            }
            profile.message(3, &message);
        }
        functions.in_order()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_written_as_protobuf_says() {
        let mut message = Message::default();
        message.number(1, 300);
        message.number(2, 0);
        message.bytes(6, b"ab");
        message.signed(3, -1);
        message.list(1, [1, 128]);
        let minus_one = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let expected = [
            [0x08, 0xac, 0x02].as_slice(),
            &[0x32, 2, b'a', b'b'],
            &[0x18],
            &minus_one,
            &[0x0a, 3, 1, 0x80, 1],
        ];
        assert_eq!(message.0, expected.concat());
    }

    #[test]
    fn equal_strings_have_one_number_and_nothing_is_zero() {
        let mut strings = Strings::new();
        assert_eq!(strings.number(""), 0);
        assert_eq!((strings.number("a"), strings.number("b"), strings.number("a")), (1, 2, 1));
        assert_eq!(strings.0.in_order(), ["", "a", "b"]);
    }
}
