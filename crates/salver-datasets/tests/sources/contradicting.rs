//! Files that say what is not so: numbers of the other byte order, and footers that count wrong. None is read as if
//! nothing were the matter.

use bytes::Bytes;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter};
use salver_model::Code;
use salver_model::spec::Residency;

use crate::generated::{error, load, one, parquet_of, sample, shown};

/// A stream of one column `n` of 32-bit integers, 1, 2 and -3, as a big-endian machine writes it.
const BIG_ENDIAN: &str = "\
    ffffffff800000001000000000000a000c000a00090004000a000000100000000001040008000c000a00040008000000080000000000010001\
    000000140000001000140010000f000e00080000000400100000001000000018000000000002011c0000000000000008000c00080007000800\
    00000000000120000000010000006e00000000000000ffffffff8800000014000000000000000c001600140013000c0004000c000000100000\
    0000000000140000000000000304000a0018000c00080004000a0000002c000000100000000300000000000000000000000100000003000000\
    00000000000000000000000000000000020000000000000000000000000000000000000000000000000000000c000000000000000000000100\
    000002fffffffd00000000ffffffff00000000";

/// Where the byte order stands in it.
const ORDER_AT: usize = 54;

fn big_endian() -> Vec<u8> {
    let digits: Vec<u8> = BIG_ENDIAN.bytes().collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The stream as a file, which has the same between a magic and a footer.
fn as_file(stream: &[u8]) -> Vec<u8> {
    let mut file = b"ARROW1\0\0".to_vec();
    file.extend_from_slice(stream);
    file.extend_from_slice(&[0; 4]);
    file.extend_from_slice(b"ARROW1");
    file
}

#[test]
fn big_endian_arrow_is_refused_and_never_read_as_other_numbers() {
    let stream = big_endian();
    for (name, bytes) in [("a.arrows", stream.clone()), ("a.arrow", as_file(&stream)), ("a.arrow", stream.clone())] {
        let wrong = error(name, bytes);
        assert!(wrong.message.contains(name) && wrong.message.contains("big-endian"), "{wrong:?}");
        assert!(wrong.hint.unwrap().contains("pyarrow"));
    }
    // The same bytes, said to be little-endian, are read.
    let mut other = stream;
    other[ORDER_AT] = 0;
    assert_eq!(shown("a.arrows", &other), "n:Int32\n16777216\n33554432\n-33554433");
    assert_eq!(shown("a.arrow", as_file(&other)), "n:Int32\n16777216\n33554432\n-33554433");
}

/// A file with another footer.
fn with_footer(bytes: &[u8], change: impl FnOnce(ParquetMetaData) -> ParquetMetaData) -> Vec<u8> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&Bytes::copy_from_slice(bytes)).unwrap();
    let length = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    let mut changed = bytes[..bytes.len() - 8 - length].to_vec();
    ParquetMetaDataWriter::new(&mut changed, &change(metadata)).finish().unwrap();
    changed
}

fn with_rows(file: &FileMetaData, rows: i64) -> FileMetaData {
    let created_by = file.created_by().map(str::to_owned);
    let (told, schema) = (file.key_value_metadata().cloned(), file.schema_descr_ptr());
    FileMetaData::new(file.version(), rows, created_by, told, schema, file.column_orders().cloned())
}

/// A file whose footer says another number of rows, and whose row group says the same as before. The library's writer
/// would add the row groups up.
fn with_file_rows(bytes: &[u8], rows: i8) -> Vec<u8> {
    // A field of 64 bits, 3 in zigzag, and the list of one row group behind it.
    let field = [0x16, 6, 0x19, 0x1c];
    let at = bytes.windows(4).rposition(|window| window == field).unwrap();
    let mut changed = bytes.to_vec();
    changed[at + 1] = ((rows << 1) ^ (rows >> 7)) as u8;
    changed
}

#[test]
fn a_footer_that_counts_wrong_is_refused() {
    let bytes = parquet_of(&sample());
    assert_eq!(shown("a.parquet", with_footer(&bytes, |same| same)), shown("a.parquet", &bytes));
    for rows in [0, 2, 4, -1] {
        let of_file = with_file_rows(&bytes, rows);
        // The file and its row group agree, but not the columns.
        let of_both = with_footer(&bytes, |metadata| {
            let group = metadata.row_group(0).clone().into_builder().set_num_rows(rows.into()).build().unwrap();
            ParquetMetaData::new(with_rows(metadata.file_metadata(), rows.into()), vec![group])
        });
        for changed in [of_file, of_both] {
            for residency in [Residency::Always, Residency::Never, Residency::Auto] {
                let (_made, mut spec) = one("a.parquet", &changed);
                spec.residency = residency;
                let wrong = load(&spec).unwrap_err();
                assert_eq!(wrong.code, Code::Source, "{wrong:?}");
                assert!(wrong.message.contains("a.parquet") && wrong.message.contains("rows"), "{wrong:?}");
            }
        }
    }
}

/// What all of a footer says may agree and its pages have other rows.
#[test]
fn pages_that_have_other_rows_than_the_footer_are_refused() {
    let bytes = parquet_of(&sample());
    let changed = with_footer(&bytes, |metadata| {
        let group = metadata.row_group(0).clone();
        let columns =
            group.columns().iter().map(|column| column.clone().into_builder().set_num_values(2).build().unwrap());
        let columns = columns.collect();
        let group = group.into_builder().set_num_rows(2).set_column_metadata(columns).build().unwrap();
        ParquetMetaData::new(with_rows(metadata.file_metadata(), 2), vec![group])
    });
    let (_made, mut spec) = one("a.parquet", &changed);
    spec.residency = Residency::Always;
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("a.parquet"), "{wrong:?}");
}
