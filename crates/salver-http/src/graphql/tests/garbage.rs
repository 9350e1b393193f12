//! Any input results in a response or an error.

use serde_json::json;

use crate::graphql::Answer;
use crate::graphql::tests::fixture::World;

#[tokio::test]
async fn too_deep_and_too_wide() {
    let world = World::new();
    for (document, message) in [
        ("{ a".repeat(10_000), ""),
        (format!("{{ orders(filter: {}) {{ id }} }}", "{not:".repeat(10_000)), ""),
        (format!("query($x: {}Int) {{ __typename }}", "[".repeat(10_000)), ""),
        (format!("{{ orders(filter: {{id: {{in: {}1{}}}}}) {{ id }} }}", "[".repeat(5_000), "]".repeat(5_000)), ""),
        (format!("{{ orders {{ {}id{} }} }}", "customer { orders { ".repeat(6), " } }".repeat(6)), "deeper than 12"),
        (format!("{{ {} }}", (0..2_001).map(|i| format!("a{i}: __typename ")).collect::<String>()), "more than 2000"),
        (
            // Doubles with each fragment.
            (0..40).map(|i| format!("fragment F{i} on Query {{ ...F{} ...F{} }} ", i + 1, i + 1)).collect::<String>()
                + "fragment F40 on Query { __typename } { ...F0 }",
            "more than 2000",
        ),
        (
            format!("{{ orders(filter: {}{{id: {{eq: 1}}}}{}) {{ id }} }}", "{not: ".repeat(40), "}".repeat(40)),
            "nested deeper",
        ),
        (
            "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }"
                .to_owned(),
            "depth",
        ),
        ("a ".repeat(100_000), ""),
        ("\"".repeat(10_000), ""),
        ("{ orders { id } } ".repeat(2_000), ""),
    ] {
        let (answer, ok) = world.run(&document, json!(null)).await;
        let said = answer["errors"][0]["message"].as_str().unwrap_or_else(|| panic!("no error: {:.80}", document));
        assert!(said.contains(message), "{said}: {document:.80}");
        assert!(!ok || answer["data"]["orders"].is_null());
        assert!(world.raw(&document).await.is_err(), "{document:.80}");
    }
    let wide = format!("{{ orders(filter: {{id: {{in: [{}]}}}}) {{ id }} }}", "10,".repeat(10_001));
    let (answer, _) = world.run(&wide, json!(null)).await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "invalid_filter", "{answer}");
}

const WORDS: &str = "{ } { } ( ) [ ] : ! $ @ ... = | & query mutation fragment on orders customers orders_page \
    orders_aggregate orders_by_key id color customer filter sort limit offset page after group_by having rows total \
    count group sum eq in not and or is_null field order desc function true null 1 -1 1e999 99999999999999999999 1.5 \"x\" \
    \"\"\" \" \\ $x $y Int skip include if __typename __schema __type types name # \n , ü \0 ' links cores";

#[tokio::test]
async fn random_tokens() {
    let words: Vec<&str> = WORDS.split(' ').collect();
    let world = World::new();
    let mut state = 7_u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let starts =
        ["", "{", "{ orders", "{ orders(", "{ orders(filter: {", "query Q($x: Int64 = 1) {", "{ orders_aggregate {"];
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..4_000 {
        let mut document = starts[below(starts.len())].to_owned();
        for _ in 0..below(25) {
            document.push(' ');
            document.push_str(words[below(words.len())]);
        }
        // With brackets closed, so that more of them parse.
        for bracket in document.clone().chars().rev() {
            match bracket {
                '{' => document.push('}'),
                '(' => document.push(')'),
                '[' => document.push(']'),
                _ => {}
            }
        }
        match world.raw(&document).await {
            Ok(_) => answered += 1,
            Err(error) => {
                assert_ne!(error.code, salver_model::Code::Internal, "{document}: {error:?}");
                refused += 1;
            }
        }
        let (answer, ok) = world.run(&document, json!({ "x": 1, "y": [null] })).await;
        assert!(ok || answer["errors"][0]["message"].is_string(), "{document}: {answer}");
    }
    assert!(refused > 1_000 && answered > 0, "{answered} answered, {refused} refused");
}

#[tokio::test]
async fn random_bytes() {
    let world = World::new();
    let mut state = 99_u64;
    for length in 0..2_000_usize {
        let body: Vec<u8> = (0..length % 97)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as u8
            })
            .collect();
        for content_type in [None, Some("application/json"), Some("application/graphql")] {
            if let Ok(Answer::Document { body, .. }) = world.post(content_type, &body).await {
                assert!(serde_json::from_slice::<serde_json::Value>(&body).is_ok());
            }
        }
    }
}
