//! Fetches the sheet of a dataset to disk.

use std::path::Path;
use std::sync::Arc;

use salver_model::Result;
use salver_model::limits::SHEET_FILE_BYTES_MAX;
use salver_model::spec::{DatasetSpec, GoogleSheetSource, SourceFormat};

use super::answer::cells;
use super::choice::{Choice, LIST_FIELDS, Properties, SheetList};
use super::client::Client;
use crate::cell_area::Area;
use crate::fetch::{Fetched, scratch};

/// Fields of the cells that are read.
const CELL_FIELDS: &str = "sheets(data(startRow,startColumn,rowData(values(effectiveValue,\
                           effectiveFormat(numberFormat(type,pattern))))))";
/// The answer for a part of a sheet that is not there.
const NOTHING: &[u8] = b"{\"sheets\":[{}]}";

/// Fetches the sheet of `source` that `spec` names into a new directory below `data_dir`. Google has no version of a
/// sheet that could be asked for, and so its version is that of the bytes. Blocks.
///
/// # Errors
/// If Google can't be reached or refuses, or there is no such sheet.
pub(crate) fn fetch(spec: &DatasetSpec, source: &GoogleSheetSource, data_dir: &Path) -> Result<Fetched> {
    let area = spec.sheet.range.is_some().then(|| Area::of(spec.sheet.range.as_deref())).transpose()?;
    let client = Client::new(spec, source)?;
    let list: SheetList = client.list(LIST_FIELDS)?;
    let dir = Arc::new(scratch(data_dir)?);
    let path = dir.path().join("sheet");
    let get = |sheet: &Properties, area: Option<&Area>| match sheet.range(area) {
        Some(range) => client.spool(&range, CELL_FIELDS, SHEET_FILE_BYTES_MAX, &path),
        None => crate::fetch::spool(&mut &*NOTHING, &path).map_err(|cause| client.unwritable(&cause)),
    };
    let tag = match list.choice(spec, source)? {
        Choice::One(sheet) => get(&sheet, area.as_ref())?,
        Choice::FirstFilled(sheets) => {
            let mut tag = None;
            for sheet in sheets {
                // The whole sheet, so that a range without cells is not looked for in the next one.
                tag = Some(get(&sheet, None)?);
                if !cells(&source.to_string(), &path)?.is_empty() {
                    break;
                }
            }
            tag.unwrap_or_default()
        }
    };
    Ok(Fetched { path, tag, format: Some(SourceFormat::GoogleSheet), dir })
}
