//! Which protocol a connection speaks: HTTP/2 with prior knowledge opens with a fixed preface (RFC 9113 3.4).

pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What the first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Not enough yet.
    Undecided,
    /// Not the preface.
    Http1,
    /// The preface.
    Http2,
}

/// Judges a connection by its first bytes.
pub(super) fn judge(first: &[u8]) -> Protocol {
    if first.starts_with(PREFACE) {
        Protocol::Http2
    } else if PREFACE.starts_with(first) {
        Protocol::Undecided
    } else {
        Protocol::Http1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_is_undecided_and_every_change_is_http1() {
        for len in 0..PREFACE.len() {
            assert_eq!(judge(&PREFACE[..len]), Protocol::Undecided);
            let mut changed = PREFACE.to_vec();
            changed[len] ^= 1;
            assert_eq!(judge(&changed), Protocol::Http1);
            assert_eq!(judge(&changed[..=len]), Protocol::Http1);
        }
        assert_eq!(judge(PREFACE), Protocol::Http2);
        assert_eq!(judge(&[PREFACE, b"rest"].concat()), Protocol::Http2);
        assert_eq!(judge(b"POST /mcp"), Protocol::Http1);
        assert_eq!(judge(b"P"), Protocol::Undecided);
    }
}
