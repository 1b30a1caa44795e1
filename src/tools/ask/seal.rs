//! Seals what a modern call must remember until it comes back: `requestState` passes through the client, which may read nothing in it,
//! change nothing, and bring it back for no other request, as nobody else, and not for ever.
//!
//! The text is unpadded URL-safe base64 of: a version byte, a nonce of 24 random bytes, and the sealed payload. The payload is the
//! principal's digest, the request's digest, the times of issue and expiry, and what is remembered. The tag is compared in constant time by
//! the cipher, before anything is decrypted; the digests by us.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::sealing_key::SealingKey;
use crate::base::principal::Principal;
use crate::base::trace::looked_up;

const VERSION: u8 = 1;
const NONCE: usize = 24;
const TAG: usize = 16;
/// Two digests and two times.
const HEADER: usize = 32 + 32 + 8 + 8;

/// Says what the sealed bytes are for: a key that is used elsewhere too opens nothing here.
const PURPOSE: &[u8] = b"twolane requestState 1";

/// A digest of a request: its method, its name or URI, and its arguments.
pub type RequestDigest = [u8; 32];

/// Why a state is not taken. A client learns no more than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenFault {
    /// It is no state of ours, was changed, or belongs to somebody else.
    Invalid,
    /// It is too old.
    Expired,
    /// It was issued for another request.
    OtherRequest,
}

impl OpenFault {
    /// The fault in one line.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Invalid => {
                "params.requestState is not valid; send it exactly as it came, or start the request anew"
            }
            Self::Expired => "params.requestState has expired; start the request anew",
            Self::OtherRequest => {
                "params.requestState belongs to another request; send it with the same name and arguments"
            }
        }
    }
}

/// Why nothing could be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealFault {
    /// The text would be longer than the limit.
    TooLarge,
    /// There is no key, or no randomness.
    Failed,
}

/// What a state is bound to.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// Who called.
    pub principal: Option<&'a Principal>,
    /// What was called.
    pub request: &'a RequestDigest,
    /// Now, in milliseconds since the epoch: other nodes must understand it.
    pub now_ms: u64,
}

/// Seals and opens states.
pub struct Sealer {
    /// The first seals, all open.
    keys: Vec<XChaCha20Poly1305>,
    ttl_ms: u64,
    /// The longest text.
    most: usize,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer")
            .field("keys", &self.keys.len())
            .field("ttl_ms", &self.ttl_ms)
            .finish_non_exhaustive()
    }
}

impl Sealer {
    /// A sealer with these keys, or with a random one where there is none: then no other process opens what it seals.
    #[must_use]
    pub fn new(keys: &[SealingKey], ttl_ms: u64, most: u64) -> Self {
        let random = if keys.is_empty() { SealingKey::random() } else { None };
        if keys.is_empty() && random.is_none() {
            tracing::error!(
                "there is no randomness for a sealing key; modern calls cannot ask their clients"
            );
        }
        let keys =
            keys.iter().chain(&random).map(|key| XChaCha20Poly1305::new(&(*key.bytes()).into())).collect();
        Self { keys, ttl_ms, most: usize::try_from(most).unwrap_or(usize::MAX) }
    }

    /// Seals `remembered`.
    ///
    /// # Errors
    /// [`SealFault`].
    pub fn seal(&self, binding: Binding<'_>, remembered: &[u8]) -> Result<String, SealFault> {
        let raw = 1 + NONCE + HEADER + remembered.len() + TAG;
        if base64::encoded_len(raw, false).is_none_or(|length| length > self.most) {
            return Err(SealFault::TooLarge);
        }
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| SealFault::Failed)?;
        let mut payload = Vec::with_capacity(HEADER + remembered.len());
        payload.extend_from_slice(&principal_digest(binding.principal));
        payload.extend_from_slice(binding.request);
        payload.extend_from_slice(&binding.now_ms.to_be_bytes());
        payload.extend_from_slice(&binding.now_ms.saturating_add(self.ttl_ms).to_be_bytes());
        payload.extend_from_slice(remembered);
        let key = self.keys.first().ok_or(SealFault::Failed)?;
        let sealed = key
            .encrypt(&XNonce::from(nonce), Payload { msg: &payload, aad: PURPOSE })
            .map_err(|_| SealFault::Failed)?;
        let mut bytes = Vec::with_capacity(raw);
        bytes.push(VERSION);
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&sealed);
        Ok(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Opens a state, and gives what was remembered.
    ///
    /// # Errors
    /// [`OpenFault`].
    pub fn open(&self, binding: Binding<'_>, text: &str) -> Result<Vec<u8>, OpenFault> {
        looked_up("requestState");
        if text.len() > self.most {
            return Err(OpenFault::Invalid);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| OpenFault::Invalid)?;
        let (version, rest) = bytes.split_first().ok_or(OpenFault::Invalid)?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>().ok_or(OpenFault::Invalid)?;
        if *version != VERSION {
            return Err(OpenFault::Invalid);
        }
        let nonce = XNonce::from(*nonce);
        let mut payload = self
            .keys
            .iter()
            .find_map(|key| key.decrypt(&nonce, Payload { msg: sealed, aad: PURPOSE }).ok())
            .ok_or(OpenFault::Invalid)?;
        check(&payload, binding)?;
        payload.drain(..HEADER);
        Ok(payload)
    }
}

/// The principal first: a stranger learns nothing of a state, not even that it has expired.
fn check(payload: &[u8], binding: Binding<'_>) -> Result<(), OpenFault> {
    let (principal, rest) = payload.split_first_chunk::<32>().ok_or(OpenFault::Invalid)?;
    let (request, rest) = rest.split_first_chunk::<32>().ok_or(OpenFault::Invalid)?;
    let (issued, rest) = rest.split_first_chunk::<8>().ok_or(OpenFault::Invalid)?;
    let (expires, _) = rest.split_first_chunk::<8>().ok_or(OpenFault::Invalid)?;
    if !bool::from(principal.ct_eq(&principal_digest(binding.principal))) {
        return Err(OpenFault::Invalid);
    }
    if !bool::from(request.ct_eq(binding.request)) {
        return Err(OpenFault::OtherRequest);
    }
    let (issued, expires) = (u64::from_be_bytes(*issued), u64::from_be_bytes(*expires));
    // Nodes' clocks differ a little: what seems to come from the future is taken, for no longer than it was to live.
    let lifetime = expires.saturating_sub(issued);
    if binding.now_ms >= expires || issued.saturating_sub(binding.now_ms) > lifetime {
        return Err(OpenFault::Expired);
    }
    Ok(())
}

/// Nobody and somebody with an empty name are told apart.
fn principal_digest(principal: Option<&Principal>) -> [u8; 32] {
    let mut hash = Sha256::new();
    match principal {
        Some(principal) => {
            hash.update(b"somebody ");
            hash.update(principal.subject.as_bytes());
        }
        None => hash.update(b"nobody"),
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REQUEST: RequestDigest = [7; 32];
    const TTL: u64 = 1000;

    fn sealer(key: u8) -> Sealer {
        Sealer::new(&[SealingKey::new([key; 32])], TTL, 4096)
    }

    fn at(now_ms: u64) -> Binding<'static> {
        Binding { principal: None, request: &REQUEST, now_ms }
    }

    #[test]
    fn what_was_sealed_comes_out_again() {
        let sealer = sealer(1);
        for remembered in [&b""[..], b"x", b"{\"answers\":{}}"] {
            let text = sealer.seal(at(5), remembered).unwrap();
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
            assert_eq!(sealer.open(at(5), &text).unwrap(), remembered);
            assert_ne!(sealer.seal(at(5), remembered).unwrap(), text, "no nonce comes twice");
        }
    }

    #[test]
    fn any_flipped_bit_and_any_cut_is_found() {
        let sealer = sealer(1);
        let text = sealer.seal(at(5), b"remembered").unwrap();
        let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let bad = URL_SAFE_NO_PAD.encode(bad);
            assert_eq!(sealer.open(at(5), &bad), Err(OpenFault::Invalid), "bit {bit}");
        }
        for end in 0..text.len() {
            assert_eq!(sealer.open(at(5), &text[..end]), Err(OpenFault::Invalid), "cut at {end}");
        }
        for bad in [format!("{text}-TAMPERED"), format!("{text}A"), format!("{text}="), format!(" {text}")] {
            assert_eq!(sealer.open(at(5), &bad), Err(OpenFault::Invalid), "{bad}");
        }
    }

    #[test]
    fn states_expire_on_time() {
        let sealer = sealer(1);
        let text = sealer.seal(at(10_000), b"x").unwrap();
        for (now, fault) in [
            (10_000, None),
            (10_999, None),
            (11_000, Some(OpenFault::Expired)),
            (11_001, Some(OpenFault::Expired)),
            (u64::MAX, Some(OpenFault::Expired)),
            // Another node's clock is behind.
            (9_000, None),
            (8_999, Some(OpenFault::Expired)),
        ] {
            assert_eq!(sealer.open(at(now), &text).err(), fault, "{now}");
        }
    }

    #[test]
    fn nobody_else_and_no_other_request() {
        let sealer = sealer(1);
        let (alice, bob, empty) = (Principal::new("alice"), Principal::new("bob"), Principal::new(""));
        let who = |principal| Binding { principal, ..at(0) };
        let principals = [None, Some(&alice), Some(&bob), Some(&empty)];
        for owner in principals {
            let text = sealer.seal(who(owner), b"x").unwrap();
            for caller in principals {
                let opened = sealer.open(who(caller), &text);
                let expected = if owner == caller { Ok(b"x".to_vec()) } else { Err(OpenFault::Invalid) };
                assert_eq!(opened, expected, "{owner:?} {caller:?}");
            }
        }
        let text = sealer.seal(at(0), b"x").unwrap();
        let other = Binding { request: &[8; 32], ..at(0) };
        assert_eq!(sealer.open(other, &text), Err(OpenFault::OtherRequest));
        let strange = Binding { principal: Some(&bob), request: &[8; 32], now_ms: 5000 };
        assert_eq!(sealer.open(strange, &text), Err(OpenFault::Invalid), "a stranger learns nothing more");
    }

    #[test]
    fn the_first_key_seals_and_all_open() {
        let keys = [SealingKey::new([1; 32]), SealingKey::new([2; 32])];
        let rotated = Sealer::new(&[keys[1].clone(), keys[0].clone()], TTL, 4096);
        let (old, new) = (sealer(1), sealer(2));
        let text = old.seal(at(0), b"x").unwrap();
        assert_eq!(rotated.open(at(0), &text).unwrap(), b"x");
        assert_eq!(new.open(at(0), &text), Err(OpenFault::Invalid));
        let text = rotated.seal(at(0), b"y").unwrap();
        assert_eq!(new.open(at(0), &text).unwrap(), b"y");
        assert_eq!(old.open(at(0), &text), Err(OpenFault::Invalid));
        let (one, two) = (Sealer::new(&[], TTL, 4096), Sealer::new(&[], TTL, 4096));
        assert_eq!(two.open(at(0), &one.seal(at(0), b"z").unwrap()), Err(OpenFault::Invalid));
    }

    #[test]
    fn the_size_is_bounded_at_below_and_above() {
        let sealer = sealer(1);
        // 4096 characters are 3072 bytes.
        let fits = 3072 - 1 - NONCE - HEADER - TAG;
        for (size, ok) in [(fits - 1, true), (fits, true), (fits + 1, false)] {
            let sealed = sealer.seal(at(0), &vec![b'x'; size]);
            assert_eq!(sealed.as_ref().err(), (!ok).then_some(&SealFault::TooLarge), "{size}");
            if let Ok(text) = sealed {
                assert!(text.len() <= 4096 && sealer.open(at(0), &text).is_ok());
            }
        }
        assert_eq!(sealer.open(at(0), &"A".repeat(1 << 20)), Err(OpenFault::Invalid));
    }

    proptest! {
        #[test]
        fn opening_never_panics(text in ".{0,300}") {
            prop_assert!(sealer(1).open(at(0), &text).is_err());
        }

        #[test]
        fn opening_well_formed_base64_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(sealer(1).open(at(0), &URL_SAFE_NO_PAD.encode(bytes)).is_err());
        }

        #[test]
        fn even_a_forger_with_the_key_breaks_nothing(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
            let sealer = sealer(1);
            let sealed = sealer.keys[0]
                .encrypt(&XNonce::from([0; NONCE]), Payload { msg: &payload, aad: PURPOSE })
                .unwrap();
            let bytes = [&[VERSION][..], &[0; NONCE], &sealed].concat();
            prop_assert!(sealer.open(at(0), &URL_SAFE_NO_PAD.encode(bytes)).is_err());
        }
    }
}
