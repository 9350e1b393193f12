//! Query strings, paths and methods, to what the database is asked.

use salver_http::HttpOptions;
use salver_model::records::{Area, Condition, ListPage, Operator, Order, RecordQuery, RecordRead};
use salver_model::{AggregateFunction, Code, Error};
use salver_testkit::{DatabaseRequest, FakeDatabase};

use super::fixture::World;

fn list(asked: DatabaseRequest) -> RecordQuery {
    match asked {
        DatabaseRequest::Read(RecordRead::List(query)) => *query,
        other => panic!("{other:?}"),
    }
}

fn test(path: &[&str], operator: Operator, negated: bool, value: &str) -> Condition {
    let path = path.iter().map(|part| (*part).to_owned()).collect();
    Condition::Test { path, operator, negated, value: value.to_owned() }
}

fn order(path: &[&str], descending: bool) -> Order {
    Order { path: path.iter().map(|part| (*part).to_owned()).collect(), descending }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

#[tokio::test]
async fn treeql_parameters() {
    let world = World::new().await;
    let target = "/api/records/posts/?filter=id,gt,1&filter1=content,ncs,a%2Cb&filter2[]=comments.message,eq,x%3Dy\
                  &include=id,content&include=place&exclude=place&order=content,DESCENDING&order=id&size=7&size=8\
                  &page=2,50&join=comments,users&join[3]=tags&what=ever&filter=x&filter=id,what,1";
    assert_eq!(world.get(target).await.said(), (200, "{\"records\":[]}"));
    let query = list(world.asked());
    assert!(!query.strict);
    let any = Condition::Any(vec![
        test(&["content"], Operator::Contains, true, "a,b"),
        test(&["comments", "message"], Operator::Equal, false, "x=y"),
    ]);
    assert_eq!(query.filter, Some(Condition::All(vec![test(&["id"], Operator::Greater, false, "1"), any])));
    assert_eq!((query.include, query.exclude), (Some(names(&["id", "content"])), Some(names(&["place"]))));
    assert_eq!(query.order, [order(&["content"], true), order(&["id"], false)]);
    assert_eq!((query.size, query.page), (Some(8), Some(ListPage { number: 2, size: Some(50) })));
    assert_eq!(query.joins, [names(&["comments", "users"]), names(&["tags"])]);
}

#[tokio::test]
async fn what_is_odd_is_taken_as_php_takes_it() {
    let world = World::new().await;
    for (parameters, size, page) in [
        ("size=x", Some(0), None),
        ("size=-1", None, None),
        ("size=12abc", Some(12), None),
        ("page=0,1", None, Some(ListPage { number: 1, size: Some(1) })),
        ("page=-3", None, Some(ListPage { number: 1, size: None })),
        ("page=x", None, Some(ListPage { number: 1, size: None })),
        ("size=99999999999999999999", Some(u64::MAX), None),
    ] {
        world.get(&format!("/api/records/posts?{parameters}")).await;
        let query = list(world.asked());
        assert_eq!((query.size, query.page), (size, page), "{parameters}");
    }
}

#[tokio::test]
async fn salvers_parameters() {
    let world = World::new().await;
    let target = "/api/records/posts?group=content&aggregate=count,*,n&aggregate=sum,id&having=n,gt,2&order=n,desc";
    assert_eq!(world.get(target).await.status, 200);
    let query = list(world.asked());
    assert!(query.strict);
    assert_eq!(query.group, ["content"]);
    let aggregates: Vec<_> =
        query.aggregates.iter().map(|a| (a.function, a.column.as_deref(), a.name.as_str())).collect();
    let expected = [(AggregateFunction::Count, None, "n"), (AggregateFunction::Sum, Some("id"), "sum_id")];
    assert_eq!(aggregates, expected);
    assert_eq!(query.having, Some(test(&["n"], Operator::Greater, false, "2")));

    let target = "/api/records/posts?join=comments&comments.filter=message,cs,x&comments.order=id,desc&comments.size=3\
                  &after=&order=users.name,desc";
    assert_eq!(world.get(target).await.status, 200);
    let query = list(world.asked());
    let child = &query.children[0];
    assert_eq!(child.path, ["comments"]);
    assert_eq!(child.filter, Some(test(&["message"], Operator::Contains, false, "x")));
    assert_eq!((child.order.as_slice(), child.size), (&[order(&["id"], true)][..], Some(3)));
    assert_eq!((query.after.as_deref(), query.strict), (Some(""), true));
    assert_eq!(query.order, [order(&["users", "name"], true)]);
}

#[tokio::test]
async fn strict_requests_say_what_is_wrong() {
    let world = World::new().await;
    for (parameters, hint) in [
        ("strict=1&filtre=id,eq,1", "did you mean `filter`?"),
        ("strict=1&filter=id,eqq,1", "did you mean `eq`?"),
        ("strict=1&filter=id", "column,operator,value"),
        ("strict=1&filters=id,eq,1", "filter"),
        ("strict=1&size=x", "size=10"),
        ("strict=1&page=0", "page=1"),
        ("strict=1&include=id&include=content", "into one"),
        ("strict=1&format=yaml", "xml"),
        ("strict=1&order=id,up", "asc"),
        ("strict=1&returning=*", "a list takes"),
        ("strict=what", "strict=1"),
        ("aggregate=som,id", "did you mean `sum`?"),
        ("having=n,gt,1", "group="),
        ("after=&page=1", "size"),
        ("comments.size=1", "join=comments"),
        ("distinct=1&limit=3", "size=10"),
    ] {
        let answer = world.get(&format!("/api/records/posts?{parameters}")).await;
        assert_eq!(answer.status, 400, "{parameters}: {answer:?}");
        assert!(answer.body.contains("\"hint\":") && answer.body.contains(hint), "{parameters}: {}", answer.body);
    }
    assert!(world.database.asked().is_empty());
    assert_eq!(world.get("/api/records/posts?strict=0&filtre=id,eq,1").await.status, 200);
}

#[tokio::test]
async fn a_strict_entry_is_strict_unless_told_otherwise() {
    let mut database = FakeDatabase::blog();
    database.spec.strict = true;
    database.spec.search = Some("q".to_owned());
    let world = World::with(database, HttpOptions::default()).await;
    assert_eq!(world.get("/api/records/posts?what=1").await.status, 400);
    assert_eq!(world.get("/api/records/posts?what=1&strict=0").await.status, 200);
    assert!(!list(world.asked()).strict);
    assert_eq!(world.get("/api/records/posts?q=some+text").await.status, 200);
    let query = list(world.asked());
    assert_eq!((query.search.as_deref(), query.strict), (Some("some text"), true));
}

#[tokio::test]
async fn keys() {
    let world = World::new().await;
    for (id, keys, many) in [
        ("posts/1", vec![vec!["1"]], false),
        ("posts/1,2", vec![vec!["1"], vec!["2"]], true),
        ("posts/1%2C2", vec![vec!["1"], vec!["2"]], true),
        ("posts/a~b", vec![vec!["a~b"]], false),
        ("pairs/1~x%7Ey,2~", vec![vec!["1", "x~y"], vec!["2", ""]], true),
        ("posts/a%2Fb/", vec![vec!["a/b"]], false),
    ] {
        world.get(&format!("/api/records/{id}")).await;
        let (asked, is_many) = match world.asked() {
            DatabaseRequest::Read(RecordRead::Row { key, .. }) => (vec![key], false),
            DatabaseRequest::Read(RecordRead::Keys { keys, many, .. }) => (keys, many),
            other => panic!("{id}: {other:?}"),
        };
        assert_eq!((asked, is_many), (keys.iter().map(|key| names(key)).collect(), many), "{id}");
    }
}

#[tokio::test]
async fn maps() {
    let world = World::new().await;
    world.get("/api/geojson/posts?geometry=place&bbox=-1.5,2,3,4&tile=3,2,1&filter=id,eq,1&join=comments").await;
    let DatabaseRequest::Read(RecordRead::Features(query, None)) = world.asked() else { panic!() };
    assert_eq!(
        (query.geometry.as_deref(), query.areas),
        (Some("place"), vec![Area::Box([-1.5, 2., 3., 4.]), Area::Tile([3, 2, 1])])
    );
    world.get("/api/geojson/posts/7").await;
    let DatabaseRequest::Read(RecordRead::Features(_, Some(key))) = world.asked() else { panic!() };
    assert_eq!(key, ["7"]);
    assert_eq!(world.get("/api/geojson/posts?bbox=1,2,3").await.status, 400);
    assert_eq!(world.send("POST", "/api/geojson/posts", &[], b"{}").await.status, 405);
}

#[tokio::test]
async fn names_are_decoded_and_databases_named() {
    let world = World::new().await;
    assert_eq!(world.get("/api/records/blog.posts").await.status, 200);
    assert_eq!(list(world.asked()).table, "posts");
    let answer = world.get("/api/records/k%C3%BCn%2Fst").await;
    assert_eq!(answer.said(), (404, "{\"code\":1001,\"message\":\"Table 'kün\\/st' not found\"}"));
}

#[tokio::test]
async fn the_fast_way_asks_the_same() {
    let mut database = FakeDatabase::blog();
    database.answers_now = true;
    let fast = World::with(database, HttpOptions::default()).await;
    let general = World::new().await;
    for target in [
        "posts",
        "posts/7",
        "posts?filter=id,eq,1&order=id,desc",
        "posts/7?include=id",
        "posts/7?format=xml",
        "posts/1,2",
        "posts/1%2C2",
        "posts/a%2Fb",
        "posts/1?join=comments",
        "pairs/1~x",
    ] {
        let (DatabaseRequest::Read(fast), DatabaseRequest::Read(general)) = (
            {
                fast.get(&format!("/api/records/{target}")).await;
                fast.asked()
            },
            {
                general.get(&format!("/api/records/{target}")).await;
                general.asked()
            },
        ) else {
            panic!("{target}")
        };
        assert_eq!(fast, general, "{target}");
    }
    let answer = fast.get("/api/records/nothing/1").await;
    assert_eq!(answer.said(), (404, "{\"code\":1001,\"message\":\"Table 'nothing' not found\"}"));
    fast.database.will_answer(Err(Error::new(Code::RecordNotFound, "Record '9' not found")));
    let answer = fast.get("/api/records/posts/9?format=xml").await;
    let xml = "<root><code>1003</code><message>Record '9' not found</message></root>";
    assert_eq!((answer.said(), answer.header("content-type")), ((404, xml), Some("text/xml; charset=utf-8")));
}

#[tokio::test]
async fn garbage_is_answered() {
    let world = World::new().await;
    let mut state = 11_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let words = [
        "filter",
        "filter1a",
        "order",
        "page",
        "size",
        "join",
        "include",
        "comments.filter",
        "aggregate",
        "having",
        "after",
        "group",
        "strict",
        "bbox",
        "=",
        "=",
        "&",
        "&",
        ",",
        ".",
        "[",
        "]",
        "%",
        "%00",
        "%FF",
        "%F0%9F%A6%80",
        "id",
        "eq",
        "bt",
        "1",
        "-1",
        "*",
        "~",
        "/",
        "?",
        "+",
        "count",
        "posts",
    ];
    for _ in 0..400 {
        let text: String = (0..next(14)).map(|_| words[next(words.len())]).collect();
        let answer = world.get(&format!("/api/records/posts?{text}")).await;
        assert!(matches!(answer.status, 200 | 400), "{text}: {answer:?}");
        let answer = world.get(&format!("/api/records/posts/{text}")).await;
        assert!(matches!(answer.status, 200 | 400 | 404), "{text}: {answer:?}");
    }
}
