//! Rewrites the checksums of frames that do not continue those before them: SQLCipher
//! appended them after one of our commits, see [`crate::session::shared_log`].

use crate::session::Session;
use crate::session::shared_log::LogTail;
use crate::sys as ffi;
use crate::translate::wal::{
    FRAME_HEADER, FRAME_SALTS, FRAME_SUM, HEADER, Header, frame_len, frame_offset,
};
use crate::translate::wal_index::IndexHeader;

use super::code::{Code, Result};
use super::ffi::host;
use super::lower::LowerFile;

/// Looks at what somebody else has committed. If it was SQLCipher, whose commits leave
/// the log's own checksum in the index, its frames may not continue ours.
pub(super) fn meet_others(log: &LowerFile, session: &Session) -> Result {
    let Some(found) = session.shared_log(|log| log.found) else {
        return Ok(());
    };
    // After an error it is still to be looked at.
    look_at(log, session, &found)?;
    session.shared_log(|log| log.found = None);
    Ok(())
}

/// The log's header, and whether it was SQLCipher that committed last; `None` where
/// nothing in the log is to be looked at.
fn last_commit(log: &LowerFile, found: &IndexHeader) -> Result<Option<(Header, bool)>> {
    // An index made from the log has its checksum too, but no commits.
    if found.last_frame() == 0 || found.commits() == 0 {
        return Ok(None);
    }
    let mut header = [0; HEADER as usize];
    match log.read(&mut header, 0) {
        Err(Code::SHORT_READ) => return Ok(None),
        read => read?,
    }
    let Some(header) = Header::parse(&header).filter(|header| header.salts == found.salts()) else {
        return Ok(None);
    };
    let stored = stored_sum(log, header.page_size as usize, found.last_frame())?;
    Ok(Some((header, stored == found.frame_sum())))
}

/// Whether SQLCipher committed last.
pub(super) fn is_sqlciphers(log: &LowerFile, found: &IndexHeader) -> Result<bool> {
    Ok(last_commit(log, found)?.is_some_and(|(_, in_its_terms)| in_its_terms))
}

fn look_at(log: &LowerFile, session: &Session, found: &IndexHeader) -> Result {
    let Some((header, in_its_terms)) = last_commit(log, found)? else {
        return Ok(());
    };
    // Else another program that goes by the plaintext was the last, or we, before the
    // index was to be kept right.
    if !in_its_terms && !session.shared_log(|log| log.is_kept()) {
        return Ok(());
    }
    let good = session.shared_log(|log| log.good);
    let Some(mended) = mend(log, &header, good, found.last_frame())? else {
        return Ok(());
    };
    let met = session.shared_log(|log| {
        log.is_good_to(mended.tail);
        let met = log.met;
        log.met |= in_its_terms;
        met
    });
    if mended.rewritten > 0 || (in_its_terms && !met) {
        let text = format!(
            "pageseal: SQLCipher is writing to the same log; {} checksums in it have been rewritten",
            mended.rewritten
        );
        host::log(ffi::SQLITE_NOTICE, &text);
    }
    Ok(())
}

/// The checksum of a frame, as it is stored.
fn stored_sum(log: &LowerFile, page_size: usize, frame: u64) -> Result<[u8; 8]> {
    let mut stored = [0; 8];
    let at = frame_offset(frame, page_size) + FRAME_SUM as u64;
    log.read(&mut stored, at)?;
    Ok(stored)
}

/// What came of it.
struct Mended {
    /// The last frame, with the checksum that it has now.
    tail: LogTail,
    /// How many frames got another checksum.
    rewritten: u64,
}

/// Makes the frames after `good`, or from the first, up to `last` continue each
/// other. `None`: a frame in between is not of this log.
///
/// Readers do not look at the checksums, and a recovery waits for the locks of all
/// who have the log open, so nobody sees half of it; a crash leaves no fewer frames
/// to recover than there were.
fn mend(
    log: &LowerFile,
    header: &Header,
    good: Option<LogTail>,
    last: u64,
) -> Result<Option<Mended>> {
    let page_size = header.page_size as usize;
    let good = good.filter(|good| good.salts == header.salts && good.frame <= last);
    // It may have been ours, not committed, and overwritten since.
    let good = match good {
        Some(good) if stored_sum(log, page_size, good.frame)? == good.sum => Some(good),
        _ => None,
    };
    let (first, mut sum) = match good {
        Some(good) => (good.frame + 1, header.checksum.at(good.sum)),
        None => (1, header.checksum),
    };
    let mut raw = vec![0; frame_len(page_size)];
    let mut rewritten = 0;
    for frame in first..=last {
        let offset = frame_offset(frame, page_size);
        log.read(&mut raw, offset)?;
        if raw[FRAME_SALTS..FRAME_SUM] != header.salts {
            return Ok(None);
        }
        sum.update(&raw[..8]);
        sum.update(&raw[FRAME_HEADER..]);
        if raw[FRAME_SUM..FRAME_HEADER] != sum.stored() {
            log.write(&sum.stored(), offset + FRAME_SUM as u64)?;
            rewritten += 1;
        }
    }
    if rewritten > 0 {
        log.sync(ffi::SQLITE_SYNC_NORMAL)?;
    }
    let tail = LogTail {
        salts: header.salts,
        frame: last,
        sum: sum.stored(),
    };
    Ok(Some(Mended { tail, rewritten }))
}
