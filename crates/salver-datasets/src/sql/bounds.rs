//! Limits on statements, so that the stack and the time suffice for parsing and planning. Brackets and types are
//! counted before parsing; operators, tables and columns in the parsed statement, before anything else visits it.

mod columns;
mod counts;
mod names;
mod nesting;
mod views;

use std::ops::ControlFlow;

use ahash::{AHashMap, AHashSet};
use datafusion::sql::sqlparser::ast::{
    AccessExpr, BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Join,
    JoinConstraint, ObjectName, ObjectNamePart, OrderByKind, Query, Select, Statement, TableFactor, Visit, Visitor,
};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use salver_model::limits::{
    SQL_CHAIN_MAX, SQL_COPIED_DEPTH_MAX, SQL_DEPTH_MAX, SQL_NAMED_DEPTH_MAX, SQL_SUBQUERY_DEPTH_MAX,
    SQL_TABLES_DEPTH_MAX, SQL_WITH_DEPTH_MAX,
};
use salver_model::{Code, Error, Result};

use super::from_first;
use super::grammar::SYMMETRIC;
use super::pg_rewrites::{row_comparison, using_columns, value_lists};
pub(super) use columns::columns;
use counts::{grouping_sets, items, keys, relations};
use nesting::Nesting;
pub(super) use nesting::{PARSER_LEVELS, too_deep, too_deep_to_read};
pub(super) use views::check_with_views;

/// Keywords that append another query to the one before.
const COMBINING: [&str; 4] = ["EXCEPT", "INTERSECT", "MINUS", "UNION"];

/// Functions that are planned as a `case` and duplicate all arguments but the last.
const COPYING: [&str; 4] = ["COALESCE", "IFNULL", "NVL", "NVL2"];

/// Functions whose names contain those of their arguments twice.
const NAMING: [&str; 3] = ["NAMED_STRUCT", "ROW", "STRUCT"];

/// Functions with arguments that may be a text that names a type.
const TYPED: [&str; 5] = ["ARROW_CAST", "ARROW_TRY_CAST", "CAST_TO_TYPE", "TRY_ARROW_CAST", "TRY_CAST_TO_TYPE"];

/// Weight of one JSON operator, one `^` or one `at time zone` in a chain: the name of each contains those of all before
/// it.
const JSON_LEVELS: usize = 5;

/// Checks the tokens of a statement, of which each word or operator may add a level to its tree.
pub(super) fn check_tokens(tokens: &[TokenWithSpan], words_max: usize) -> Result<()> {
    let mut words = 0_usize;
    let mut combined = 0_usize;
    let mut nesting = Nesting::default();
    for token in tokens.iter().map(|token| &token.token) {
        match token {
            Token::Whitespace(_) | Token::EOF => continue,
            // The nesting of parentheses is counted separately.
            Token::Comma | Token::Number(..) | Token::SingleQuotedString(_) | Token::LParen | Token::RParen => {}
            Token::VerticalBarRightAngleBracket => combined += 1,
            Token::Word(word) if COMBINING.iter().any(|own| word.value.eq_ignore_ascii_case(own)) => combined += 1,
            _ => words += 1,
        }
        nesting.see(token)?;
        names::token(token)?;
    }
    if words > words_max {
        return Err(Error::new(
            Code::InvalidSql,
            format!("the statement has {words} words and operators, and {words_max} are the most"),
        )
        .with_hint("put many values into an `IN` list, or split the statement"));
    }
    relations(combined)
}

/// Returns the error for a statement with too many possible readings.
pub(super) fn too_many_readings() -> Error {
    Error::new(Code::InvalidSql, "the statement can be read in too many ways: its calls and brackets nest too deep")
        .with_hint("check that each of them is closed, and use `WITH` to name parts of the statement")
}

/// Levels of a chain besides its operators: the query around it, and its last operand.
const LEVELS_OF_CHAIN: usize = 2;
/// Additional levels that rewriting may cause.
const LEVELS_REWRITTEN: usize = 40;

/// Checks a parsed statement.
pub(super) fn check(statement: &Statement) -> Result<()> {
    measure(statement, SQL_CHAIN_MAX + LEVELS_OF_CHAIN)
}

/// Checks a rewritten statement.
pub(super) fn check_rewritten(statement: &Statement) -> Result<()> {
    measure(statement, SQL_CHAIN_MAX + LEVELS_OF_CHAIN + LEVELS_REWRITTEN)
}

fn measure(statement: &Statement, levels_max: usize) -> Result<()> {
    let mut measure = Measure { levels_max, frames: vec![Frame::default()], ..Measure::default() };
    match Visit::visit(statement, &mut measure) {
        ControlFlow::Continue(()) => relations(measure.frames.pop().map_or(0, |frame| frame.own.relations)),
        ControlFlow::Break(error) => Err(*error),
    }
}

/// Number of tables and queries that a query reads, counting each table and each query of a `WITH` as often as it is
/// used.
#[derive(Clone, Copy, Default)]
struct Size {
    relations: usize,
}

impl Size {
    fn add(&mut self, other: Self) {
        self.relations = self.relations.saturating_add(other.relations);
    }
}

/// A query that is being measured.
#[derive(Default)]
struct Frame {
    own: Size,
    /// Names of the following queries of its `WITH`, the last one first.
    ahead: Vec<String>,
    /// Sizes of the preceding ones.
    named: AHashMap<String, Size>,
}

#[derive(Default)]
struct Measure {
    /// Maximum depth of an expression.
    levels_max: usize,
    /// Depth of the current expression, and the contribution of each of its levels.
    depth: usize,
    levels: Vec<usize>,
    /// Parts of expressions that planning copies, by their addresses, with the number of times that this doubles them;
    /// and the sum of these around the current expression.
    copied: AHashMap<usize, usize>,
    copies: usize,
    /// Parts of expressions that occur twice in the name of their parent, and the number of these around the current
    /// expression.
    named: AHashSet<usize>,
    names: usize,
    /// Number of queries with a `WITH` around the current expression.
    withs: usize,
    /// Number of queries in `from` around the current expression.
    tables: usize,
    /// Number of subqueries around the current expression.
    subqueries: usize,
    /// Queries around the current expression; the first stands for the statement.
    frames: Vec<Frame>,
}

type Flow = ControlFlow<Box<Error>>;

impl Measure {
    fn read(&mut self, size: Size) {
        if let Some(frame) = self.frames.last_mut() {
            frame.own.add(size);
        }
    }

    fn enter(&mut self, levels: usize) -> Flow {
        self.depth += levels;
        self.levels.push(levels);
        if self.depth > self.levels_max {
            let message = format!("an expression of the statement is a chain of more than {SQL_CHAIN_MAX} operators");
            let hint = "use an `IN` list, or name its parts in a subquery";
            return ControlFlow::Break(Box::new(Error::new(Code::InvalidSql, message).with_hint(hint)));
        }
        ControlFlow::Continue(())
    }

    /// Records the parts of an expression that planning copies.
    fn note_copied(&mut self, expr: &Expr) {
        use BinaryOperator::{Gt, GtEq, Lt, LtEq};
        match expr {
            Expr::Between { expr, .. } => self.note(expr, 1),
            Expr::BinaryOp { left, op: BinaryOperator::Custom(op), .. } if op == SYMMETRIC => self.note(left, 1),
            // Each column occurs in every comparison that decides whether the columns before are equal.
            Expr::BinaryOp { left, op: Lt | LtEq | Gt | GtEq, right } => {
                for row in [left, right].into_iter().filter_map(|side| row_comparison::row(side)) {
                    row.iter()
                        .zip((1..=row.len()).rev())
                        .for_each(|(column, times)| self.note(column, doublings(times)));
                }
            }
            Expr::InList { expr, list, .. } => {
                let row = row_comparison::row(expr).into_iter().flatten();
                row.for_each(|column| self.note(column, doublings(list.len())));
            }
            Expr::BinaryOp { left, op: BinaryOperator::Overlaps, right } => {
                self.note(left, SQL_COPIED_DEPTH_MAX - 1);
                self.note(right, SQL_COPIED_DEPTH_MAX - 1);
            }
            // Planning turns `= any` and `<> all` into `in` and `not in`.
            Expr::AnyOp { compare_op: BinaryOperator::Eq, .. }
            | Expr::AllOp { compare_op: BinaryOperator::NotEq, .. } => {}
            Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => {
                self.note(left, 2);
                self.note(right, 2);
            }
            Expr::Case { conditions, .. } => conditions.iter().for_each(|when| self.note(&when.condition, 1)),
            Expr::Function(function) => {
                let FunctionArguments::List(list) = &function.args else { return };
                let [ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return };
                if COPYING.iter().any(|own| name.value.eq_ignore_ascii_case(own)) {
                    let all_but_last = list.args.len().saturating_sub(1);
                    list.args.iter().take(all_but_last).for_each(|argument| {
                        if let FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) = argument {
                            self.note(expr, 1);
                        }
                    });
                }
            }
            _ => {}
        }
    }

    /// Records the parts of an expression that its name contains twice.
    fn note_named(&mut self, expr: &Expr) {
        match expr {
            Expr::Struct { values, .. } | Expr::Tuple(values) => values.iter().for_each(|value| self.note_name(value)),
            Expr::Dictionary(fields) => fields.iter().for_each(|field| self.note_name(&field.value)),
            Expr::Map(map) => map.entries.iter().for_each(|entry| self.note_name(&entry.value)),
            Expr::Function(function) => {
                if let Some(filter) = &function.filter {
                    self.note_name(filter);
                }
                if NAMING.iter().any(|own| is_called(&function.name, own)) {
                    arguments(&function.args).for_each(|argument| self.note_name(argument));
                }
            }
            _ => {}
        }
    }

    fn note_name(&mut self, expr: &Expr) {
        self.named.insert(place(expr));
    }

    fn note(&mut self, expr: &Expr, doublings: usize) {
        *self.copied.entry(place(expr)).or_default() += doublings;
    }

    fn leave(&mut self) -> Flow {
        self.depth -= self.levels.pop().unwrap_or_default();
        ControlFlow::Continue(())
    }
}

/// Returns how often this number of copies doubles a part. A single copied expression is allowed whatever the number.
fn doublings(times: usize) -> usize {
    let doublings = times.next_power_of_two().trailing_zeros() as usize;
    doublings.min(SQL_COPIED_DEPTH_MAX - 1)
}

fn is_called(name: &ObjectName, own: &str) -> bool {
    matches!(name.0.as_slice(), [.., ObjectNamePart::Identifier(last)] if last.value.eq_ignore_ascii_case(own))
}

/// Returns the expressions among the arguments of a function.
fn arguments(all: &FunctionArguments) -> impl Iterator<Item = &Expr> {
    let list = match all {
        FunctionArguments::List(list) => list.args.as_slice(),
        FunctionArguments::None | FunctionArguments::Subquery(_) => &[],
    };
    list.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(arg) | FunctionArg::Named { arg, .. } | FunctionArg::ExprNamed { arg, .. } => match arg {
            FunctionArgExpr::Expr(expr) => Some(expr),
            _ => None,
        },
    })
}

/// Returns whether a text among `arguments` names a type that is nested too deep.
fn has_deep_type<'a>(mut arguments: impl Iterator<Item = &'a Expr>) -> bool {
    arguments.any(|argument| {
        let Expr::Value(value) = argument else { return false };
        let Some(text) = value.value.clone().into_string() else { return false };
        let mut open = 0_usize;
        text.bytes().any(|byte| {
            match byte {
                b'(' | b'<' => open += 1,
                b')' | b'>' => open = open.saturating_sub(1),
                _ => {}
            }
            open > SQL_DEPTH_MAX
        })
    })
}

/// Returns the condition of a join with a subquery in it, which is planned with a copy of a side of the join.
fn condition_with_query(join: &Join) -> Option<&Expr> {
    match using_columns::constraint_of(&join.join_operator)? {
        JoinConstraint::On(condition) if value_lists::has_queries(condition) => Some(condition),
        _ => None,
    }
}

/// Returns the address of an expression, which identifies it as long as the statement is not modified.
fn place(expr: &Expr) -> usize {
    std::ptr::from_ref(expr).addr()
}

fn within(checked: Result<()>) -> Flow {
    checked.map_or_else(|error| ControlFlow::Break(Box::new(error)), ControlFlow::Continue)
}

/// Returns the key of a query's name; of two that differ in case only, the larger counts.
fn key(name: &str) -> String {
    name.to_lowercase()
}

impl Visitor for Measure {
    type Break = Box<Error>;

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables).rev();
        let ahead = ctes.map(|cte| key(&cte.alias.name.value)).collect();
        self.frames.push(Frame { own: Size { relations: 1 }, ahead, ..Frame::default() });
        self.withs += usize::from(query.with.is_some());
        if self.withs > SQL_WITH_DEPTH_MAX {
            let message = format!("`WITH` nests deeper than {SQL_WITH_DEPTH_MAX} levels");
            let error = Error::new(Code::InvalidSql, message).with_hint("name all queries in one `WITH`");
            return ControlFlow::Break(Box::new(error));
        }
        if let Some(OrderByKind::Expressions(keys)) = query.order_by.as_ref().map(|order| &order.kind) {
            counts::keys(keys.len())?;
        }
        self.enter(1)
    }

    fn post_visit_query(&mut self, query: &Query) -> Flow {
        self.withs -= usize::from(query.with.is_some());
        let size = self.frames.pop().map(|frame| frame.own).unwrap_or_default();
        if let Some(around) = self.frames.last_mut() {
            match around.ahead.pop() {
                Some(name) => {
                    let named = around.named.entry(name).or_default();
                    named.relations = named.relations.max(size.relations);
                }
                None => around.own.add(size),
            }
        }
        self.leave()
    }

    fn pre_visit_select(&mut self, select: &Select) -> Flow {
        self.read(Size { relations: 1 });
        from_first::has_columns(select)?;
        for condition in select.from.iter().flat_map(|table| &table.joins).filter_map(condition_with_query) {
            self.note(condition, 1);
        }
        items(select.projection.len())?;
        let GroupByExpr::Expressions(groups, _) = &select.group_by else { return ControlFlow::Continue(()) };
        grouping_sets(groups)?;
        keys(groups.len())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> Flow {
        let only = match relation.0.as_slice() {
            [ObjectNamePart::Identifier(only)] => Some(key(&only.value)),
            _ => None,
        };
        let named = only.and_then(|name| self.frames.iter().rev().find_map(|frame| frame.named.get(&name)).copied());
        self.read(named.unwrap_or_default());
        within(names::of_object(relation))
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> Flow {
        within(names::of_table(table))?;
        self.read(Size { relations: 1 });
        self.tables += usize::from(matches!(table, TableFactor::Derived { .. }));
        if self.tables > SQL_TABLES_DEPTH_MAX {
            let message = format!("queries in the place of tables nest deeper than {SQL_TABLES_DEPTH_MAX} levels");
            let error = Error::new(Code::InvalidSql, message).with_hint("use `WITH` to name its parts");
            return ControlFlow::Break(Box::new(error));
        }
        self.enter(1)
    }

    fn post_visit_table_factor(&mut self, table: &TableFactor) -> Flow {
        self.tables -= usize::from(matches!(table, TableFactor::Derived { .. }));
        self.leave()
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Flow {
        use BinaryOperator::{Arrow, HashArrow, HashLongArrow, LongArrow, PGExp, Question};
        within(names::of_expr(expr))?;
        if matches!(expr, Expr::InSubquery { expr, .. } if row_comparison::row(expr).is_some()) {
            self.note(expr, 1);
        }
        if let Some(doublings) = self.copied.get(&place(expr)) {
            self.copies += doublings;
            if self.copies > SQL_COPIED_DEPTH_MAX {
                let message = format!(
                    "`coalesce`, `between`, `case`, rows that are compared or joins by subqueries nest deeper than \
                     {SQL_COPIED_DEPTH_MAX} levels, `any`, `all` or rows of three columns than {}, or `overlaps` \
                     than one",
                    SQL_COPIED_DEPTH_MAX / 2
                );
                let hint = "name the inner ones in a subquery";
                return ControlFlow::Break(Box::new(Error::new(Code::InvalidSql, message).with_hint(hint)));
            }
        }
        if self.named.contains(&place(expr)) {
            self.names += 1;
            if self.names > SQL_NAMED_DEPTH_MAX {
                let message = format!("rows, structs and `filter` nest deeper than {SQL_NAMED_DEPTH_MAX} levels");
                let hint = "name the inner ones in a subquery";
                return ControlFlow::Break(Box::new(Error::new(Code::InvalidSql, message).with_hint(hint)));
            }
        }
        self.note_copied(expr);
        self.note_named(expr);
        match expr {
            Expr::Function(function) => {
                if let FunctionArguments::List(list) = &function.args {
                    items(list.args.len())?;
                }
                let is_typed = TYPED.iter().any(|own| is_called(&function.name, own));
                if is_typed && has_deep_type(arguments(&function.args)) {
                    return ControlFlow::Break(Box::new(too_deep()));
                }
                self.enter(1)
            }
            Expr::CompoundIdentifier(parts) => self.enter(parts.len()),
            Expr::CompoundFieldAccess { access_chain, .. } => {
                let fields = access_chain.iter().filter(|access| matches!(access, AccessExpr::Dot(_))).count();
                self.enter(1 + access_chain.len() + fields)
            }
            Expr::BinaryOp { op: Arrow | HashArrow | HashLongArrow | LongArrow | PGExp | Question, .. }
            | Expr::AtTimeZone { .. } => self.enter(JSON_LEVELS),
            Expr::Case { conditions, .. } => {
                items(conditions.len())?;
                self.enter(1)
            }
            Expr::Subquery(_) | Expr::InSubquery { .. } | Expr::Exists { .. } => {
                self.subqueries += 1;
                if self.subqueries > SQL_SUBQUERY_DEPTH_MAX {
                    let message = format!("subqueries nest deeper than {SQL_SUBQUERY_DEPTH_MAX} levels");
                    let error = Error::new(Code::InvalidSql, message).with_hint("join the tables in place of some");
                    return ControlFlow::Break(Box::new(error));
                }
                self.enter(1)
            }
            _ => self.enter(1),
        }
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> Flow {
        if matches!(expr, Expr::Subquery(_) | Expr::InSubquery { .. } | Expr::Exists { .. }) {
            self.subqueries -= 1;
        }
        if let Some(doublings) = self.copied.get(&place(expr)) {
            self.copies -= doublings;
        }
        if self.named.contains(&place(expr)) {
            self.names -= 1;
        }
        self.leave()
    }
}
