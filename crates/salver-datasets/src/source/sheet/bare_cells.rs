//! Cells of a zipped workbook that don't say where they are.

use std::io::{BufRead, BufReader, Cursor};
use std::sync::Arc;

use quick_xml::Reader;
use quick_xml::events::Event;

/// Returns whether a sheet has a cell without a reference, which is optional (ECMA-376, part 1, 18.3.1.4).
pub(super) fn are_in(workbook: Cursor<Arc<[u8]>>) -> bool {
    let Ok(mut archive) = zip::ZipArchive::new(workbook) else { return false };
    (0..archive.len()).any(|index| {
        let Ok(part) = archive.by_index(index) else { return false };
        let is_sheet = part.name().is_ok_and(|name| name.starts_with("xl/worksheets/") && name.ends_with(".xml"));
        is_sheet && has_one(BufReader::new(part))
    })
}

fn has_one(sheet: impl BufRead) -> bool {
    let (mut reader, mut buffer) = (Reader::from_reader(sheet), Vec::new());
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(element) | Event::Empty(element)) if element.local_name().as_ref() == "c" => {
                if !matches!(element.try_get_attribute("r"), Ok(Some(_))) {
                    return true;
                }
            }
            Ok(Event::Eof) | Err(_) => return false,
            Ok(_) => {}
        }
    }
}
