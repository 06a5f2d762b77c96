use super::*;

fn check(algorithm: HashAlgorithm, key: &str, data: &str, tag: &str) {
    let (key, data) = (hex::decode(key).unwrap(), hex::decode(data).unwrap());
    let (data, suffix) = data.split_last_chunk().unwrap();
    let message = Message {
        data,
        suffix: *suffix,
    };
    for backend in Backend::available() {
        let mac = MacKey::with_backend(backend, algorithm, &key);
        let got = mac.tag(message);
        assert_eq!(hex::encode(got.as_bytes()), tag, "{backend:?}");
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
    let tag = MacKey::new(HashAlgorithm::Sha256, &[1; 32]).tag(Message {
        data: b"page",
        suffix: [1, 0, 0, 0],
    });
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

/// Every way to hash gives what the crates give: each backend, 1 to 40 messages
/// at once, of lengths around each block's edge and both padding lengths, in runs
/// of unequal length.
#[test]
fn tags_of_many_are_those_of_each() {
    use ::hmac::{Hmac, KeyInit, Mac};

    fn expected<M: Mac + KeyInit>(key: &[u8], message: &Message<'_>) -> Vec<u8> {
        M::new_from_slice(key)
            .unwrap()
            .chain_update(message.data)
            .chain_update(message.suffix)
            .finalize()
            .into_bytes()
            .to_vec()
    }

    let bytes: Vec<u8> = (0..5000u32).map(|i| ((i * i) >> 3) as u8).collect();
    let key = &bytes[100..132];
    let lens = [
        0, 1, 50, 51, 52, 59, 60, 61, 63, 64, 65, 107, 108, 109, 123, 124, 125, 127, 128, 129, 240,
        255, 256, 257, 508, 992, 1008, 4000, 4032, 4096,
    ];
    for algorithm in [
        HashAlgorithm::Sha1,
        HashAlgorithm::Sha256,
        HashAlgorithm::Sha512,
    ] {
        for backend in Backend::available() {
            let mac = MacKey::with_backend(backend, algorithm, key);
            for (round, len) in lens.into_iter().enumerate() {
                let messages: Vec<_> = (0..1 + (round * 7) % 40)
                    .map(|i| Message {
                        data: &bytes[i * 3..][..if i % 19 == 18 { len / 2 } else { len }],
                        suffix: (i as u32).to_le_bytes(),
                    })
                    .collect();
                let mut tags = vec![Tag::default(); messages.len()];
                mac.tags(&messages, &mut tags);
                for (tag, message) in tags.iter().zip(&messages) {
                    let expected = match algorithm {
                        HashAlgorithm::Sha1 => expected::<Hmac<sha1::Sha1>>(key, message),
                        HashAlgorithm::Sha256 => expected::<Hmac<sha2::Sha256>>(key, message),
                        HashAlgorithm::Sha512 => expected::<Hmac<sha2::Sha512>>(key, message),
                    };
                    assert_eq!(tag.as_bytes(), expected, "{backend:?} {algorithm} {len}");
                    assert_eq!(mac.tag(*message).as_bytes(), expected);
                }
            }
        }
    }
}
