//! Decrypt, encrypt and re-key: every page of a snapshot into a new file, page for
//! page, so that row numbers, free pages and all stay where they are.

use zeroize::Zeroizing;

use crate::format::{PageCodec, PageRef};

use super::error::{OfflineError, Result};
use super::file::WriteFile;
use super::lanes;
use super::progress::Progress;
use super::snapshot::Snapshot;

/// Writes a snapshot's pages to `out`: in plaintext without `seal`, else sealed by
/// it, whatever they were sealed by before.
///
/// In plaintext the reserved bytes at the end of each page stay, as zeros: any
/// SQLite reads such a file, and it can be sealed page by page again.
///
/// # Errors
/// A page is bad, the pages are not laid out for `seal`, somebody wrote to the
/// source meanwhile, or something can't be read or written. `out` is then
/// incomplete.
pub fn rewrite(
    snapshot: &Snapshot,
    seal: Option<&PageCodec>,
    out: &WriteFile<'_>,
    threads: usize,
    progress: &dyn Progress,
) -> Result<()> {
    if let Some(codec) = seal {
        check_layout(snapshot, codec)?;
    }
    let page_size = snapshot.page_size() as usize;
    progress.begin(snapshot.bytes());
    out.set_len(snapshot.bytes())?;
    let done = lanes::work(
        threads,
        (1, snapshot.pages().into()),
        page_size,
        progress,
        || Zeroizing::new(Vec::new()),
        |buf, piece| {
            let first = piece.first as u32;
            buf.resize(piece.count * page_size, 0);
            let mut found = None;
            snapshot.load(first, buf, |bad| {
                found.get_or_insert(bad);
            })?;
            if let Some(bad) = found {
                return Err(snapshot.damaged(bad));
            }
            if let Some(codec) = seal {
                let mut pages: Vec<_> = buf
                    .chunks_exact_mut(page_size)
                    .enumerate()
                    .map(|(index, bytes)| PageRef {
                        pgno: first + index as u32,
                        bytes,
                    })
                    .filter(|page| page.pgno != snapshot.lock_page())
                    .collect();
                codec.seal_batch(&mut pages)?;
            }
            out.write(buf, (piece.first - 1) * page_size as u64)
        },
    );
    snapshot.files().unless_changed(done)?;
    snapshot.files().check_unchanged()
}

/// Whether every page of the snapshot has the size, and at least the room at its
/// end, that the codec needs. (More room is usual: SQLCipher itself leaves 80 bytes
/// in files of version 3, which need 48.)
///
/// # Errors
/// [`OfflineError::Layout`].
pub fn check_layout(snapshot: &Snapshot, codec: &PageCodec) -> Result<()> {
    let layout = codec.layout();
    let reserve = snapshot.header().map_or(0, |header| header.reserve);
    if snapshot.page_size() as usize == layout.page_size()
        && usize::from(reserve) >= layout.reserve()
    {
        return Ok(());
    }
    Err(OfflineError::Layout {
        path: snapshot.files().path().to_owned(),
        page_size: snapshot.page_size(),
        reserve,
        needed_page_size: layout.page_size() as u32,
        needed_reserve: layout.reserve() as u8,
    })
}
