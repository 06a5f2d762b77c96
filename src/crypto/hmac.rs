//! HMAC (RFC 2104) with SHA-1, SHA-256 or SHA-512.

use core::fmt;

use ::hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha512};
use subtle::ConstantTimeEq;

use super::hash::HashAlgorithm;

/// Longest tag: HMAC-SHA512's.
pub const MAX_TAG_LEN: usize = 64;

/// An HMAC key with its two pads already hashed, so that a message costs only
/// its own blocks. It is wiped when dropped.
#[derive(Clone)]
pub struct MacKey(Keyed);

#[derive(Clone)]
enum Keyed {
    Sha1(Box<Hmac<Sha1>>),
    Sha256(Box<Hmac<Sha256>>),
    Sha512(Box<Hmac<Sha512>>),
}

impl MacKey {
    /// Prepares a key of any length.
    #[must_use]
    pub fn new(algorithm: HashAlgorithm, key: &[u8]) -> Self {
        Self(match algorithm {
            HashAlgorithm::Sha1 => Keyed::Sha1(Box::new(keyed(key))),
            HashAlgorithm::Sha256 => Keyed::Sha256(Box::new(keyed(key))),
            HashAlgorithm::Sha512 => Keyed::Sha512(Box::new(keyed(key))),
        })
    }

    /// The tag of `head` followed by `tail`.
    #[must_use]
    pub fn tag(&self, head: &[u8], tail: &[u8]) -> Tag {
        fn finish<M: Mac + Clone>(mac: &M, head: &[u8], tail: &[u8]) -> Tag {
            let out = mac.clone().chain_update(head).chain_update(tail).finalize();
            Tag::new(&out.into_bytes())
        }
        match &self.0 {
            Keyed::Sha1(mac) => finish(&**mac, head, tail),
            Keyed::Sha256(mac) => finish(&**mac, head, tail),
            Keyed::Sha512(mac) => finish(&**mac, head, tail),
        }
    }
}

/// Sets up one algorithm; HMAC takes keys of any length.
fn keyed<M: KeyInit>(key: &[u8]) -> M {
    match M::new_from_slice(key) {
        Ok(mac) => mac,
        Err(_) => unreachable!("HMAC takes keys of any length (RFC 2104)"),
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MacKey(..)")
    }
}

/// A computed MAC: 20, 32 or 64 bytes.
///
/// There is no `==`: a tag is compared with [`Tag::matches`], in constant time.
#[derive(Clone, Copy)]
pub struct Tag {
    bytes: [u8; MAX_TAG_LEN],
    len: usize,
}

impl Tag {
    fn new(tag: &[u8]) -> Self {
        let mut bytes = [0; MAX_TAG_LEN];
        bytes[..tag.len()].copy_from_slice(tag);
        Self {
            bytes,
            len: tag.len(),
        }
    }

    /// The tag, as it is stored.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether `stored` is this tag; takes the same time wherever they differ.
    #[must_use]
    pub fn matches(&self, stored: &[u8]) -> bool {
        self.as_bytes().ct_eq(stored).into()
    }
}

impl fmt::Debug for Tag {
    /// The right tag of a forged page is what a forger is looking for.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tag(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(algorithm: HashAlgorithm, key: &str, data: &str, tag: &str) {
        let (key, data) = (hex::decode(key).unwrap(), hex::decode(data).unwrap());
        let mac = MacKey::new(algorithm, &key);
        for cut in 0..=data.len() {
            let got = mac.tag(&data[..cut], &data[cut..]);
            assert_eq!(hex::encode(got.as_bytes()), tag);
            assert!(got.matches(&hex::decode(tag).unwrap()));
        }
    }

    /// RFC 2202, section 3: cases 1, 2, 3, 4, 6 and 7.
    #[test]
    fn rfc_2202_hmac_sha1() {
        let long = "aa".repeat(80);
        for (key, data, tag) in [
            (
                "0b".repeat(20),
                hex::encode("Hi There"),
                "b617318655057264e28bc0b6fb378c8ef146be00",
            ),
            (
                hex::encode("Jefe"),
                hex::encode("what do ya want for nothing?"),
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            ),
            (
                "aa".repeat(20),
                "dd".repeat(50),
                "125d7342b9ac11cd91a39af48aa17b4f63f175d3",
            ),
            (
                (1..=25).map(|b| format!("{b:02x}")).collect(),
                "cd".repeat(50),
                "4c9007f4026250c6bc8414f9bf50c86c2d7235da",
            ),
            (
                long.clone(),
                hex::encode("Test Using Larger Than Block-Size Key - Hash Key First"),
                "aa4ae5e15272d00e95705637ce8a3b55ed402112",
            ),
            (
                long,
                hex::encode(
                    "Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data",
                ),
                "e8e99d0f45237d786d6bbaa7965c7808bbff1a91",
            ),
        ] {
            check(HashAlgorithm::Sha1, &key, &data, tag);
        }
    }

    /// RFC 4231, section 4: cases 1 to 4, 6 and 7.
    #[test]
    fn rfc_4231_hmac_sha2() {
        let long = "aa".repeat(131);
        for (key, data, sha256, sha512) in [
            (
                "0b".repeat(20),
                hex::encode("Hi There"),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
                "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde\
                 daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
            ),
            (
                hex::encode("Jefe"),
                hex::encode("what do ya want for nothing?"),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
                "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
                 9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
            ),
            (
                "aa".repeat(20),
                "dd".repeat(50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
                "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39\
                 bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb",
            ),
            (
                (1..=25).map(|b| format!("{b:02x}")).collect(),
                "cd".repeat(50),
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
                "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3db\
                 a91ca5c11aa25eb4d679275cc5788063a5f19741120c4f2de2adebeb10a298dd",
            ),
            (
                long.clone(),
                hex::encode("Test Using Larger Than Block-Size Key - Hash Key First"),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
                "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352\
                 6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598",
            ),
            (
                long,
                hex::encode(
                    "This is a test using a larger than block-size key and a larger than \
                     block-size data. The key needs to be hashed before being used by the \
                     HMAC algorithm.",
                ),
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
                "e37b6a775dc87dbaa4dfa9f96e5e3ffddebd71f8867289865df5a32d20cdc944\
                 b6022cac3c4982b10d5eeb55c3e4de15134676fb6de0446065c97440fa8c6a58",
            ),
        ] {
            check(HashAlgorithm::Sha256, &key, &data, sha256);
            check(HashAlgorithm::Sha512, &key, &data, sha512);
        }
    }

    #[test]
    fn a_tag_matches_nothing_else() {
        let tag = MacKey::new(HashAlgorithm::Sha256, &[1; 32]).tag(b"page", b"1");
        let good = tag.as_bytes().to_vec();
        assert!(!tag.matches(&good[..31]));
        assert!(!tag.matches(&[]));
        for bit in 0..256 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(!tag.matches(&bad));
        }
        assert_eq!(format!("{tag:?}"), "Tag(..)");
    }
}
