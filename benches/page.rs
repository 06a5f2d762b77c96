//! Opening and sealing pages: alone and in batches, each backend that this
//! processor has, beside the plain `aes`, `cbc`, `hmac`, `sha1` and `sha2` crates
//! one page at a time. Criterion's "thrpt" counts plaintext and reserve.
//!
//! `cargo bench --bench page -- open/4096-SHA512` measures one group. Compare
//! within one run: other machines and other days have other clocks.

use std::hint::black_box;

use aes::cipher::{Array, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit};
use criterion::measurement::WallTime;
use criterion::{BatchSize, BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use criterion::{criterion_group, criterion_main};
use hmac::{Hmac, Mac};
use pageseal::crypto::{Backend, HashAlgorithm, random};
use pageseal::format::{PageCodec, PageRef, Settings, derive};
use pageseal::secret::{Key, SecretKey};

/// Page size and HMAC: what SQLCipher 4 makes, what 3 made, and others that it
/// can be told to make.
const PAGES: [(u32, HashAlgorithm); 6] = [
    (4096, HashAlgorithm::Sha512),
    (1024, HashAlgorithm::Sha1),
    (4096, HashAlgorithm::Sha1),
    (4096, HashAlgorithm::Sha256),
    (1024, HashAlgorithm::Sha512),
    (65536, HashAlgorithm::Sha512),
];

const BATCHES: [usize; 4] = [2, 4, 8, 16];

fn settings(page_size: u32, hmac: HashAlgorithm) -> Settings {
    let mut settings = Settings::default();
    settings.page_size = page_size;
    settings.hmac_algorithm = hmac;
    settings
}

fn codec(backend: Backend, settings: &Settings) -> PageCodec {
    let keys = derive(&Key::Raw(SecretKey::new([1; 32])), settings, &[2; 16]).unwrap();
    PageCodec::with_backend(backend, settings, &keys).unwrap()
}

/// Pages 2 and on in one buffer.
fn refs(buffer: &mut [u8], page_size: u32) -> Vec<PageRef<'_>> {
    buffer
        .chunks_mut(page_size as usize)
        .zip(2..)
        .map(|(bytes, pgno)| PageRef { pgno, bytes })
        .collect()
}

/// The HMAC of the crates over a page's ciphertext, IV and number.
fn crates_hmac(algorithm: HashAlgorithm, data: &[u8], pgno: u32, tag: &mut [u8]) {
    fn run<M: Mac + KeyInit + Clone>(mac: &M, data: &[u8], pgno: u32, tag: &mut [u8]) {
        let mac = mac.clone().chain_update(data);
        let out = mac.chain_update(pgno.to_le_bytes()).finalize().into_bytes();
        tag.copy_from_slice(&out);
    }
    // Setting a key up is two compressions of its own, which a codec made of the
    // crates would not pay for each page either; so it is cloned.
    thread_local! {
        static SHA1: Hmac<sha1::Sha1> = KeyInit::new_from_slice(&[1; 32]).unwrap();
        static SHA256: Hmac<sha2::Sha256> = KeyInit::new_from_slice(&[1; 32]).unwrap();
        static SHA512: Hmac<sha2::Sha512> = KeyInit::new_from_slice(&[1; 32]).unwrap();
    }
    match algorithm {
        HashAlgorithm::Sha1 => SHA1.with(|mac| run(mac, data, pgno, tag)),
        HashAlgorithm::Sha256 => SHA256.with(|mac| run(mac, data, pgno, tag)),
        HashAlgorithm::Sha512 => SHA512.with(|mac| run(mac, data, pgno, tag)),
    }
}

fn group<'a>(c: &'a mut Criterion, name: String, page_size: u32) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(page_size.into()));
    group
}

fn open(c: &mut Criterion) {
    for (page_size, hmac) in PAGES {
        let settings = settings(page_size, hmac);
        let name = format!("open/{page_size}-{hmac}");
        let mut group = group(c, name, page_size);
        let mut sealed = vec![0x5A; 16 * page_size as usize];
        for page in refs(&mut sealed, page_size) {
            let codec = codec(Backend::detect(), &settings);
            codec.seal(page.pgno, page.bytes).unwrap();
        }
        let size = page_size as usize;

        // The crates: the MAC alone, which is what the goals are measured by, and
        // MAC and CBC.
        let layout = *codec(Backend::detect(), &settings).layout();
        let covered = ..layout.mac_start();
        let mut tag = vec![0; hmac.output_len()];
        group.bench_function("crates, MAC alone/1", |b| {
            b.iter(|| crates_hmac(hmac, black_box(&sealed[covered]), 2, &mut tag));
        });
        group.bench_function("crates/1", |b| {
            let key = aes::cipher::Key::<aes::Aes256>::from([3; 32]);
            let iv = [4; 16].into();
            b.iter_batched_ref(
                || sealed[..size].to_vec(),
                |page| {
                    crates_hmac(hmac, &page[covered], 2, &mut tag);
                    let (blocks, _) = Array::slice_as_chunks_mut(&mut page[..layout.body_end()]);
                    cbc::Decryptor::<aes::Aes256Dec>::new(&key, &iv).decrypt_blocks(blocks);
                },
                BatchSize::SmallInput,
            );
        });
        for backend in Backend::available() {
            let codec = codec(backend, &settings);
            group.bench_function(BenchmarkId::new(backend.name(), 1), |b| {
                b.iter_batched_ref(
                    || sealed[..size].to_vec(),
                    |page| codec.open(2, page),
                    BatchSize::SmallInput,
                );
            });
            for count in BATCHES {
                group.throughput(Throughput::Bytes((count * size) as u64));
                group.bench_function(BenchmarkId::new(backend.name(), count), |b| {
                    let mut results = Vec::new();
                    b.iter_batched_ref(
                        || sealed[..count * size].to_vec(),
                        |pages| codec.open_batch(&mut refs(pages, page_size), &mut results),
                        BatchSize::SmallInput,
                    );
                });
            }
            group.throughput(Throughput::Bytes(page_size.into()));
        }
    }
}

fn seal(c: &mut Criterion) {
    for (page_size, hmac) in PAGES {
        let settings = settings(page_size, hmac);
        let name = format!("seal/{page_size}-{hmac}");
        let mut group = group(c, name, page_size);
        let size = page_size as usize;
        let mut buffer = vec![0x5A; 16 * size];

        let layout = *codec(Backend::detect(), &settings).layout();
        group.bench_function("crates/1", |b| {
            let key = aes::cipher::Key::<aes::Aes256>::from([3; 32]);
            let page = &mut buffer[..size];
            b.iter(|| {
                let iv: [u8; 16] = random::array().unwrap();
                let (blocks, _) = Array::slice_as_chunks_mut(&mut page[..layout.body_end()]);
                cbc::Encryptor::<aes::Aes256Enc>::new(&key, &iv.into()).encrypt_blocks(blocks);
                let (data, rest) = page.split_at_mut(layout.mac_start());
                crates_hmac(hmac, data, 2, &mut rest[..layout.mac_len()]);
            });
        });
        for backend in Backend::available() {
            let codec = codec(backend, &settings);
            group.bench_function(BenchmarkId::new(backend.name(), 1), |b| {
                b.iter(|| codec.seal(2, &mut buffer[..size]));
            });
            for count in BATCHES {
                group.throughput(Throughput::Bytes((count * size) as u64));
                group.bench_function(BenchmarkId::new(backend.name(), count), |b| {
                    let mut pages = refs(&mut buffer[..count * size], page_size);
                    b.iter(|| codec.seal_batch(&mut pages));
                });
            }
            group.throughput(Throughput::Bytes(page_size.into()));
        }
    }
}

fn small(c: &mut Criterion) {
    c.bench_function("random/IV", |b| b.iter(random::array::<16>));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(800))
        .sample_size(50);
    targets = open, seal, small
}
criterion_main!(benches);
