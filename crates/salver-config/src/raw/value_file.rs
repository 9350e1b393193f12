//! Reads the value of a setting from a file of its own, as orchestrators mount secrets.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use salver_model::limits::SETTING_FILE_BYTES_MAX;

/// Returns the content of the file without its last line break. The error says what is wrong with the file, without
/// anything of its content.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let failed = |error: std::io::Error| format!("the file `{shown}` can't be read: {error}");
    // Reading a pipe or a device might never end, nor might opening one.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(format!("`{shown}` is not a regular file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(SETTING_FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > SETTING_FILE_BYTES_MAX {
        return Err(format!("the file `{shown}` has more than {SETTING_FILE_BYTES_MAX} bytes"));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| format!("the file `{shown}` is not text in UTF-8"))?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}
