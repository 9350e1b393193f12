//! Joins of every kind, and their limits.

use salver_testkit::servers::Kind;

use super::fixture::MAPPING;
use super::program::Program;

const ADA: &str = r#"{"id":1,"name":"Ada","boss_id":null,"score":10,"joined":"2020-01-01"}"#;
const BOB: &str = r#"{"id":2,"name":"Bob","boss_id":1,"score":20,"joined":"2020-02-01"}"#;

#[test]
fn kinds() {
    let two = format!(r#"{{"id":1,"from_id":{ADA},"to_id":{BOB},"body":"hello"}}"#);
    let own = format!(
        r#"{{"id":2,"name":"Bob","boss_id":{ADA},"score":20,"joined":"2020-02-01","people":[{{"id":4,"name":"Dan_50%","boss_id":2,"score":20,"joined":null}},{{"id":5,"name":"eve\\x","boss_id":2,"score":-5,"joined":"2021-12-31"}}]}}"#
    );
    let cases = [
        // Two keys to one table are both replaced.
        ("/records/messages/1?join=people", two.as_str()),
        // A table that refers to itself has both sides.
        ("/records/people/2?join=people", own.as_str()),
        // To many, from nobody.
        (
            "/records/people/6?join=messages",
            r#"{"id":6,"name":"Ünal, \"U\"","boss_id":3,"score":0,"joined":"2019-06-30","messages":[]}"#,
        ),
        // What is not there, or not related, adds nothing.
        ("/records/people/1?join=nothing", ADA),
        ("/records/people/1?join=categories", ADA),
        ("/records/people/1?join=", ADA),
        // One path inside another.
        (
            "/records/posts/1?include=id&join=comments,categories&join=comments",
            r#"{"id":1,"comments":[{"post_id":1,"category_id":{"id":3}},{"post_id":1,"category_id":{"id":3}}]}"#,
        ),
        // Through a table between, and back.
        (
            "/records/tags/1?include=id,posts.content&join=posts",
            r#"{"id":1,"posts":[{"id":1,"content":"blog started"},{"id":2,"content":"It works!"}]}"#,
        ),
        (
            "/records/tags?include=tags.id,posts.id&join=posts&filter=id,eq,2",
            r#"{"records":[{"id":2,"posts":[{"id":1},{"id":2}]}]}"#,
        ),
        // Several records at once keep apart what is theirs.
        (
            "/records/posts/1,2?include=id,comments.message&join=comments",
            r#"[{"id":1,"comments":[{"post_id":1,"message":"great"},{"post_id":1,"message":"fantastic"}]},{"id":2,"comments":[{"post_id":2,"message":"thank you"},{"post_id":2,"message":"awesome"}]}]"#,
        ),
        (
            "/records/posts/1?include=*,categories.name&join=categories",
            r#"{"id":1,"user_id":1,"category_id":{"id":1,"name":"announcement"},"content":"blog started"}"#,
        ),
        (
            "/records/posts/1?exclude=categories.icon,user_id&join=categories",
            r#"{"id":1,"category_id":{"id":1,"name":"announcement"},"content":"blog started"}"#,
        ),
        // A list with nothing in it.
        ("/records/posts?join=comments,categories&filter=id,eq,0", r#"{"records":[]}"#),
    ];
    for kind in Kind::ALL {
        let program = Program::new(kind, MAPPING);
        for (target, expected) in cases {
            assert_eq!(program.get(target).said(), (200, expected), "{kind:?} {target}");
        }
    }
}

#[test]
fn limits() {
    for kind in Kind::ALL {
        let settings = format!("{MAPPING}joins_depth_max = 1\njoins_records_max = 1\njoins_tables_max = 1\n");
        let program = Program::new(kind, &settings);
        // Longer paths end at the limit; each parent has its own limit (there, all parents share one).
        let body = r#"[{"id":1,"comments":[{"post_id":1,"category_id":3}]},{"id":2,"comments":[{"post_id":2,"category_id":3}]}]"#;
        let target = "/records/posts/1,2?include=id,comments.category_id&join=comments,categories";
        assert_eq!(program.get(target).said(), (200, body), "{kind:?}");
        // One table at most.
        let target = "/records/posts/1?include=id&join=comments&join=tags";
        assert_eq!(program.get(target).said(), (200, r#"{"id":1,"comments":[{"post_id":1}]}"#), "{kind:?}");
        // A filter through more tables than a join may have is passed over there, and all rows come. Not here.
        let answer = program.get("/records/posts?filter=comments.categories.name,eq,nothing");
        assert!(answer.status >= 400 || answer.body == r#"{"records":[]}"#, "{kind:?}: {:?}", answer.said());
    }
}

#[test]
fn rows_that_rules_hide() {
    for kind in Kind::ALL {
        let settings = format!(
            "{MAPPING}[[database.rule]]\ntables = [\"tags\"]\nrows = \"is_important = true\"\n\
             [[database.rule]]\ntables = [\"categories\"]\nrows = \"name != 'comment'\"\n\
             [[database.rule]]\ntables = [\"users\"]\ncolumns_hidden = [\"password\", \"api_key\"]\n"
        );
        let program = Program::new(kind, &settings);
        let cases = [
            // A row that is not there for the caller: null, where one was to be; left out, where many were to be.
            ("/records/comments/1?join=categories", r#"{"id":1,"post_id":1,"message":"great","category_id":null}"#),
            (
                "/records/posts/1?include=id,users.*&join=users",
                r#"{"id":1,"user_id":{"id":1,"username":"user1","location":null}}"#,
            ),
        ];
        for (target, expected) in cases {
            assert_eq!(program.get(target).said(), (200, expected), "{kind:?} {target}");
        }
        let body = program.ok("/records/posts/1?include=id,tags.name&join=tags");
        assert!(body.contains("important") && !body.contains("funny"), "{kind:?}: {body}");
        let body = program.ok("/records/posts?join=users&include=users.password,users.api_key");
        assert!(!body.contains("pass1") && !body.contains("123456789abc"), "{kind:?}: {body}");
        assert_eq!(program.ids("/records/posts?filter=tags.name,eq,funny"), [0i64; 0], "{kind:?}");
    }
}
