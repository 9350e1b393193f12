//! Expressions of every type with values at their edges, here and in PostgreSQL. Both write what they make of them as
//! text, and the texts are compared.

use salver_testkit::servers::{self, Kind};

use super::World;

const EXPRESSIONS: &str = include_str!("expressions.txt");

/// What PostgreSQL makes of an expression: its text, or why it refuses it.
pub(super) const TRY: &str = "create function try(e text) returns text language plpgsql as $$ declare r text; begin
    execute 'select (' || e || ')::text' into r; return coalesce(r, '<null>');
    exception when others then return 'refused: ' || sqlerrm; end $$;";

/// What PostgreSQL makes of each expression, by [`TRY`].
pub(super) fn told(postgres: &servers::Database, expressions: &[String]) -> Vec<String> {
    let tried: Vec<String> = expressions.iter().map(|own| format!("try($q${own}$q$)")).collect();
    let told = postgres.run(&format!("select array_to_json(array[{}]);", tried.join(",\n")));
    let told: Vec<String> = serde_json::from_str(told.trim()).expect("a text of each");
    assert_eq!(told.len(), expressions.len());
    told
}

/// Checks that each expression has the text here that it has there, or is refused by both; more than `least` have one.
pub(super) async fn agree(world: &World, expressions: &[String], told: &[String], least: usize) {
    let (mut wrong, mut good) = (Vec::new(), 0);
    for (own, there) in expressions.iter().zip(told) {
        let here = world.answer(&format!("select coalesce(({own})::text, '<null>')")).await;
        match (here, there.strip_prefix("refused: ")) {
            (Ok(here), None) if here == *there => good += 1,
            (Err(_), Some(_)) => {}
            (here, _) => wrong.push(format!("`{own}`\n  here: {here:?}\n  there: {there:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} differ, {good} do not:\n{}", wrong.len(), wrong.join("\n"));
    assert!(good > least, "{good}");
}

/// An expression, and whether the digits it is written with count.
struct Made {
    text: String,
    exactly: bool,
}

fn all() -> Vec<Made> {
    let lines = || EXPRESSIONS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let values: Vec<(&str, &str)> =
        lines().filter_map(|line| line.strip_prefix("= ")).filter_map(|line| line.split_once(' ')).collect();
    let mut all = Vec::new();
    for line in lines() {
        let Some((types, words)) = line.split_once(' ').filter(|(types, _)| *types != "=") else { continue };
        let (exactly, words) = words.strip_prefix('~').map_or((true, words), |words| (false, words));
        let made = |value: &str| Made { text: words.replace("{}", value), exactly };
        if types == "-" {
            all.push(made(""));
        }
        all.extend(values.iter().filter(|(own, _)| types.contains(own)).map(|(_, value)| made(value)));
    }
    all
}

fn same(one: &str, other: &str, exactly: bool) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    match (number(one), number(other)) {
        _ if one == other => true,
        (Some(a), Some(b)) if !exactly => a == b || (a - b).abs() <= 1e-12 * a.abs().max(b.abs()),
        _ => false,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn expressions_have_the_same_text() {
    let all = all();
    let postgres = servers::database(Kind::Postgres, TRY);
    let told = told(&postgres, &all.iter().map(|made| made.text.clone()).collect::<Vec<_>>());
    let world = World::new(false);
    let mut wrong = Vec::new();
    for (made, there) in all.iter().zip(&told) {
        // More is taken here, such as numbers where there are whole ones only.
        if there.starts_with("refused: ") {
            continue;
        }
        let here = world.answer(&format!("select coalesce(({})::text, '<null>')", made.text)).await;
        let here = here.unwrap_or_else(|error| format!("refused: {} ({:?})", error.message, error.hint));
        if !same(&here, there, made.exactly) {
            wrong.push(format!("`{}`\n  here: {here:?}\n  there: {there:?}", made.text));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
