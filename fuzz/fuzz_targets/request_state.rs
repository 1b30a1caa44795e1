//! Sealing what a modern call remembers, and opening it. Oracles:
//! - what was sealed comes out again, as long as it lives, for the same principal and request, on every node that has the key;
//! - for another principal, another request, after its time or long before it, or with another key it does not, and the fault is the one
//!   that a naive reading of these conditions gives;
//! - no other text opens: neither what the fuzzer makes up, nor a sealed one of which anything was changed, cut or written otherwise.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use twolane::Principal;
use twolane::tools::SealingKey;
use twolane::tools::seal::{Binding, OpenFault, SealFault, Sealer};

#[derive(Debug, Arbitrary)]
struct Script {
    remembered: Vec<u8>,
    /// The longest text that is issued.
    most: u16,
    ttl: u32,
    now: u64,
    later: i64,
    principal: Option<String>,
    other: Option<String>,
    request: u8,
    other_request: u8,
    /// The keys of the node that seals, and of the one that opens.
    keys: [u8; 2],
    openers: [u8; 3],
    edits: Vec<Edit>,
    text: String,
}

#[derive(Debug, Clone, Arbitrary)]
enum Edit {
    Flip(u16, u8),
    Cut(u16),
    Append(char),
    Insert(u16, char),
    Swap(u16, u16),
    /// The last character becomes one that stands for the same bytes.
    Spell(u8),
}

/// The digits of the text.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn sealer(keys: &[u8], script: &Script) -> Sealer {
    let keys: Vec<_> = keys.iter().map(|key| SealingKey::new([*key; 32])).collect();
    Sealer::new(&keys, script.ttl.into(), script.most.into())
}

fuzz_target!(|script: Script| {
    let principal = script.principal.as_deref().map(Principal::new);
    let (request, now) = ([script.request; 32], script.now);
    let binding = Binding { principal: principal.as_ref(), request: &request, now_ms: now };
    let seals = sealer(&script.keys, &script);
    let opens = sealer(&script.openers, &script);
    for text in [&script.text[..], ""] {
        assert_eq!(opens.open(binding, text), Err(OpenFault::Invalid), "{text:?} opens");
    }
    // A version, a nonce, two digests, two times and a tag; four characters for three bytes.
    let raw = 1 + 24 + 32 + 32 + 8 + 8 + script.remembered.len() + 16;
    let length = (raw * 4).div_ceil(3);
    let text = match seals.seal(binding, &script.remembered) {
        Ok(text) => text,
        Err(fault) => {
            assert_eq!(fault, SealFault::TooLarge);
            assert!(length > script.most.into(), "{length} of {}", script.most);
            return;
        }
    };
    assert!(text.len() == length && length <= script.most.into(), "{} {length}", text.len());
    assert!(text.bytes().all(|byte| DIGITS.contains(&byte)));
    assert_ne!(seals.seal(binding, &script.remembered).as_ref(), Ok(&text), "no nonce comes twice");

    let has_key = script.openers.contains(&script.keys[0]);
    let known = if has_key { Ok(()) } else { Err(OpenFault::Invalid) };
    let expect = |binding: Binding<'_>, fault: Result<(), OpenFault>| {
        let opened = opens.open(binding, &text);
        assert_eq!(opened, known.and(fault).map(|()| script.remembered.clone()), "{binding:?}");
    };
    expect(binding, if script.ttl == 0 || now == u64::MAX { Err(OpenFault::Expired) } else { Ok(()) });
    let at = now.saturating_add_signed(script.later);
    let ends = now.saturating_add(script.ttl.into());
    // Clocks differ, but by no more than the state lives.
    let lives = at < ends && now.saturating_sub(at) <= ends - now;
    expect(Binding { now_ms: at, ..binding }, if lives { Ok(()) } else { Err(OpenFault::Expired) });
    if script.other != script.principal {
        let other = script.other.as_deref().map(Principal::new);
        let stranger = Binding { principal: other.as_ref(), now_ms: at, ..binding };
        expect(stranger, Err(OpenFault::Invalid));
        expect(Binding { request: &[script.other_request; 32], ..stranger }, Err(OpenFault::Invalid));
    }
    if script.other_request != script.request {
        let fault = Err(OpenFault::OtherRequest);
        expect(Binding { request: &[script.other_request; 32], now_ms: at, ..binding }, fault);
    }

    let mut edited: Vec<char> = text.chars().collect();
    for edit in script.edits.iter().take(8) {
        apply(&mut edited, edit);
        let edited: String = edited.iter().collect();
        if edited != text {
            assert_eq!(
                opens.open(binding, &edited),
                Err(OpenFault::Invalid),
                "{edited:?} opens, like {text:?}"
            );
        }
    }
});

fn apply(text: &mut Vec<char>, edit: &Edit) {
    let len = text.len().max(1);
    let place = |at: u16| usize::from(at) % len;
    match *edit {
        Edit::Insert(at, new) => text.insert(place(at).min(text.len()), new),
        Edit::Append(new) => text.push(new),
        _ if text.is_empty() => {}
        Edit::Flip(at, digit) => text[place(at)] = char::from(DIGITS[usize::from(digit % 64)]),
        Edit::Cut(at) => text.truncate(place(at)),
        Edit::Swap(one, other) => text.swap(place(one), place(other)),
        Edit::Spell(more) => {
            let last = text.len() - 1;
            if let Some(at) = DIGITS.iter().position(|&digit| char::from(digit) == text[last]) {
                text[last] = char::from(DIGITS[at & !3 | usize::from(more & 3)]);
            }
        }
    }
}
