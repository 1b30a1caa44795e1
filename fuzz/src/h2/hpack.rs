//! Header compression (RFC 7541), both ways: a reader that panics at what is not valid, and a writer that can choose every form.

use std::collections::VecDeque;

/// A name and a value.
pub type Field = (Vec<u8>, Vec<u8>);

/// What every table may hold until something else is said.
pub const DEFAULT_SIZE: usize = 4_096;

/// The static table (appendix A).
const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// How many bits the code of each byte has (appendix B). The codes follow: it is a canonical code, where shorter codes come first and
/// codes of one length are in the order of their bytes.
const LENGTHS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28,
    28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6,
    6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7,
    8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7,
    15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24,
    23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23,
    23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26,
    26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20,
    21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27,
    27, 27, 26,
];

/// A dynamic table: newest first.
#[derive(Debug)]
struct Table {
    entries: VecDeque<Field>,
    size: usize,
    most: usize,
}

fn cost((name, value): &Field) -> usize {
    name.len() + value.len() + 32
}

impl Table {
    fn new() -> Self {
        Self { entries: VecDeque::new(), size: 0, most: DEFAULT_SIZE }
    }

    fn peek(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let at = index.checked_sub(1)?;
        match STATIC.get(at) {
            Some((name, value)) => Some((name.as_bytes(), value.as_bytes())),
            None => self.entries.get(at - STATIC.len()).map(|(name, value)| (&name[..], &value[..])),
        }
    }

    fn get(&self, index: usize) -> Field {
        let (name, value) = self.peek(index).unwrap_or_else(|| panic!("no entry {index}"));
        (name.to_vec(), value.to_vec())
    }

    /// The index of the whole field, and of its name.
    fn find(&self, field: &Field) -> (Option<usize>, Option<usize>) {
        let known = 1..=STATIC.len() + self.entries.len();
        let named = |index: &usize| self.peek(*index).is_some_and(|(name, _)| name == field.0);
        let mut named = known.filter(named);
        let first = named.next();
        let same = |index: &usize| self.peek(*index).is_some_and(|(_, value)| value == field.1);
        (first.into_iter().chain(named).find(same), first)
    }

    fn insert(&mut self, field: Field) {
        self.size += cost(&field);
        self.entries.push_front(field);
        self.evict();
    }

    fn resize(&mut self, most: usize) {
        self.most = most;
        self.evict();
    }

    fn evict(&mut self) {
        while self.size > self.most {
            let last = self.entries.pop_back().expect("an empty table has no size");
            self.size -= cost(&last);
        }
    }
}

/// Reads the blocks of one connection, in order.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// The largest table that the other side may choose.
    pub most: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self { table: Table::new(), most: DEFAULT_SIZE }
    }
}

impl Decoder {
    /// The fields of a block. Panics at one that is not valid.
    pub fn decode(&mut self, mut block: &[u8]) -> Vec<Field> {
        let mut fields = Vec::new();
        while let Some(&first) = block.first() {
            let rest = &mut block;
            match first {
                0x80.. => {
                    let index = integer(rest, 7);
                    fields.push(self.table.get(index));
                }
                0x40.. => {
                    let field = self.literal(rest, 6);
                    self.table.insert(field.clone());
                    fields.push(field);
                }
                0x20.. => {
                    assert!(fields.is_empty(), "a change of size behind a field");
                    let size = integer(rest, 5);
                    assert!(size <= self.most, "a table of {size}, {} allowed", self.most);
                    self.table.resize(size);
                }
                _ => fields.push(self.literal(rest, 4)),
            }
        }
        fields
    }

    fn literal(&self, rest: &mut &[u8], bits: u8) -> Field {
        let name = match integer(rest, bits) {
            0 => string(rest),
            index => self.table.get(index).0,
        };
        (name, string(rest))
    }
}

/// An integer behind a prefix of so many bits (5.1).
fn integer(rest: &mut &[u8], bits: u8) -> usize {
    let mask = (1_usize << bits) - 1;
    let mut take = || {
        let (&byte, tail) = rest.split_first().expect("the block ends too early");
        *rest = tail;
        usize::from(byte)
    };
    let mut value = take() & mask;
    if value < mask {
        return value;
    }
    for shift in (0..28).step_by(7) {
        let byte = take();
        value += (byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("an integer of many bytes");
}

fn string(rest: &mut &[u8]) -> Vec<u8> {
    let packed = rest.first().expect("the block ends too early") & 0x80 != 0;
    let len = integer(rest, 7);
    assert!(len <= rest.len(), "a string ends too late");
    let (text, tail) = rest.split_at(len);
    *rest = tail;
    if packed { unpack(text) } else { text.to_vec() }
}

/// The code of each byte, with its length.
fn codes() -> Vec<(u8, u32, u8)> {
    let mut order: Vec<u8> = (0..=255).collect();
    order.sort_by_key(|&byte| (LENGTHS[usize::from(byte)], byte));
    let (mut code, mut before) = (0_u32, 0);
    order
        .into_iter()
        .map(|byte| {
            let length = LENGTHS[usize::from(byte)];
            code <<= length - before;
            before = length;
            code += 1;
            (byte, code - 1, length)
        })
        .collect()
}

thread_local! {
    static CODES: Vec<(u8, u32, u8)> = codes();
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    CODES.with(|codes| {
        let (mut out, mut code, mut length) = (Vec::new(), 0_u32, 0_u8);
        for bit in packed.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)) {
            code = code << 1 | u32::from(bit);
            length += 1;
            let from = codes.partition_point(|&(_, other, len)| (len, other) < (length, code));
            if let Some(&(byte, other, len)) = codes.get(from)
                && (other, len) == (code, length)
            {
                out.push(byte);
                (code, length) = (0, 0);
            }
            assert!(length <= 30, "no code is as long");
        }
        assert!(length < 8 && code == (1 << length) - 1, "padding is less than a byte, of ones");
        out
    })
}

fn pack(text: &[u8]) -> Vec<u8> {
    CODES.with(|codes| {
        let (mut out, mut bits, mut have) = (Vec::new(), 0_u64, 0_u32);
        for byte in text {
            let &(_, code, length) = codes.iter().find(|code| code.0 == *byte).expect("every byte has one");
            bits = bits << length | u64::from(code);
            have += u32::from(length);
            while have >= 8 {
                have -= 8;
                out.push((bits >> have) as u8);
            }
        }
        if have > 0 {
            out.push((bits << (8 - have)) as u8 | 0xff >> have);
        }
        out
    })
}

/// Writes the blocks of one connection.
#[derive(Debug)]
pub struct Encoder(Table);

impl Default for Encoder {
    fn default() -> Self {
        Self(Table::new())
    }
}

impl Encoder {
    /// Writes a field. `form` chooses how: its bits say whether an index may stand for all of it, or for its name, whether it enters the
    /// table, and whether its strings are packed.
    pub fn field(&mut self, out: &mut Vec<u8>, field: &Field, form: u8) {
        let (whole, name) = self.0.find(field);
        if let Some(index) = whole.filter(|_| form & 1 == 0) {
            return put_integer(out, 0x80, 7, index);
        }
        let name = name.filter(|_| form & 2 == 0).unwrap_or(0);
        let (first, bits) = match form >> 2 & 3 {
            0 | 1 => (0x40, 6),
            2 => (0x00, 4),
            _ => (0x10, 4),
        };
        put_integer(out, first, bits, name);
        if name == 0 {
            put_string(out, &field.0, form & 16 != 0);
        }
        put_string(out, &field.1, form & 32 != 0);
        if first == 0x40 {
            self.0.insert(field.clone());
        }
    }

    /// Says that the table changes its size.
    pub fn resize(&mut self, out: &mut Vec<u8>, size: usize) {
        put_integer(out, 0x20, 5, size);
        self.0.resize(size);
    }
}

fn put_integer(out: &mut Vec<u8>, first: u8, bits: u8, value: usize) {
    let mask = (1_usize << bits) - 1;
    if value < mask {
        return out.push(first | value as u8);
    }
    out.push(first | mask as u8);
    let mut rest = value - mask;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn put_string(out: &mut Vec<u8>, text: &[u8], packed: bool) {
    let text = if packed { pack(text) } else { text.to_vec() };
    put_integer(out, if packed { 0x80 } else { 0 }, 7, text.len());
    out.extend_from_slice(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7541 C.4.1 and C.4.2.
    #[test]
    fn the_examples_are_read() {
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
        };
        let mut decoder = Decoder::default();
        let fields = decoder.decode(&hex("828684418cf1e3c2e5f23a6ba0ab90f4ff"));
        assert_eq!(fields[3], (b":authority".to_vec(), b"www.example.com".to_vec()));
        let fields = decoder.decode(&hex("828684be5886a8eb10649cbf"));
        assert_eq!(fields[3].1, b"www.example.com");
        assert_eq!(fields[4], (b"cache-control".to_vec(), b"no-cache".to_vec()));
    }

    #[test]
    fn every_form_comes_back() {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        for round in 0..3_u8 {
            for form in 0..64 {
                let all: Vec<u8> = (0..=255).collect();
                let field = (format!("name-{}", form % 7).into_bytes(), all[usize::from(round)..].to_vec());
                let mut block = Vec::new();
                if form % 16 == 0 {
                    encoder.resize(&mut block, usize::from(form) * 60);
                }
                encoder.field(&mut block, &field, form);
                assert_eq!(decoder.decode(&block), [field]);
            }
        }
    }
}
