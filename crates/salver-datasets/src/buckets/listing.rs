//! Lists the objects of a source: one object, those below a prefix as below a directory, or those that match a pattern.

use std::sync::Arc;

use object_store::list::PaginatedListOptions;
use object_store::path::Path;
use object_store::{GetOptions, ObjectMeta};
use salver_model::limits::DATASET_FILES_MAX;
use salver_model::{Code, Error, Result};

use super::address::Address;
use super::client::Client;
use super::fault;
use super::listed_object::ListedObject;
use super::retries::{SILENCE, persistently};

/// Objects of one page.
const PAGE_OBJECTS: usize = 1_000;
/// Characters that make a key a pattern.
const WILD: [char; 3] = ['*', '?', '['];

/// The objects of a source.
#[derive(Debug)]
pub(crate) struct Listing {
    /// What the source names.
    pub(crate) kind: ListingKind,
    /// The part of the keys below which directories are told.
    pub(crate) root: String,
    /// The objects, sorted by key.
    pub(crate) objects: Vec<Arc<ListedObject>>,
}

/// What a source names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListingKind {
    /// One object.
    Object,
    /// All objects below a prefix.
    Directory,
    /// The objects that match a pattern.
    Pattern,
}

/// Lists the objects at `address`.
///
/// # Errors
/// If the store can't be reached or refuses, or if there are too many objects.
pub(super) async fn list(client: &Client, address: &Address) -> Result<Listing> {
    let key = address.key.as_str();
    if key.contains(WILD) {
        return matching(client, address).await;
    }
    if !key.is_empty()
        && !key.ends_with('/')
        && let Some(object) = head(client, address).await?
    {
        let root = directory_of(key).to_owned();
        return Ok(Listing { kind: ListingKind::Object, root, objects: vec![Arc::new(object)] });
    }
    let root = if key.is_empty() || key.ends_with('/') { key.to_owned() } else { format!("{key}/") };
    let objects = pages(client, address, Wanted { prefix: &root, after: None, is_flat: false }, |_| true).await?;
    if objects.is_empty() && !key.is_empty() {
        return Err(Error::new(Code::Source, format!("there is no object `{address}`, and none below it"))
            .with_hint("check the bucket and the key; keys are case-sensitive"));
    }
    Ok(Listing { kind: ListingKind::Directory, root, objects })
}

async fn matching(client: &Client, address: &Address) -> Result<Listing> {
    let key = address.key.as_str();
    let pattern = glob::Pattern::new(key).map_err(|cause| {
        Error::new(Code::Source, format!("`{address}` is not a pattern: {}", cause.msg))
            .with_hint("`*` and `?` match within a name, `**` any directories, `[ab]` one of the characters")
    })?;
    let options =
        glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };
    let fixed = &key[..key.find(WILD).unwrap_or(key.len())];
    // What is further below can't match if only the last name is a pattern.
    let is_flat = !key[fixed.len()..].contains('/') && !key.contains("**");
    let root = directory_of(fixed).to_owned();
    let wanted = Wanted { prefix: fixed, after: None, is_flat };
    let objects = pages(client, address, wanted, |found| found == key || pattern.matches_with(found, options)).await?;
    // As with files: the name itself comes before what it means as a pattern.
    if let Some(exact) = objects.iter().find(|object| object.address.key == key) {
        let objects = vec![Arc::clone(exact)];
        return Ok(Listing { kind: ListingKind::Object, root: directory_of(key).to_owned(), objects });
    }
    Ok(Listing { kind: ListingKind::Pattern, root, objects })
}

/// Returns a key up to its last slash.
fn directory_of(key: &str) -> &str {
    key.rfind('/').map_or("", |end| &key[..=end])
}

/// Returns the objects whose keys begin with that of `address`, and of these those after `after`, sorted by key; all of
/// them from a store that does not know how.
///
/// # Errors
/// If the store can't be reached or refuses, or if there are too many objects.
pub(super) async fn below(client: &Client, address: &Address, after: Option<&str>) -> Result<Vec<Arc<ListedObject>>> {
    pages(client, address, Wanted { prefix: &address.key, after, is_flat: false }, |_| true).await
}

/// Which objects are asked for.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    prefix: &'a str,
    /// The key that they come after.
    after: Option<&'a str>,
    /// Whether only those directly below the prefix are.
    is_flat: bool,
}

/// Returns the object at `address`, if there is one.
pub(super) async fn head(client: &Client, address: &Address) -> Result<Option<ListedObject>> {
    let path = Path::parse(&address.key).map_err(|cause| fault::explained(address, cause.into()))?;
    let options = GetOptions { head: true, ..GetOptions::default() };
    let found = persistently(address, SILENCE, || async {
        match client.objects.get_opts(&path, options.clone()).await {
            Ok(found) => Ok(Some(found.meta)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    })
    .await?;
    // The path is without what the key may have at its ends.
    Ok(found.map(|about| ListedObject::new(address, &ObjectMeta { location: path, ..about })))
}

/// Returns the wanted objects whose keys are a match, sorted by key.
async fn pages(
    client: &Client,
    address: &Address,
    Wanted { prefix, after, is_flat }: Wanted<'_>,
    is_match: impl Fn(&str) -> bool,
) -> Result<Vec<Arc<ListedObject>>> {
    let (mut objects, mut seen, mut page_token) = (Vec::new(), 0_usize, None);
    loop {
        let options = || PaginatedListOptions {
            offset: after.map(str::to_owned),
            delimiter: is_flat.then(|| "/".into()),
            max_keys: Some(PAGE_OBJECTS),
            page_token: Option::clone(&page_token),
            ..PaginatedListOptions::default()
        };
        let prefix = (!prefix.is_empty()).then_some(prefix);
        let page = persistently(address, SILENCE, || client.listing.0.list_paginated(prefix, options())).await?;
        seen += page.result.objects.len();
        if seen > DATASET_FILES_MAX {
            return Err(Error::new(
                Code::Source,
                format!("`{address}` is among more than {DATASET_FILES_MAX} objects"),
            )
            .with_hint("name a longer prefix, or merge the objects"));
        }
        for about in &page.result.objects {
            // An empty object without a suffix stands for a directory.
            let is_directory =
                about.size == 0 && !about.location.as_ref().rsplit('/').next().unwrap_or_default().contains('.');
            if !is_directory && is_match(about.location.as_ref()) {
                objects.push(Arc::new(ListedObject::new(address, about)));
            }
        }
        // A token that comes again would never end.
        if page.page_token.is_none() || page.page_token == page_token {
            break;
        }
        page_token = page.page_token;
    }
    objects.sort_by(|a: &Arc<ListedObject>, b| a.address.key.cmp(&b.address.key));
    Ok(objects)
}
