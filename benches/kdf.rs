//! PBKDF2 with 10 000 rounds and a 32-byte key, each hash and each backend, beside
//! the `pbkdf2` crate. (SQLCipher 4 takes 256 000 rounds of SHA-512.)
//!
//! OpenSSL for comparison, in the same minute:
//! `python3 -m timeit -s 'import hashlib' 'hashlib.pbkdf2_hmac("sha512", b"x", b"y"*16, 10000, 32)'`

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use pageseal::crypto::pbkdf2::pbkdf2_with_backend;
use pageseal::crypto::{Backend, HashAlgorithm};

const ROUNDS: u32 = 10_000;

fn kdf(c: &mut Criterion) {
    for algorithm in [
        HashAlgorithm::Sha512,
        HashAlgorithm::Sha256,
        HashAlgorithm::Sha1,
    ] {
        let mut group = c.benchmark_group(format!("pbkdf2-{algorithm}"));
        let mut out = [0; 32];
        let (password, salt) = (b"correct horse battery staple", [7; 16]);
        group.bench_function("crate", |b| {
            let derive = match algorithm {
                HashAlgorithm::Sha1 => pbkdf2::pbkdf2_hmac::<sha1::Sha1>,
                HashAlgorithm::Sha256 => pbkdf2::pbkdf2_hmac::<sha2::Sha256>,
                HashAlgorithm::Sha512 => pbkdf2::pbkdf2_hmac::<sha2::Sha512>,
            };
            b.iter(|| derive(black_box(password), &salt, ROUNDS, &mut out));
        });
        for backend in Backend::available() {
            group.bench_function(BenchmarkId::from_parameter(backend.name()), |b| {
                let password = black_box(password);
                b.iter(|| {
                    pbkdf2_with_backend(backend, algorithm, password, &salt, ROUNDS, &mut out)
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(2))
        .sample_size(30);
    targets = kdf
}
criterion_main!(benches);
