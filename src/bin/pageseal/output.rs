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
/// `source` is never a target, force or not.
pub(crate) fn check(target: &Path, force: bool, source: &Path) -> Result {
    if let (Ok(a), Ok(b)) = (fs::canonicalize(target), fs::canonicalize(source))
        && a == b
    {
        return Err(CliError::usage(format!(
            "{} is both source and output; name another output",
            target.display()
        )));
    }
    match fs::symlink_metadata(target) {
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

fn exists(target: &Path) -> CliError {
    CliError::new(Kind::Exists, format!("{} exists already", target.display()))
        .hint("name another output, or replace it with --force")
}

impl Output {
    /// Creates it. From here on Ctrl-C removes it.
    pub(crate) fn create(target: &Path, force: bool) -> Result<Self> {
        interrupt::install()?;
        let dir = match target.parent() {
            Some(dir) if dir != Path::new("") => dir,
            _ => Path::new("."),
        };
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
    let dir = match target.parent() {
        Some(dir) if dir != Path::new("") => dir,
        _ => Path::new("."),
    };
    if let Ok(dir) = File::open(dir) {
        let _ = dir.sync_all();
    }
}
