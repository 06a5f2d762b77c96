//! PBKDF2 (RFC 8018, section 5.2) over the HMACs of [`super::hmac`].

use zeroize::Zeroize;

use super::dispatch::Backend;
use super::engine::{Engine, Sha1, Sha256, Sha512};
use super::hash::HashAlgorithm;
use super::hmac::{Message, Pair};
use super::kernels::portable::Chain;

/// Output blocks that go through the rounds together. An AES key takes two of
/// SHA-1 and one of the others.
const CHAINS: usize = 2;

/// Derives `out` from a password by `iterations` rounds; 0 counts as 1.
pub fn pbkdf2(
    algorithm: HashAlgorithm,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    out: &mut [u8],
) {
    pbkdf2_with_backend(
        Backend::detect(),
        algorithm,
        password,
        salt,
        iterations,
        out,
    );
}

/// As [`pbkdf2`], with kernels of the caller's choice, for measuring.
pub fn pbkdf2_with_backend(
    backend: Backend,
    algorithm: HashAlgorithm,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    out: &mut [u8],
) {
    let derive = match algorithm {
        HashAlgorithm::Sha1 => derive::<Sha1>,
        HashAlgorithm::Sha256 => derive::<Sha256>,
        HashAlgorithm::Sha512 => derive::<Sha512>,
    };
    derive(backend, password, salt, iterations, out);
}

fn derive<E: Engine>(
    backend: Backend,
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    out: &mut [u8],
) {
    let pads = Pair::<E>::new(backend, password);
    let mut number = 0u32;
    for group in out.chunks_mut(CHAINS * E::OUT) {
        let mut chains = [Chain {
            u: E::INIT,
            sum: E::INIT,
        }; CHAINS];
        let chains = &mut chains[..group.len().div_ceil(E::OUT)];
        for chain in chains.iter_mut() {
            number = number.wrapping_add(1);
            let first = pads.hmac(
                backend,
                Message {
                    data: salt,
                    suffix: number.to_be_bytes(),
                },
            );
            *chain = Chain {
                u: first,
                sum: first,
            };
        }
        let rounds = iterations.saturating_sub(1);
        E::chains(backend, &pads.inner, &pads.outer, chains, rounds);
        for (bytes, chain) in group.chunks_mut(E::OUT).zip(chains) {
            let mut block = [0; super::hmac::MAX_TAG_LEN];
            E::put(&chain.sum, &mut block[..E::OUT]);
            bytes.copy_from_slice(&block[..bytes.len()]);
            block.zeroize();
            chain.u.zeroize();
            chain.sum.zeroize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(algorithm: HashAlgorithm, password: &[u8], salt: &[u8], rounds: u32, key: &str) {
        let mut out = vec![0; key.len() / 2];
        for backend in Backend::available() {
            pbkdf2_with_backend(backend, algorithm, password, salt, rounds, &mut out);
            assert_eq!(hex::encode(&out), key, "{backend:?}");
        }
    }

    /// RFC 6070, without the case of 16 777 216 rounds.
    #[test]
    fn rfc_6070_sha1() {
        for (password, salt, rounds, key) in [
            (
                &b"password"[..],
                &b"salt"[..],
                1,
                "0c60c80f961f0e71f3a9b524af6012062fe037a6",
            ),
            (
                b"password",
                b"salt",
                2,
                "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957",
            ),
            (
                b"password",
                b"salt",
                4096,
                "4b007901b765489abead49d926f721d065a429c1",
            ),
            (
                b"passwordPASSWORDpassword",
                b"saltSALTsaltSALTsaltSALTsaltSALTsalt",
                4096,
                "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038",
            ),
            (
                b"pass\0word",
                b"sa\0lt",
                4096,
                "56fa6aa75548099dcc37d7f03425e0c3",
            ),
        ] {
            check(HashAlgorithm::Sha1, password, salt, rounds, key);
        }
    }

    /// RFC 7914, section 11.
    #[test]
    fn rfc_7914_sha256() {
        check(
            HashAlgorithm::Sha256,
            b"passwd",
            b"salt",
            1,
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc\
             49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783",
        );
        check(
            HashAlgorithm::Sha256,
            b"Password",
            b"NaCl",
            80_000,
            "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56\
             a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d",
        );
    }

    /// OpenSSL 3.0 (`hashlib.pbkdf2_hmac` of CPython), longer than one block of
    /// output and with a password longer than a block of the hash.
    #[test]
    fn openssl_sha512() {
        for (password, salt, rounds, key) in [
            (
                "password".to_owned(),
                "salt".to_owned(),
                1,
                "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252\
c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce",
            ),
            (
                "passwordPASSWORDpassword".to_owned(),
                "saltSALTsaltSALTsaltSALTsaltSALTsalt".to_owned(),
                4096,
                "8c0511f4c6e597c6ac6315d8f0362e225f3c501495ba23b868c005174dc4ee71\
115b59f9e60cd9532fa33e0f75aefe30225c583a186cd82bd4daea9724a3d3b8",
            ),
            (
                "p".repeat(200),
                "s".repeat(150),
                3,
                "c1498b868262b68a4c50a98f6b74e33960d96860486ae8730ebe61eb3005ebde\
3292318a83a0fd0edcf604e83117387d3f54e96e5977bab6b53d3de9ac0e5edb\
dac855747c0b258a4770fc3ed77b98fcacd5c00ed13f7c9a9e1e1390bb61c63e\
c8057f6d",
            ),
        ] {
            check(
                HashAlgorithm::Sha512,
                password.as_bytes(),
                salt.as_bytes(),
                rounds,
                key,
            );
        }
    }
}
