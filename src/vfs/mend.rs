//! Rewrites the checksums of frames that do not continue those before them: SQLCipher
//! appended them after one of our commits, see [`crate::session::shared_log`].

use crate::session::Session;
use crate::session::shared_log::LogTail;
use crate::sys as ffi;
use crate::translate::wal::{
    FRAME_HEADER, FRAME_SALTS, FRAME_SUM, HEADER, Header, frame_len, frame_offset,
};

use super::code::{Code, Result};
use super::ffi::host;
use super::lower::LowerFile;

/// Looks at what somebody else has committed. If it was SQLCipher, whose commits leave
/// the log's own checksum in the index, its frames may not continue ours.
pub(super) fn meet_others(log: &LowerFile, session: &Session) -> Result {
    let Some(found) = session.shared_log(|log| log.found.take()) else {
        return Ok(());
    };
    // An index made from the log has its checksum too, but no commits.
    if found.last_frame() == 0 || found.commits() == 0 {
        return Ok(());
    }
    let mut header = [0; HEADER as usize];
    match log.read(&mut header, 0) {
        Err(Code::SHORT_READ) => return Ok(()),
        read => read?,
    }
    let Some(header) = Header::parse(&header).filter(|header| header.salts == found.salts()) else {
        return Ok(());
    };
    let end = frame_offset(found.last_frame(), header.page_size as usize);
    let mut stored = [0; 8];
    log.read(&mut stored, end + FRAME_SUM as u64)?;
    if stored != found.frame_sum() {
        return Ok(());
    }
    let good = session.shared_log(|log| log.good);
    let Some(mended) = mend(log, &header, good, found.last_frame())? else {
        return Ok(());
    };
    let met = session.shared_log(|log| {
        log.is_good_to(mended.tail);
        core::mem::replace(&mut log.met, true)
    });
    if mended.rewritten > 0 || !met {
        let text = format!(
            "pageseal: SQLCipher is writing to the same log; {} checksums in it have been rewritten",
            mended.rewritten
        );
        host::log(ffi::SQLITE_NOTICE, &text);
    }
    Ok(())
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
