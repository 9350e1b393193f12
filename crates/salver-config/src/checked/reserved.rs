//! Files that are declared for another purpose are never served as rows: not under another name, through a link, in a
//! served directory, or when they appear later.
//!
//! A file is identified by its resolved path and, where the system has it, by its inode, so that neither another
//! spelling nor a link is another file. Both are checked at each access, because the file behind a name may change.
//! Files once seen under a declared name are remembered: a file of users that is replaced or moved away is not served
//! either.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use salver_model::functions::Language;
use salver_model::limits::DATASET_DEPTH_MAX;
use salver_model::spec::{DatabaseSpec, DatasetSpec, Reserve, SourceFormat, url_template};
use salver_text::percent;

use super::real_location::{self, FileId, file_id};
use super::{ACME_DIR, Checked, OBJECTS_DIR, sources, stream};
use crate::mistake::{Findings, Mistake};
use crate::raw::{Raw, Table};

/// Suffixes of the files beside a SQLite database.
const BESIDE_SQLITE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// URL parameters that name a file.
const URL_FILES: [&str; 4] = ["sslrootcert", "ssl-ca", "ssl_ca", "sslkey"];
/// Files of the data directory that nobody but the server may read.
const SECRET_FILES: [&str; 5] =
    ["tokens.key", "sessions.journal", "sessions.next", "acme/account.json", "acme/certificate.pem"];
/// Prefix of the directories of running processes.
const RUN_PREFIX: &str = "salver-run-";

/// Inputs of a server beside its declared settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerInputs<'g> {
    /// Configuration file.
    pub(crate) file: Option<&'g Path>,
    /// Datasets discovered in directories.
    pub(crate) discovered: &'g [DatasetSpec],
}

/// Reserved files.
#[derive(Debug, Default)]
pub(super) struct Files {
    files: Vec<PathBuf>,
    trees: Vec<PathBuf>,
    /// Directories with code, in which only files of code are reserved.
    code: Vec<PathBuf>,
    /// SQLite databases of callers, each of which is reserved.
    databases: Vec<String>,
    /// Every file ever seen at one of `files`.
    known: Mutex<HashSet<FileId>>,
}

/// Reserved files at one moment.
struct ReservedFiles<'f> {
    of: &'f Files,
    paths: HashSet<PathBuf>,
    ids: HashSet<FileId>,
    trees: Vec<PathBuf>,
    code: Vec<PathBuf>,
    /// Files below the trees; collected only when a file has several names.
    below: Option<HashSet<FileId>>,
    /// Resolved paths of directories.
    real: HashMap<PathBuf, PathBuf>,
}

impl Files {
    /// Collects the files declared in `raw` or discovered, as they are in `checked`.
    fn of(raw: &Raw, checked: &Checked, given: ServerInputs<'_>) -> Self {
        let mut own = Self::default();
        own.files.extend(given.file.map(Path::to_owned));
        for database in &checked.databases {
            own.add_database(database);
        }
        if let Some(auth) = &checked.auth {
            let key_set = auth.jwt.key_set.as_ref().filter(|location| !location.contains("://")).map(PathBuf::from);
            let secret = auth.oidc.as_ref().and_then(|oidc| oidc.client_secret_file.clone());
            let named = [auth.basic_file.clone(), auth.api_keys_file.clone(), key_set, secret];
            own.files.extend(named.into_iter().flatten());
        }
        own.files.extend(checked.datasets.iter().filter_map(|spec| spec.object_store.credentials_file.clone()));
        let certificate = checked.server.tls.iter().filter_map(|tls| tls.files());
        own.files.extend(certificate.flat_map(|files| [files.certificate.clone(), files.key.clone()]));
        own.files.extend(checked.server.tls.iter().filter_map(|tls| tls.acme()?.authorities.clone()));
        let client = checked.server.tls.iter().filter_map(|tls| tls.client.as_ref());
        own.files.extend(client.map(|client| client.authorities.clone()));
        for spec in &checked.functions {
            own.files.push(spec.file.clone());
            own.code.extend(spec.file.parent().map(Path::to_owned));
        }
        let beside = given.file.and_then(Path::parent).unwrap_or(Path::new(""));
        own.trees.push(beside.join(stream::DATA_DIR));
        own.trees.extend(checked.streams.iter().map(|spec| spec.dir.clone()));
        for table in &raw.streams {
            let schema = table.text("schema").filter(|text| !stream::is_schema(text));
            own.files.extend(schema.map(PathBuf::from));
        }
        let properties =
            checked.streams.iter().filter_map(|spec| spec.kafka.as_ref()).flat_map(|kafka| &kafka.properties);
        own.files
            .extend(properties.filter(|(name, _)| name.ends_with(".location")).map(|(_, value)| PathBuf::from(value)));
        // Where rows are kept in the same directory, what is secret in it stays so.
        let secret = checked.server.data_dir.iter().flat_map(|dir| SECRET_FILES.map(|name| dir.join(name)));
        own.files.extend(secret);
        own.trees.extend(checked.server.data_dir.iter().flat_map(|dir| [dir.join(ACME_DIR), dir.join(OBJECTS_DIR)]));
        own.trees.extend(checked.server.data_dir.clone().filter(|dir| !serves_from(dir, given)));
        own
    }

    /// Returns the files of databases that grant other access than `database` does.
    fn unlike(database: &DatabaseSpec, all: &[DatabaseSpec]) -> Self {
        let mut others = Self::default();
        all.iter()
            .filter(|other| !real_location::is_alike(other, database))
            .for_each(|other| others.add_database(other));
        others
    }

    fn add_database(&mut self, database: &DatabaseSpec) {
        self.files.extend(database.init.clone());
        let parameters = database.url.split_once('?').map_or("", |(_, parameters)| parameters).split('&');
        let named = parameters.filter_map(|pair| pair.split_once('=')).filter(|(key, _)| URL_FILES.contains(key));
        self.files.extend(named.map(|(_, path)| PathBuf::from(percent::decode(path))));
        if database.of_caller.is_some() {
            self.databases.extend(
                real_location::sqlite_path(&database.url)
                    .and_then(|path| absolute(Path::new(path)).to_str().map(str::to_owned)),
            );
        } else if let Some(path) = real_location::sqlite_path(&database.url) {
            self.files.push(PathBuf::from(path));
            self.files.extend(BESIDE_SQLITE.iter().map(|end| PathBuf::from(format!("{path}{end}"))));
        }
    }

    fn see(&self) -> ReservedFiles<'_> {
        let real = |paths: &[PathBuf]| paths.iter().map(|path| real_location::real(path)).collect::<Vec<_>>();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(self.files.iter().filter_map(|path| file_id(path)));
        ReservedFiles {
            of: self,
            paths: real(&self.files).into_iter().collect(),
            ids: known.clone(),
            trees: real(&self.trees),
            code: real(&self.code),
            below: None,
            real: HashMap::new(),
        }
    }
}

impl Reserve for Files {
    fn are_reserved(&self, files: &[PathBuf]) -> Vec<bool> {
        let mut seen = self.see();
        files.iter().map(|path| seen.has(path)).collect()
    }
}

impl ReservedFiles<'_> {
    fn has(&mut self, path: &Path) -> bool {
        let real = self.real(path);
        if self.paths.contains(&real) || self.trees.iter().any(|tree| real.starts_with(tree)) || self.is_code(&real) {
            return true;
        }
        let is_run = |part: std::path::Component<'_>| part.as_os_str().to_string_lossy().starts_with(RUN_PREFIX);
        if real.components().any(is_run) || self.of.databases.iter().any(|url| is_of_caller(url, &real)) {
            return true;
        }
        let Some(id) = file_id(path) else { return false };
        self.ids.contains(&id) || (real_location::has_names(path) && self.below().contains(&id))
    }

    fn is_code(&self, real: &Path) -> bool {
        Language::of_file(real).is_some()
            && real.parent().is_some_and(|parent| self.code.iter().any(|own| own == parent))
    }

    /// Resolves the path of the file. Directories are resolved once.
    fn real(&mut self, path: &Path) -> PathBuf {
        let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if !is_link => {
                let parent = match self.real.get(parent) {
                    Some(known) => known.clone(),
                    None => {
                        let found = real_location::real(parent);
                        self.real.insert(parent.to_owned(), found.clone());
                        found
                    }
                };
                parent.join(name)
            }
            _ => real_location::real(path),
        }
    }

    fn below(&mut self) -> &HashSet<FileId> {
        let trees = &self.trees;
        self.below.get_or_insert_with(|| {
            let mut found = HashSet::new();
            let mut open: Vec<PathBuf> = trees.clone();
            while let Some(dir) = open.pop() {
                for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
                    match entry.file_type() {
                        Ok(kind) if kind.is_dir() => open.push(entry.path()),
                        _ => found.extend(file_id(&entry.path())),
                    }
                }
            }
            found
        })
    }
}

/// Returns whether the file is some caller's database at `url`, an absolute path with `{caller.NAME}` in it, or beside
/// it.
fn is_of_caller(url: &str, real: &Path) -> bool {
    let Some(text) = real.to_str() else { return false };
    let text = BESIDE_SQLITE.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    url_template::may_be(url, text)
}

fn absolute(path: &Path) -> PathBuf {
    // The placeholder is not part of a directory, so the path before it is resolved.
    match path.parent() {
        Some(parent) if !parent.to_string_lossy().contains('{') => {
            real_location::real(parent).join(path.file_name().unwrap_or_default())
        }
        _ => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
    }
}

/// Returns whether files are also served from the directory of streams and conversions, so that it is not reserved as a
/// whole.
fn serves_from(dir: &Path, given: ServerInputs<'_>) -> bool {
    let dir = real_location::real(dir);
    let found = given.discovered.iter().flat_map(|spec| &spec.sources).map(Path::new);
    // An operator may keep everything in one directory, including the served files.
    std::env::current_dir().is_ok_and(|here| real_location::real(&here).starts_with(&dir))
        || found
            .chain(given.file)
            .any(|path| real_location::real(path).parent().is_some_and(|parent| parent.starts_with(&dir)))
}

/// Ensures that no dataset of `checked` reads a file that is declared for another purpose, and no database one of
/// another with different rules. An explicit conflict is a mistake; discovered entries are dropped.
pub(crate) fn keep_apart(raw: &Raw, checked: &mut Checked, given: ServerInputs<'_>, findings: &mut Findings) {
    let files = Files::of(raw, checked, given);
    for table in &raw.datasets {
        refuse(table, &files, findings);
    }
    let written = |spec: &DatasetSpec| raw.datasets.iter().any(|table| table.text("name") == Some(spec.name.as_str()));
    let is_reserved = |spec: &DatasetSpec| {
        let paths: Vec<PathBuf> = spec.sources.iter().map(PathBuf::from).collect();
        let below: Vec<PathBuf> = paths.iter().flat_map(|path| rows_below(path)).collect();
        files.are_reserved(&paths).contains(&true)
            || (!below.is_empty() && !files.are_reserved(&below).contains(&false))
    };
    checked.datasets.retain(|spec| written(spec) || !is_reserved(spec));
    let reserved = salver_model::spec::Reserved::new(std::sync::Arc::new(files));
    for spec in &mut checked.datasets {
        spec.reserved = reserved.clone();
    }
    // Another database's file may appear at a path while the server runs.
    let others: Vec<_> = checked.databases.iter().map(|spec| Files::unlike(spec, &checked.databases)).collect();
    for (spec, others) in checked.databases.iter_mut().zip(others) {
        spec.reserved = salver_model::spec::Reserved::new(std::sync::Arc::new(others));
    }
}

/// Returns files that may be rows in a discovered directory, as many as needed to know that there are some.
fn rows_below(dir: &Path) -> Vec<PathBuf> {
    const FILES_LOOKED_AT: usize = 10_000;
    let mut found = Vec::new();
    let mut open = vec![(dir.to_owned(), 0)];
    while let Some((dir, depth)) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_hidden = entry.file_name().to_string_lossy().starts_with(['.', '_']);
            if path.is_dir() && depth < DATASET_DEPTH_MAX && !is_hidden {
                open.push((path, depth + 1));
            } else if path.is_file() && !is_hidden && may_be_rows(&path) {
                found.push(path);
            }
        }
        if found.len() >= FILES_LOOKED_AT {
            break;
        }
    }
    found
}

/// Returns whether one of the extensions of the file's name is that of a format.
fn may_be_rows(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.split('.').skip(1).any(|suffix| SourceFormat::of_suffix(suffix).is_some())
}

fn refuse(table: &Table, files: &Files, findings: &mut Findings) {
    for source in table.texts("source").unwrap_or_default() {
        let Some(path) = sources::as_path(source) else { continue };
        if files.are_reserved(&[path.to_owned()]).contains(&true) {
            let message = format!("`{source}` is declared for another purpose, and is not a dataset");
            let hint =
                "databases, streams, functions, users, keys and settings are served as what they are, or not at all";
            findings.mistake(Mistake::new(table.place_of("source"), message).with_hint(hint));
        }
    }
}
