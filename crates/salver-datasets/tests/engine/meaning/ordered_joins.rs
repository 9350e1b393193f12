//! Generated inner joins of three to seven tables, whose order the planner chooses, here and in PostgreSQL.

use super::World;
use super::generated::Dice;
use super::joined::same_rows;

const QUERIES: usize = 500;

/// Queries over the tables `n` and `m`, each under several names.
struct Queries {
    dice: Dice,
}

impl Queries {
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.dice.below(of.len() as u64) as usize]
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.dice.below(100) < chance
    }

    /// A column of one of the first `known` tables.
    fn column(&mut self, tables: &[&str], known: usize) -> String {
        let at = self.dice.below(known as u64) as usize;
        self.column_of(tables, at)
    }

    fn column_of(&mut self, tables: &[&str], at: usize) -> String {
        let column = match tables[at] {
            "n" => "i",
            _ => self.one(&["k", "v"]),
        };
        format!("q{at}.{column}")
    }

    /// A condition on the columns of all tables up to `at`, of which it has one of `at` itself.
    fn condition(&mut self, tables: &[&str], at: usize) -> String {
        let (own, other) = (self.column_of(tables, at), self.column(tables, at + 1));
        match self.dice.below(14) {
            0 => format!("{own} + 1 = {other}"),
            1 => format!("{own} < {other}"),
            2 => format!("{own} = {other} + {}", self.column(tables, at + 1)),
            3 => format!("({own} = {other} or {own} is null)"),
            4 => format!("{own} <= {}", self.dice.below(10)),
            5 => format!("{own}::text = {other}::text"),
            _ => format!("{own} = {other}"),
        }
    }

    fn query(&mut self) -> String {
        let count = 3 + self.dice.below(5) as usize;
        let tables: Vec<&str> = (0..count).map(|_| self.one(&["n", "m", "m"])).collect();
        let mut conditions = Vec::new();
        let mut from = format!("{} as q0", tables[0]);
        for at in 1..count {
            let mut own = vec![self.condition(&tables, at)];
            while self.percent(35) {
                own.push(self.condition(&tables, at));
            }
            // Now and then nothing joins it to the others.
            if self.percent(8) {
                own.clear();
            }
            if self.percent(50) || own.is_empty() {
                from = format!("{from}, {} as q{at}", tables[at]);
                conditions.append(&mut own);
            } else {
                from = format!("{from} join {} as q{at} on {}", tables[at], own.join(" and "));
            }
            // `on` knows the tables of its own list alone.
            from = from.replacen(", ", " cross join ", usize::MAX);
        }
        if self.percent(25) {
            let outer = self.column(&tables, count);
            from = format!("{from} left join m as z on z.k = {outer}");
        }
        if self.percent(25) {
            let (kind, outer) = (self.one(&["exists", "not exists"]), self.column(&tables, count));
            conditions.push(format!("{kind} (select 1 from m as x where x.k = {outer})"));
        }
        if self.percent(25) {
            let (kind, outer) = (self.one(&["in", "in", "not in"]), self.column(&tables, count));
            conditions.push(format!("{outer} {kind} (select k from m where v > 1)"));
        }
        let filter = if conditions.is_empty() { String::new() } else { format!(" where {}", conditions.join(" and ")) };
        let of = |queries: &mut Self| queries.column(&tables, count);
        match if count > 4 { self.dice.below(3) } else { self.dice.below(5) } {
            0 => format!("select count(*) as a, sum({}) as b from {from}{filter}", of(self)),
            1 => {
                let (by, of) = (of(self), of(self));
                format!("select {by} as a, count(*) as b, max({of}) as c from {from}{filter} group by {by}")
            }
            2 => format!("select distinct {} as a, {} as b from {from}{filter}", of(self), of(self)),
            // The columns stand as the tables do.
            _ => {
                let all: Vec<String> = (0..count).map(|at| format!("q{at}.*")).collect();
                format!("select {} from {from}{filter}", all.join(", "))
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_in_any_order_give_the_same_rows() {
    let mut queries = Queries { dice: Dice(55) };
    let made: Vec<String> = (0..QUERIES).map(|_| queries.query()).collect();
    same_rows(&made, &World::new(false)).await;
}
