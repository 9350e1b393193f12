//! Where a table is: a directory, or a prefix of keys in an object store.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use salver_model::limits::DATASET_FILES_MAX;
use salver_model::spec::DatasetSpec;
use salver_model::{Code, Error, Result, Version};

use super::fault;
use super::inside::Inside;
use crate::buckets::{Buckets, CachedObject, ListedObject, Pinned};
use crate::delta_source::{DeltaSource, LOG};
use crate::file_stamp::inode;
use crate::location::unreadable;

/// A table's place, with what it takes to read there.
#[derive(Debug)]
pub(super) enum Place<'a> {
    Directory(PathBuf),
    Bucket { buckets: &'a Buckets, spec: &'a DatasetSpec, root: &'a str },
}

/// A file of the log, as it was listed.
#[derive(Clone, Debug)]
pub(super) struct LogFile {
    /// Its path below the log.
    pub(super) name: String,
    /// When it was written, in milliseconds since 1970.
    pub(super) modified_ms: i64,
    pub(super) bytes: u64,
    /// Whether it is a file, and not a pipe, a device or a directory, which may block who opens it.
    pub(super) is_regular: bool,
    origin: FileOrigin,
}

/// A file of a table.
#[derive(Clone, Debug)]
pub(super) enum FileOrigin {
    Disk(PathBuf),
    Object(Arc<ListedObject>),
}

/// A file of which everything is on disk as long as this lives.
#[derive(Debug)]
pub(super) struct WholeFile {
    pub(super) path: PathBuf,
    _parts: Option<Pinned>,
}

/// The data files of a table in an object store; of directories each file is looked for by itself.
#[derive(Debug)]
pub(super) struct DataListing {
    root: String,
    objects: HashMap<String, Arc<ListedObject>>,
}

impl<'a> Place<'a> {
    pub(super) fn of(source: &'a DeltaSource, spec: &'a DatasetSpec, buckets: &'a Buckets) -> Self {
        match source.directory() {
            Some(directory) => Self::Directory(directory),
            None => Self::Bucket { buckets, spec, root: &source.root },
        }
    }

    /// Returns the files of the log; of a store, only those whose names are not less than `from`, where it can tell.
    pub(super) fn log(&self, from: Option<u64>) -> Result<Vec<LogFile>> {
        match self {
            Self::Directory(root) => {
                let log = root.join(LOG);
                if !log.is_dir() {
                    return Ok(Vec::new());
                }
                disk_files(root, &log)
            }
            Self::Bucket { buckets, spec, root } => {
                let prefix = format!("{root}/{LOG}/");
                let after = from.filter(|from| *from > 0).map(|from| format!("{:020}.json", from - 1));
                let listed = buckets.list_below(spec, &prefix, after.as_deref())?;
                Ok(listed.into_iter().filter_map(|object| log_file(&object)).collect())
            }
        }
    }

    /// Returns the file that names a recent checkpoint, if it is there.
    pub(super) fn last_checkpoint(&self) -> Result<Option<LogFile>> {
        match self {
            // Listing a directory costs little.
            Self::Directory(_) => Ok(None),
            Self::Bucket { buckets, spec, root } => {
                let source = format!("{root}/{LOG}/_last_checkpoint");
                Ok(buckets.head(spec, &source)?.and_then(|object| log_file(&object)))
            }
        }
    }

    /// Returns a file of the log as it is on disk, which of an object is fetched. Blocks.
    pub(super) fn whole(&self, file: &LogFile) -> Result<WholeFile> {
        match (&file.origin, self) {
            (FileOrigin::Object(listed), Self::Bucket { buckets, spec, .. }) => {
                let object = buckets.object(spec, listed)?;
                Ok(WholeFile::of_object(&object)?)
            }
            (FileOrigin::Disk(path), _) => {
                check_regular(path).map_err(|cause| fault::damaged(file.label(), cause))?;
                Ok(WholeFile::of_disk(path))
            }
            (FileOrigin::Object(listed), Self::Directory(_)) => {
                Err(Error::internal(format!("`{}` is in no directory", listed.address)))
            }
        }
    }

    /// Lists what may be data files.
    pub(super) fn data(&self) -> Result<Option<DataListing>> {
        let Self::Bucket { buckets, spec, root } = self else { return Ok(None) };
        let listed = buckets.list_below(spec, &format!("{root}/"), None)?;
        let own = format!("{root}/");
        let below = |object: Arc<ListedObject>| {
            let below = object.address.to_string().strip_prefix(&own)?.to_owned();
            Some((below, object))
        };
        let objects = listed.into_iter().filter_map(below).collect();
        Ok(Some(DataListing { root: own, objects }))
    }
}

impl DataListing {
    /// Returns an object by its key below the table.
    pub(super) fn get(&self, below: &str) -> Option<&Arc<ListedObject>> {
        self.objects.get(below)
    }

    /// Returns the address of a key below the table, for messages.
    pub(super) fn label(&self, below: &str) -> String {
        format!("{}{below}", self.root)
    }
}

impl LogFile {
    /// Returns what tells its content from any other under its name.
    pub(super) fn version(&self) -> Version {
        match &self.origin {
            FileOrigin::Object(listed) => listed.version(),
            FileOrigin::Disk(path) => {
                let inode = std::fs::metadata(path).map_or(0, |about| inode(&about));
                Version::of(&(self.bytes, self.modified_ms, inode))
            }
        }
    }

    /// Returns its name for messages.
    pub(super) fn label(&self) -> String {
        match &self.origin {
            FileOrigin::Disk(path) => path.display().to_string(),
            FileOrigin::Object(listed) => listed.address.to_string(),
        }
    }
}

impl WholeFile {
    /// Fetches all that is missing of an object. Blocks.
    pub(super) fn of_object(object: &Arc<CachedObject>) -> Result<Self> {
        let parts = object.whole()?;
        Ok(Self { path: object.path().to_owned(), _parts: Some(parts) })
    }

    /// Returns a file on disk.
    pub(super) fn of_disk(path: &Path) -> Self {
        Self { path: path.to_owned(), _parts: None }
    }
}

/// Refuses what is no file, and may block who opens it.
pub(super) fn check_regular(path: &Path) -> std::io::Result<()> {
    match std::fs::metadata(path)?.is_file() {
        true => Ok(()),
        false => Err(std::io::Error::other("it is not a regular file")),
    }
}

fn log_file(object: &Arc<ListedObject>) -> Option<LogFile> {
    let (_, name) = object.address.key.rsplit_once(&format!("{LOG}/"))?;
    Some(LogFile {
        name: name.to_owned(),
        modified_ms: object.modified_ms(),
        bytes: object.bytes,
        is_regular: true,
        origin: FileOrigin::Object(Arc::clone(object)),
    })
}

/// Returns the files directly in a directory, and those of `_sidecars` in it.
fn disk_files(root: &Path, log: &Path) -> Result<Vec<LogFile>> {
    let inside = Inside::of(root).map_err(|cause| unreadable(root, &cause))?;
    let mut files = Vec::new();
    let sidecars = log.join("_sidecars");
    let nested = sidecars.is_dir().then_some((sidecars.as_path(), "_sidecars/"));
    for (dir, prefix) in std::iter::once((log, "")).chain(nested) {
        if !inside.has_directory(dir).map_err(|cause| unreadable(dir, &cause))? {
            return Err(fault::outside(root.display(), &dir.display().to_string()));
        }
        for entry in std::fs::read_dir(dir).map_err(|cause| unreadable(dir, &cause))? {
            let entry = entry.map_err(|cause| unreadable(dir, &cause))?;
            // A file may be cleaned up while it is listed.
            let path = entry.path();
            let (Ok(name), Ok(about)) = (entry.file_name().into_string(), std::fs::metadata(&path)) else { continue };
            let Ok(is_inside) = inside.has_file(&path) else { continue };
            if !is_inside {
                return Err(fault::outside(root.display(), &path.display().to_string()));
            }
            let modified = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            files.push(LogFile {
                name: format!("{prefix}{name}"),
                modified_ms: modified.and_then(|age| i64::try_from(age.as_millis()).ok()).unwrap_or(0),
                bytes: about.len(),
                is_regular: about.is_file(),
                origin: FileOrigin::Disk(path),
            });
            if files.len() > DATASET_FILES_MAX {
                let message = format!("`{}` holds more than {DATASET_FILES_MAX} files", dir.display());
                return Err(Error::new(Code::Source, message).with_hint("have old commits of the table cleaned up"));
            }
        }
    }
    Ok(files)
}
