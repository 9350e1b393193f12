//! Keyset paging: every row once, in the order of the whole list, whatever the order and the size of the pages.

use salver_model::Code;

use super::fixture::{Ask, World, table};

#[tokio::test]
async fn every_row_once_under_every_order() {
    let orders = [
        "",
        "id desc",
        "price",
        "price desc",
        "score desc,id",
        "done,price desc",
        "title desc,price,id desc",
        "made",
        "users.name,price desc",
        "editor_id desc,title",
        "user_id,users.boss_id desc,score",
    ];
    for world in World::all() {
        for order in orders {
            let whole = world.ids(&table("posts").order(order)).await;
            assert_eq!(whole.len(), 4);
            for size in 1..=5 {
                let mut found = Vec::new();
                let mut after = Some(String::new());
                while let Some(token) = after {
                    let mut query = table("posts").order(order).size(size).include("id");
                    query.after = Some(token);
                    let page: serde_json::Value = serde_json::from_str(&world.list(&query).await).unwrap();
                    let rows = page["records"].as_array().unwrap();
                    assert!(!rows.is_empty() && rows.len() <= size as usize, "{:?} {order}", world.kind);
                    found.extend(rows.iter().map(|row| row["id"].as_i64().unwrap()));
                    after = page["next"].as_str().map(str::to_owned);
                }
                assert_eq!(found, whole, "{:?} `{order}` by {size}", world.kind);
            }
        }
        let mut query = table("stock").order("amount desc").size(2);
        query.after = Some(String::new());
        let page: serde_json::Value = serde_json::from_str(&world.list(&query).await).unwrap();
        query.after = page["next"].as_str().map(str::to_owned);
        assert_eq!(
            world.list(&query).await,
            r#"{"records":[{"place":"north","item":2,"amount":0}],"next":null}"#,
            "a key of two columns"
        );
    }
}

#[tokio::test]
async fn tokens_belong_to_their_order() {
    for world in World::all() {
        let mut query = table("posts").order("price").size(1);
        query.after = Some(String::new());
        let page: serde_json::Value = serde_json::from_str(&world.list(&query).await).unwrap();
        let token = page["next"].as_str().unwrap().to_owned();
        for (mut other, token, code) in [
            (table("posts").order("price desc"), token.as_str(), Code::InvalidCursor),
            (table("posts"), &token, Code::InvalidCursor),
            (table("comments").order("price"), &token, Code::InvalidCursor),
            (table("posts").order("price"), "nonsense", Code::InvalidCursor),
            (table("posts").order("price"), &token[..token.len() - 2], Code::InvalidCursor),
            (table("posts").order("price").page(1, 1), &token, Code::InvalidRequest),
            (table("bare"), "", Code::InvalidRequest),
        ] {
            other.after = Some(token.to_owned());
            assert_eq!(world.fails(&other).await.code, code, "{:?} {other:?}", world.kind);
        }
        // Joined rows belong to the page.
        let mut query = table("posts").include("id,comments.id").size(2).join("comments");
        query.after = Some(String::new());
        let list = world.list(&query).await;
        let expected = r#"{"records":[{"id":1,"comments":[{"id":1,"post_id":1},{"id":3,"post_id":1},{"id":4,"post_id":1}]},{"id":2,"comments":[{"id":2,"post_id":2}]}],"next":""#;
        assert!(list.starts_with(expected), "{list}");
    }
}
