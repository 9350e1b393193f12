//! Joined rows: every kind of relation, any depth, chosen for each parent, and the same as asking one by one.

use super::fixture::{Ask, World, condition, orders, table};

#[tokio::test]
async fn every_kind_of_relation() {
    for world in World::all() {
        for (query, expected) in [
            // To one, two keys to the same table, null where there is none.
            (
                table("posts").include("id,editor_id,users.name").join("users").size(2),
                r#"[{"id":1,"user_id":{"id":1,"name":"ann"},"editor_id":{"id":2,"name":"bob"}},{"id":2,"user_id":{"id":2,"name":"bob"},"editor_id":null}]"#,
            ),
            // To many.
            (
                table("posts").include("id,comments.id").join("comments"),
                r#"[{"id":1,"comments":[{"id":1,"post_id":1},{"id":3,"post_id":1},{"id":4,"post_id":1}]},{"id":2,"comments":[{"id":2,"post_id":2}]},{"id":3,"comments":[]},{"id":4,"comments":[{"id":5,"post_id":4}]}]"#,
            ),
            // Through a table between, by its key.
            (
                table("posts").include("id").join("tags").size(2),
                r#"[{"id":1,"tags":[{"name":"blue"},{"name":"red"}]},{"id":2,"tags":[{"name":"red"}]}]"#,
            ),
            // The table between itself.
            (
                table("posts").include("id").join("post_tags,tags").size(1),
                r#"[{"id":1,"post_tags":[{"post_id":1,"tag":{"name":"blue"}},{"post_id":1,"tag":{"name":"red"}}]}]"#,
            ),
            // A table with itself, both ways.
            (
                table("users").join("users").filter("id,le,2"),
                r#"[{"id":1,"name":"ann","boss_id":null,"users":[{"id":2,"name":"bob","boss_id":1},{"id":3,"name":"cid","boss_id":1}]},{"id":2,"name":"bob","boss_id":{"id":1,"name":"ann","boss_id":null},"users":[{"id":4,"name":"dan","boss_id":2}]}]"#,
            ),
            // A key of two columns.
            (
                table("moves").join("stock").include("id,item,stock.amount"),
                r#"[{"id":1,"place":"north","item":{"place":"north","item":1,"amount":5}},{"id":2,"place":"south","item":{"place":"south","item":1,"amount":7}},{"id":3,"place":"north","item":{"place":"north","item":1,"amount":5}}]"#,
            ),
            (
                table("stock").join("moves").include("amount,moves.id"),
                r#"[{"place":"north","item":1,"amount":5,"moves":[{"id":1,"place":"north","item":1},{"id":3,"place":"north","item":1}]},{"place":"north","item":2,"amount":0,"moves":[]},{"place":"south","item":1,"amount":7,"moves":[{"id":2,"place":"south","item":1}]}]"#,
            ),
            // A view, by the names of its columns.
            (
                table("busy").join("posts").include("n,posts.title").size(1),
                r#"[{"posts_id":{"id":1,"title":"a\/b"},"n":3}]"#,
            ),
            // Deep.
            (
                table("users").include("id,comments.id").join("posts,comments").filter("id,eq,3"),
                r#"[{"id":3,"posts":[{"id":4,"user_id":3,"editor_id":4,"comments":[{"id":5,"post_id":4}]}]}]"#,
            ),
            // What is left out is left out, and still holds the rest together.
            (table("comments").exclude("id,post_id").join("posts").size(1), r#"[{"text":"one"}]"#),
            (table("posts").exclude("*.*").join("comments").size(1), r#"[{"comments":[{},{},{}]}]"#),
            // What is not there, or not related, adds nothing.
            (table("tags").join("nothing").join("stock").size(1), r#"[{"name":"blue","hot":true}]"#),
        ] {
            let found = world.records(&query).await;
            // With two keys to one table, the other side is there too; here only the first matters.
            let found = found.replace(r#","posts":[]"#, "");
            assert_eq!(found, expected, "{:?} {query:?}", world.kind);
        }
    }
}

#[tokio::test]
async fn chosen_for_each_parent() {
    for world in World::all() {
        let base = || table("posts").include("id,comments.id").exclude("comments.post_id").join("comments");
        for (query, expected) in [
            (
                base().child("comments", |child| child.size = Some(1)),
                r#"[{"id":1,"comments":[{"id":1,"post_id":1}]},{"id":2,"comments":[{"id":2,"post_id":2}]},{"id":3,"comments":[]},{"id":4,"comments":[{"id":5,"post_id":4}]}]"#,
            ),
            (
                base().filter("id,le,2").child("comments", |child| {
                    child.order = orders("id desc");
                    child.size = Some(2);
                }),
                r#"[{"id":1,"comments":[{"id":4,"post_id":1},{"id":3,"post_id":1}]},{"id":2,"comments":[{"id":2,"post_id":2}]}]"#,
            ),
            (
                base().filter("id,eq,1").child("comments", |child| child.filter = Some(condition("text,cs,o"))),
                r#"[{"id":1,"comments":[{"id":1,"post_id":1},{"id":4,"post_id":1}]}]"#,
            ),
            (
                table("posts").include("id").join("tags").filter("id,le,2").child("tags", |child| {
                    child.order = orders("name desc");
                    child.size = Some(1);
                }),
                r#"[{"id":1,"tags":[{"name":"red"}]},{"id":2,"tags":[{"name":"red"}]}]"#,
            ),
            (
                table("posts").include("id").join("tags").filter("id,le,2").child("tags", |child| {
                    child.filter = Some(condition("name,eq,blue"));
                }),
                r#"[{"id":1,"tags":[{"name":"blue"}]},{"id":2,"tags":[]}]"#,
            ),
            // Those below a bounded relation belong to the rows that are left.
            (
                table("users").include("id,posts.id,comments.id").join("posts,comments").filter("id,eq,1").child(
                    "posts",
                    |child| {
                        child.order = orders("id desc");
                        child.size = Some(1);
                    },
                ),
                r#"[{"id":1,"posts":[{"id":3,"user_id":1,"editor_id":1,"comments":[]},{"id":3,"user_id":1,"editor_id":1,"comments":[]}]}]"#,
            ),
        ] {
            assert_eq!(world.records(&query).await, expected, "{:?} {query:?}", world.kind);
        }
    }
}

#[tokio::test]
async fn limits_of_the_entry() {
    for kind in salver_testkit::servers::Kind::ALL {
        let world = World::new(kind, |spec| {
            spec.joins_depth_max = Some(1);
            spec.joins_tables_max = Some(2);
            spec.joins_records_max = Some(2);
        });
        let query = table("posts").include("id,comments.id").join("comments,posts").join("tags").join("users").size(1);
        assert_eq!(
            world.records(&query).await,
            r#"[{"id":1,"comments":[{"id":1,"post_id":1},{"id":3,"post_id":1}],"tags":[{"name":"blue"},{"name":"red"}]}]"#,
            "{kind:?}"
        );
        assert_eq!(world.fails(&query.strict()).await.code, salver_model::Code::InvalidRequest);
    }
}

/// What is joined is what a list finds that asks for the rows of one parent.
#[tokio::test]
async fn as_if_asked_one_by_one() {
    for world in World::all() {
        for (order, page) in [("id", (1, 9)), ("price desc", (1, 2)), ("users.name,id", (2, 1)), ("title", (2, 3))] {
            let query = table("posts").order(order).page(page.0, page.1).join("comments").join("tags");
            let list: serde_json::Value = serde_json::from_str(&world.list(&query).await).unwrap();
            let posts = list["records"].as_array().unwrap();
            assert!(!posts.is_empty());
            for post in posts {
                let id = &post["id"];
                let comments = world.records(&table("comments").filter(&format!("post_id,eq,{id}"))).await;
                assert_eq!(post["comments"].to_string(), comments, "{:?} {order}", world.kind);
                let tags = world.records(&table("tags").filter(&format!("posts.id,eq,{id}"))).await;
                assert_eq!(post["tags"].to_string(), tags, "{:?} {order}", world.kind);
            }
        }
    }
}
