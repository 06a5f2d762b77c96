//! What a file looks like whose pages are damaged, and what commands make of it: damage
//! is told as damage wherever the key can still be proved.

use std::fs;

use crate::session::Session;

/// Bytes of the vector, four pages.
const LEN: usize = 16384;

struct Case {
    what: &'static str,
    change: fn(&mut Vec<u8>),
    looks: &'static str,
    /// Exit code of `verify`; and where the salt is given, which page 1 no longer says.
    verify: i32,
    with_salt: i32,
}

const CASES: [Case; 8] = [
    Case {
        what: "nothing",
        change: |_| {},
        looks: "encrypted",
        verify: 0,
        with_salt: 0,
    },
    Case {
        what: "page 1 is zeros",
        change: |bytes| bytes[..4096].fill(0),
        looks: "encrypted_in_part",
        verify: 3,
        with_salt: 4,
    },
    Case {
        what: "page 2 is zeros",
        change: |bytes| bytes[4096..8192].fill(0),
        looks: "encrypted_in_part",
        verify: 4,
        with_salt: 4,
    },
    Case {
        what: "it starts with text",
        change: |bytes| bytes[..512].copy_from_slice(&"text ".repeat(103).as_bytes()[..512]),
        looks: "encrypted_in_part",
        verify: 3,
        with_salt: 4,
    },
    Case {
        what: "its second half is zeros",
        change: |bytes| bytes[LEN / 2..].fill(0),
        looks: "encrypted_in_part",
        verify: 4,
        with_salt: 4,
    },
    Case {
        what: "its second half is missing",
        change: |bytes| bytes.truncate(LEN / 2),
        looks: "encrypted",
        verify: 4,
        with_salt: 4,
    },
    Case {
        what: "all of it is zeros",
        change: |bytes| bytes.fill(0),
        looks: "other",
        verify: 3,
        with_salt: 3,
    },
    Case {
        what: "ten bytes are left",
        change: |bytes| bytes.truncate(10),
        looks: "other",
        verify: 3,
        with_salt: 3,
    },
];

#[test]
fn damage_is_told_as_damage() {
    for case in CASES {
        let session = Session::new();
        let path = session.vector("preset-4");
        let mut bytes = fs::read(&path).expect("the vector");
        assert_eq!(bytes.len(), LEN);
        let salt: String = bytes[..16].iter().map(|b| format!("{b:02x}")).collect();
        (case.change)(&mut bytes);
        fs::write(&path, bytes).expect("the vector");
        let before = session.everything();

        let info = session.run(&["info", "preset-4.db", "--json"]).fine();
        assert_eq!(info.json()["looks"], case.looks, "{}", case.what);

        let key = ["--key-file", "key"];
        for command in [
            &["verify", "preset-4.db"][..],
            &["decrypt", "preset-4.db", "out.db"],
            &["copy", "preset-4.db", "out.db"],
        ] {
            if case.verify == 0 {
                continue;
            }
            for (salt, code) in [
                (&[][..], case.verify),
                (&["--salt", &salt][..], case.with_salt),
            ] {
                let answer = session.run(&[command, &key, salt].concat());
                let said = format!("{}: {command:?} {salt:?}: {}", case.what, answer.stderr);
                assert_eq!(answer.code, Some(code), "{said}");
                assert_eq!(session.everything(), before, "{said}");
            }
        }
    }
}
