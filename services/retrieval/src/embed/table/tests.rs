use std::fs;

use serde_json::json;

use super::*;

/// A table of three pieces, whose rows are 1 and -1 in turn, all 2 and all -3, at
/// scales 1, 0.5 and 2.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        fs::write(files.0.path().join(VOCABULARY), "fox\nhen\nriver\n").unwrap();
        files.write(&Self::header(), &Self::data());
        files
    }

    fn header() -> Value {
        let rows = 3 * ROW;
        let scales = rows + 6;
        json!({
            "embeddings": { "dtype": "U8", "shape": [3, ROW], "data_offsets": [0, rows] },
            "scales": { "dtype": "F16", "shape": [3], "data_offsets": [rows, scales] },
            "levels": { "dtype": "I8", "shape": [16], "data_offsets": [scales, scales + 16] },
        })
    }

    fn data() -> Vec<u8> {
        let rows = [0x78_u8, 0xaa, 0x55].map(|byte| [byte; ROW]);
        let scales = [1.0, 0.5, 2.0].map(|scale| f16::from_f32(scale).to_le_bytes());
        // Not one like the other: -8 to -1 and 1 to 8, but 8 is 1 and 10 is 2.
        let levels = [-8, -7, -6, -5, -4, -3, -2, -1, 1, 9, 2, 3, 4, 5, 6, 7_i8];
        let levels = levels.map(i8::cast_unsigned);
        [rows.concat(), scales.concat(), levels.to_vec()].concat()
    }

    fn write(&self, header: &Value, data: &[u8]) {
        let header = header.to_string();
        let length = (header.len() as u64).to_le_bytes();
        let bytes = [&length[..], header.as_bytes(), data].concat();
        fs::write(self.0.path().join(TABLE), bytes).unwrap();
    }

    fn open(&self) -> Result<Table, String> {
        Table::open(self.0.path()).map_err(|error| error.to_string())
    }
}

#[test]
fn sum_is_that_of_the_rows_at_their_scales() {
    let table = Files::new().open().unwrap();
    for (text, expected) in [
        ("fox", [1.0, -1.0]),
        ("hen", [1.0; 2]),
        ("river", [-6.0; 2]),
        ("Fox fox, hen!", [3.0, -1.0]),
        ("zebra", [0.0; 2]),
        ("", [0.0; 2]),
    ] {
        assert_eq!(table.sum(text).to_vec(), expected.repeat(ROW), "{text}");
    }
}

#[test]
fn tables_differ_when_what_is_in_them_does() {
    let files = Files::new();
    let identity = || files.open().unwrap().identity();
    let first = identity();
    assert_eq!(identity(), first);
    let scales = 3 * ROW;
    let mut all = vec![first];
    for (at, bit) in (scales..scales + 6 + LEVELS).flat_map(|at| [(at, 1), (at, 2)]) {
        let mut other = Files::data();
        other[at] ^= bit;
        files.write(&Files::header(), &other);
        let other = identity();
        assert!(!all.contains(&other), "byte {at}, bit {bit}");
        all.push(other);
    }
}

#[test]
fn table_that_is_not_as_it_should_be_is_refused_with_the_reason() {
    let files = Files::new();
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut header = Files::header();
        change(&mut header);
        files.write(&header, &Files::data());
        files.open().unwrap_err()
    };
    for (pointer, value) in [
        ("/embeddings/dtype", json!("F16")),
        ("/embeddings/shape", json!([3, DIMENSIONS])),
        ("/embeddings/shape", json!([2, ROW])),
        ("/embeddings/data_offsets", json!([6, 3 * ROW])),
        ("/embeddings/data_offsets", json!([23, 3 * ROW + 23])),
        ("/embeddings/data_offsets", json!([9, 3])),
        ("/scales/dtype", json!("I8")),
        ("/scales/data_offsets", json!([0, 3])),
        ("/scales/shape", json!([3, 2])),
        ("/levels/dtype", json!("F16")),
        ("/levels/shape", json!([LEVELS - 1])),
        (
            "/levels/data_offsets",
            json!([3 * ROW + 7, 3 * ROW + 7 + LEVELS]),
        ),
    ] {
        let error = wrong(&|header| *header.pointer_mut(pointer).unwrap() = value.clone());
        assert!(error.contains(TABLE), "{pointer} {value}: {error}");
    }
    let fewer = wrong(&|header| {
        header["levels"]["shape"] = json!([LEVELS - 1]);
        header["levels"]["data_offsets"] = json!([3 * ROW + 6, 3 * ROW + 5 + LEVELS]);
    });
    assert!(fewer.contains("15 levels"), "{fewer}");
    let fewer = wrong(&|header| {
        header["scales"]["shape"] = json!([2]);
        header["scales"]["data_offsets"] = json!([0, 4]);
    });
    assert!(fewer.contains(TABLE), "{fewer}");
    // What fits to the byte does.
    files.write(&Files::header(), &Files::data());
    files.open().unwrap();
    files.write(&Files::header(), &Files::data()[..3 * ROW + 5 + LEVELS]);
    files.open().unwrap_err();
}

#[test]
fn header_is_limited_and_the_vocabulary_has_a_line_for_each_row() {
    let files = Files::new();
    let path = files.0.path().join(TABLE);
    let padded = |length: usize| {
        let mut header = Files::header().to_string();
        header.push_str(&" ".repeat(length - header.len()));
        let bytes = (length as u64).to_le_bytes();
        fs::write(
            &path,
            [&bytes[..], header.as_bytes(), &Files::data()].concat(),
        )
        .unwrap();
        files.open().is_ok()
    };
    assert!(padded(HEADER_LIMIT));
    assert!(!padded(HEADER_LIMIT + 1));
    for bytes in [
        &b""[..],
        b"1234567",
        b"\x05\0\0\0\0\0\0\0{}",
        b"\x02\0\0\0\0\0\0\0{]",
    ] {
        fs::write(&path, bytes).unwrap();
        files.open().unwrap_err();
    }
    files.write(&Files::header(), &Files::data());
    let vocabulary = files.0.path().join(VOCABULARY);
    fs::write(&vocabulary, "fox\nhen\n").unwrap();
    let error = Table::open(files.0.path()).unwrap_err();
    let told = super::super::chain(&error);
    assert!(
        told.contains("3 rows") && told.contains("2 lines"),
        "{told}"
    );
    fs::remove_file(&vocabulary).unwrap();
    assert!(files.open().unwrap_err().contains(VOCABULARY));
}
