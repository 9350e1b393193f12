//! Numbers of entries in the system catalog. They are made of names, so that an entry has the same in every statement
//! and on every server.

use std::collections::BTreeSet;
use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use super::definitions;

/// Number of the one database.
pub(super) const DATABASE: i32 = 5;
/// Numbers of the schemas, as in PostgreSQL.
pub(super) const PG_CATALOG: i32 = 11;
pub(super) const PUBLIC: i32 = 2_200;
pub(super) const INFORMATION_SCHEMA: i32 = 13_000;
/// Number of the role that everything belongs to.
pub(super) const OWNER: i32 = 10;
/// Number of the access method of tables.
pub(super) const HEAP: i32 = 2;
/// First number of the relations of the system catalog itself.
const SYSTEM: i32 = 1_200;
/// First number that PostgreSQL gives to what users make.
const FIRST: u32 = 16_384;

/// Returns the numbers of entries with these names, which are in order. Of two whose numbers would be the same, the
/// second gets the next one that is free.
pub(super) fn of_entries<'n>(names: impl Iterator<Item = &'n str>) -> Vec<i32> {
    let mut taken = BTreeSet::new();
    let range = i32::MAX as u32 - FIRST;
    let mut number = |name: &str| {
        let mut hasher = SipHasher13::new();
        hasher.write(name.as_bytes());
        let mut offset = (hasher.finish() % u64::from(range)) as u32;
        while !taken.insert(offset) {
            offset = (offset + 1) % range;
        }
        (FIRST + offset) as i32
    };
    names.map(&mut number).collect()
}

/// Returns the number of a relation of the system catalog.
pub(super) fn of_system(name: &str) -> Option<i32> {
    let place = definitions::names().position(|own| own == name)?;
    i32::try_from(place).ok().map(|place| SYSTEM + place)
}

/// Returns the relation of the system catalog that has this number.
pub(super) fn system_name(number: i32) -> Option<&'static str> {
    usize::try_from(number.checked_sub(SYSTEM)?).ok().and_then(|place| definitions::names().nth(place))
}

/// Returns the number of a schema.
pub(super) fn of_schema(name: &str) -> Option<i32> {
    match name {
        "pg_catalog" => Some(PG_CATALOG),
        "public" => Some(PUBLIC),
        "information_schema" => Some(INFORMATION_SCHEMA),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{of_entries, of_system, system_name};

    #[test]
    fn a_name_has_its_number() {
        let all = of_entries(["a", "b", "c"].into_iter());
        assert_eq!(of_entries(["b"].into_iter())[0], all[1]);
        assert!(all.iter().all(|number| *number >= 16_384));
        assert!(all[0] != all[1] && all[1] != all[2]);
        assert_eq!(of_system("pg_class").and_then(system_name), Some("pg_class"));
        assert_eq!((system_name(0), system_name(99_999)), (None, None));
    }
}
