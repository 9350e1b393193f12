//! Every operator of a filter, the trees filters make, orders, pages and text search.

use salver_testkit::servers::Kind;

use super::client::value;
use super::program::Program;

/// Filters over the column, the operator and the value, with the people they leave.
const FILTERS: [(&str, &[i64]); 48] = [
    ("name,cs,a", &[1, 4, 6]),
    ("name,cs,_", &[4]),
    ("name,cs,%", &[4]),
    ("name,cs,50%", &[4]),
    ("name,cs,\\", &[5]),
    ("name,cs,, \"U", &[6]),
    ("name,cs,", &[1, 2, 3, 4, 5, 6]),
    ("name,ncs,a", &[2, 3, 5]),
    ("name,sw,Bo", &[2]),
    ("name,sw,Ün", &[6]),
    ("name,sw,%", &[]),
    ("name,nsw,Bo", &[1, 3, 4, 5, 6]),
    ("name,ew,d", &[3]),
    ("name,ew,\\x", &[5]),
    ("name,new,d", &[1, 2, 4, 5, 6]),
    ("name,eq,Bob", &[2]),
    ("name,eq,Ünal, \"U\"", &[6]),
    ("name,eq,eve\\x", &[5]),
    ("name,neq,Bob", &[1, 3, 4, 5, 6]),
    ("name,in,Ada,Bob,nobody", &[1, 2]),
    ("name,nin,Ada,Bob", &[3, 4, 5, 6]),
    ("score,eq,20", &[2, 4]),
    ("score,neq,20", &[1, 5, 6]),
    ("score,lt,0", &[5]),
    ("score,nlt,0", &[1, 2, 4, 6]),
    ("score,le,0", &[5, 6]),
    ("score,nle,0", &[1, 2, 4]),
    ("score,ge,10", &[1, 2, 4]),
    ("score,nge,10", &[5, 6]),
    ("score,gt,10", &[2, 4]),
    ("score,ngt,10", &[1, 5, 6]),
    ("score,bt,0,10", &[1, 6]),
    ("score,nbt,0,10", &[2, 4, 5]),
    ("score,bt,10", &[]),
    ("score,in,10,20", &[1, 2, 4]),
    ("score,in,20", &[2, 4]),
    ("score,nin,10,20", &[5, 6]),
    ("score,is", &[3]),
    ("score,is,null", &[3]),
    ("score,is,whatever", &[3]),
    ("score,nis", &[1, 2, 4, 5, 6]),
    ("joined,eq,2020-02-01", &[2, 3]),
    ("joined,ge,2020-02-01", &[2, 3, 5]),
    ("joined,bt,2020-01-01,2020-12-31", &[1, 2, 3]),
    ("joined,in,2019-06-30,2021-12-31", &[5, 6]),
    ("joined,nis,null", &[1, 2, 3, 5, 6]),
    // What is no filter is passed over, unless the entry is strict.
    ("name,xx,Bob", &[1, 2, 3, 4, 5, 6]),
    ("name", &[1, 2, 3, 4, 5, 6]),
];

/// Whole queries, with the people they find in their order.
const QUERIES: [(&str, &[i64]); 25] = [
    ("filter=score,ge,0&filter=id,gt,1", &[2, 4, 6]),
    ("filter1=id,eq,1&filter2=id,eq,6", &[1, 6]),
    ("filter=score,ge,0&filter1=name,sw,A&filter2=score,eq,20&filter2=id,gt,2", &[1, 4]),
    ("filter1=id,eq,6&filter2=score,eq,20&filter2a=id,eq,2&filter2b=id,eq,1", &[2, 6]),
    ("filter[]=id,ge,2&filter[]=id,le,3", &[2, 3]),
    ("filter[0]=id,ge,2&filter[7]=id,le,3", &[2, 3]),
    ("filter1[]=id,eq,2&filter2[]=id,eq,3", &[2, 3]),
    ("filter=id,eq,%31", &[1]),
    ("filter=name%2Ceq%2CBob", &[2]),
    ("filter=name,eq,Dan_50%25", &[4]),
    ("filter=name,neq,a=b=c", &[1, 2, 3, 4, 5, 6]),
    ("order=id,desc&size=2", &[6, 5]),
    ("order=id,DESC&size=1", &[6]),
    ("order=id,descending&size=1", &[6]),
    ("order=score&filter=score,nis", &[5, 6, 1, 2, 4]),
    ("order=score,desc&order=id,desc&filter=score,nis", &[4, 2, 1, 6, 5]),
    // Null comes before everything, everywhere.
    ("order=score&order=id", &[3, 5, 6, 1, 2, 4]),
    ("order=score,desc&order=id", &[2, 4, 1, 6, 5, 3]),
    ("order=joined&order=id", &[4, 6, 1, 2, 3, 5]),
    ("order=nothing,desc&size=2", &[1, 2]),
    ("size=2&size=3", &[1, 2, 3]),
    ("page=2,2", &[3, 4]),
    ("page=3,4", &[]),
    ("page=1", &[1, 2, 3, 4, 5, 6]),
    ("page=1,4&size=2", &[1, 2]),
];

#[test]
fn filters() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "");
        for (filter, expected) in FILTERS {
            let target = format!("/records/people?filter={}", value(filter));
            assert_eq!(program.ids(&target), expected, "{kind:?} {filter}");
        }
        for (query, expected) in QUERIES {
            assert_eq!(program.ids(&format!("/records/people?{query}")), expected, "{kind:?} {query}");
        }
    }
}

#[test]
fn counts() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "");
        for (query, expected) in [("page=1,1", 6), ("page=9,1", 6), ("page=1,1&filter=score,eq,20", 2), ("page=1,0", 6)]
        {
            let answer = program.get(&format!("/records/people?{query}"));
            assert_eq!(answer.json()["results"], expected, "{kind:?} {query}: {}", answer.body);
        }
        assert!(!program.ok("/records/people?size=1").contains("results"), "{kind:?}");
    }
}

#[test]
fn values_that_are_not_of_the_column() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "");
        for filter in
            ["score,eq,abc", "score,lt,1e", "score,in,1,x", "joined,eq,someday", "score,eq,99999999999999999999"]
        {
            let answer = program.get(&format!("/records/people?filter={}", value(filter)));
            assert!(answer.status < 500, "{kind:?} {filter}: {:?}", answer.said());
        }
        // There, this is a fault of the server; and a filter that is passed over shows more than was asked for.
        let answer = program.get("/records/people?filter=nothing,eq,1");
        assert_eq!(answer.said(), (404, r#"{"code":1005,"message":"Column 'nothing' not found"}"#), "{kind:?}");
    }
}

#[test]
fn text_search() {
    for kind in Kind::ALL {
        let program = Program::new(kind, "search = \"search\"");
        assert_eq!(program.ids("/records/messages?search=h"), [1, 2], "{kind:?}");
        assert_eq!(program.ids("/records/messages?search=%25"), [0i64; 0], "{kind:?}");
        // There, what is searched for and the caller's own groups are one big "or".
        assert_eq!(program.ids("/records/messages?search=h&filter1=id,eq,1&filter2=id,eq,4"), [1], "{kind:?}");
        assert_eq!(program.ids("/records/messages?search="), [1, 2, 3, 4], "{kind:?}");
        assert_eq!(program.ids("/records/articles?search=en"), [1], "{kind:?}");
    }
}

/// The database itself says what is right.
#[test]
fn relations_of_geometries() {
    let shapes = ["POINT(30 30)", "LINESTRING(0 0,50 50)", "POLYGON((30 10,40 40,20 40,10 20,30 10))"];
    let words = [
        ("sco", "ST_Contains"),
        ("scr", "ST_Crosses"),
        ("sdi", "ST_Disjoint"),
        ("seq", "ST_Equals"),
        ("sin", "ST_Intersects"),
        ("sov", "ST_Overlaps"),
        ("sto", "ST_Touches"),
        ("swi", "ST_Within"),
    ];
    for kind in [Kind::Mariadb, Kind::Postgres] {
        let program = Program::new(kind, "");
        let ask = |condition: &str| -> Vec<i64> {
            let rows =
                program.database().run(&format!("select id from countries where id <> 11 and {condition} order by id"));
            rows.lines().map(|line| line.parse().expect("a number")).collect()
        };
        for (word, function) in words {
            for shape in shapes {
                let wanted = ask(&format!("{function}(shape, ST_GeomFromText('{shape}', 4326))"));
                let filter = value(&format!("shape,{word},{shape}"));
                let found = program.ids(&format!("/records/countries?include=id&filter={filter}&filter=id,neq,11"));
                assert_eq!(found, wanted, "{kind:?} {word} {shape}");
                let wanted = ask(&format!("not {function}(shape, ST_GeomFromText('{shape}', 4326))"));
                // There, a negated relation is passed over and everything is found.
                let filter = value(&format!("shape,n{word},{shape}"));
                let found = program.ids(&format!("/records/countries?include=id&filter={filter}&filter=id,neq,11"));
                assert_eq!(found, wanted, "{kind:?} n{word} {shape}");
            }
        }
        for (word, function) in [("sic", "ST_IsClosed"), ("sis", "ST_IsSimple")] {
            let wanted = ask(&format!("id = 4 and {function}(shape)"));
            let target = format!("/records/countries?include=id&filter=shape,{word}&filter=id,eq,4");
            assert_eq!(program.ids(&target), wanted, "{kind:?} {word}");
        }
        let answer = program.get("/records/countries?filter=shape,sco,nonsense");
        assert!((400..500).contains(&answer.status), "{kind:?}: {:?}", answer.said());
    }
}
