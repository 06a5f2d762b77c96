//! The file that a command writes: complete under its name, or not there at all.

use std::fs::{self, File, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use pageseal::offline::side_path;
use tempfile::{NamedTempFile, TempPath};

use crate::error::{CliError, Kind, Result};
use crate::interrupt::{self, Unfinished};

/// A file under another name beside its target, readable by its owner only; gone if
/// it is not finished.
pub(crate) struct Output {
    file: File,
    path: TempPath,
    target: PathBuf,
    force: bool,
    unfinished: Unfinished,
}

/// Refuses a target that exists, so that the key is not asked for in vain.
/// Neither `source` nor one of its side files is ever a target, force or not.
pub(crate) fn check(target: &Path, force: bool, source: &Path) -> Result {
    if target == Path::new("-") {
        return Err(CliError::usage("the output can't be standard output")
            .hint("name a file; one that is really called - is ./-"));
    }
    if let (Ok(a), Ok(b)) = (fs::canonicalize(target), fs::canonicalize(source))
        && a == b
    {
        return Err(CliError::usage(format!(
            "{} is both source and output; name another output",
            target.display()
        )));
    }
    if let Some(side) = side_file(target, source) {
        return Err(CliError::usage(side).hint("name another output"));
    }
    match fs::symlink_metadata(target) {
        // A device or a pipe would be replaced, not written to; a link to one likewise.
        Ok(_) if fs::metadata(target).is_ok_and(|to| !to.is_file() && !to.is_dir()) => {
            return Err(CliError::new(
                Kind::Exists,
                format!("{} is not a regular file", target.display()),
            )
            .hint("name another output"));
        }
        Ok(metadata) if metadata.is_dir() => {
            return Err(CliError::new(
                Kind::Exists,
                format!("{} is a directory", target.display()),
            )
            .hint("name a file in it"));
        }
        Ok(_) if !force => return Err(exists(target)),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(CliError::io("write", target, &error)),
    }
    for suffix in ["-wal", "-journal"] {
        let side = side_path(target, suffix);
        // SQLite would take it for the new file's and play it into it.
        if fs::metadata(&side).is_ok_and(|metadata| metadata.len() > 0) {
            return Err(CliError::new(
                Kind::Exists,
                format!(
                    "{} is there and would be taken for the output's",
                    side.display()
                ),
            )
            .hint("remove it, or name another output"));
        }
    }
    Ok(())
}

/// What is wrong if one of the two is a side file of the other: commits may be in it
/// that are nowhere else, and SQLite would play a file of that name into the database.
fn side_file(target: &Path, source: &Path) -> Option<String> {
    const SUFFIXES: [&str; 3] = ["-wal", "-journal", "-shm"];
    // The source is followed if it is a link, since its side files stand beside the file
    // itself; the target is not, since a link there would be replaced.
    let source = fs::canonicalize(source).ok()?;
    let place = fs::canonicalize(directory(target))
        .ok()?
        .join(target.file_name()?);
    let is = |side: &Path, file: &Path| {
        // By name, and where case is no difference by what is there.
        side == file || fs::canonicalize(side).is_ok_and(|side| side == file)
    };
    let of = |file: &Path, database: &Path| {
        SUFFIXES
            .iter()
            .any(|suffix| is(&side_path(database, suffix), file))
    };
    let found = fs::canonicalize(&place).unwrap_or_else(|_| place.clone());
    if of(&place, &source) || of(&found, &source) {
        return Some(format!(
            "{} is a side file of the source, {}",
            target.display(),
            source.display()
        ));
    }
    of(&source, &place).then(|| {
        format!(
            "the source, {}, is a side file of the output, {}",
            source.display(),
            target.display()
        )
    })
}

/// The directory that a file is in.
fn directory(file: &Path) -> &Path {
    match file.parent() {
        Some(dir) if dir != Path::new("") => dir,
        _ => Path::new("."),
    }
}

fn exists(target: &Path) -> CliError {
    CliError::new(Kind::Exists, format!("{} exists already", target.display()))
        .hint("name another output, or replace it with --force")
}

impl Output {
    /// Creates it. From here on Ctrl-C removes it.
    pub(crate) fn create(target: &Path, force: bool) -> Result<Self> {
        interrupt::install()?;
        let dir = directory(target);
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let (file, path) = tempfile::Builder::new()
            .prefix(&format!(".{name}.pageseal-"))
            .tempfile_in(dir)
            .map(NamedTempFile::into_parts)
            .map_err(|error| CliError::io("write", target, &error))?;
        Ok(Self {
            file,
            unfinished: Unfinished::new(&path),
            path,
            target: target.to_owned(),
            force,
        })
    }

    /// The file to write to.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Where it is meanwhile.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it the permissions of `source`, makes it durable and gives it its name.
    pub(crate) fn finish(self, source: &Path) -> Result {
        let failed = |error: &io::Error| CliError::io("write", &self.target, error);
        if let Ok(metadata) = fs::metadata(source) {
            // A file system without permissions is no reason to fail.
            let _ = self.file.set_permissions(writable(metadata.permissions()));
        }
        self.file.sync_all().map_err(|error| failed(&error))?;
        let (path, target, force) = (self.path, &self.target, self.force);
        self.unfinished.finish(|| {
            let renamed = match force {
                true => path.persist(target),
                false => path.persist_noclobber(target),
            };
            renamed.map_err(|error| match error.error.kind() {
                io::ErrorKind::AlreadyExists => exists(target),
                _ => CliError::io("write", target, &error.error),
            })
        })?;
        sync_directory(&self.target);
        Ok(())
    }
}

/// The same permissions, with the owner's to read and write: the source may lie on
/// read-only media.
fn writable(mut permissions: Permissions) -> Permissions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        permissions.set_mode(permissions.mode() & 0o777 | 0o600);
    }
    #[cfg(not(unix))]
    permissions.set_readonly(false);
    permissions
}

/// Makes a rename durable. Where directories can't be synced it is anyway, or can't
/// be helped.
fn sync_directory(target: &Path) {
    if let Ok(dir) = File::open(directory(target)) {
        let _ = dir.sync_all();
    }
}
