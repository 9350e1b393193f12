//! The frame of a call.

use salver_model::functions::Call;
use salver_model::{Code, Error, Result};

/// Index of the endpoint for an application.
const APPLICATION: i32 = -1;

/// Writes the frame without the body, which follows it.
///
/// # Errors
/// Returns `BodyTooLarge` for a call that exceeds the length of a frame.
pub(crate) fn head(out: &mut Vec<u8>, call: &Call, endpoint: Option<usize>) -> Result<()> {
    out.clear();
    out.extend_from_slice(&[0; 4]);
    match &call.table {
        None => out.push(b'C'),
        Some(parameter) => {
            out.push(b'T');
            bytes(out, parameter.as_bytes())?;
        }
    }
    let endpoint = endpoint.map_or(Ok(APPLICATION), i32::try_from).map_err(|_| too_long())?;
    out.extend_from_slice(&endpoint.to_le_bytes());
    // First the part that every worker reads.
    bytes(out, &call.arguments)?;
    let address = call.address.as_deref().unwrap_or_default();
    for text in [&call.method, &call.path, &call.query, address] {
        bytes(out, text.as_bytes())?;
    }
    length(out, call.headers.len())?;
    for (name, value) in &call.headers {
        bytes(out, name.as_bytes())?;
        bytes(out, value.as_bytes())?;
    }
    length(out, call.body.len())?;
    let whole = u32::try_from(out.len() - 4 + call.body.len()).map_err(|_| too_long())?;
    out[..4].copy_from_slice(&whole.to_le_bytes());
    Ok(())
}

fn bytes(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    length(out, bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

fn length(out: &mut Vec<u8>, length: usize) -> Result<()> {
    out.extend_from_slice(&u32::try_from(length).map_err(|_| too_long())?.to_le_bytes());
    Ok(())
}

fn too_long() -> Error {
    Error::new(Code::BodyTooLarge, "a call of a function can't have more than 4 GiB")
        .with_hint("send the body in parts, or hand over where it lies")
}

#[cfg(test)]
mod tests {
    use salver_model::functions::Call;

    use super::head;

    #[test]
    fn a_call_byte_for_byte() {
        let call = Call {
            endpoint: Some(2),
            method: "GET".to_owned(),
            path: "/a".to_owned(),
            headers: vec![("b".to_owned(), "cd".to_owned())],
            arguments: "{}".into(),
            body: "xyz".into(),
            ..Call::default()
        };
        let mut out = vec![9; 3];
        head(&mut out, &call, call.endpoint).unwrap();
        let mut expected = Vec::new();
        expected.extend_from_slice(b"\x36\0\0\0C\x02\0\0\0\x02\0\0\0{}\x03\0\0\0GET\x02\0\0\0/a");
        expected.extend_from_slice(b"\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0b\x02\0\0\0cd\x03\0\0\0");
        assert_eq!(out, expected);
        assert_eq!(out.len() + call.body.len(), 4 + 0x36);
        let table = Call { table: Some("rows".to_owned()), ..call.clone() };
        head(&mut out, &table, table.endpoint).unwrap();
        assert_eq!(out[..13], *b"\x3e\0\0\0T\x04\0\0\0rows");
        assert_eq!(out[13..], expected[5..]);
        head(&mut out, &call, None).unwrap();
        assert_eq!(out[5..9], [0xff; 4]);
    }
}
