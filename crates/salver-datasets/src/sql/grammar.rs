//! The grammar of statements: what the parser's generic dialect takes, in a bounded number of attempts. Where words such
//! as `array[`, `not (` or `cast(` begin more than one thing, the parser reads what follows as one, and, when that
//! fails, again as the other: nested, each level doubles the time.

use std::any::TypeId;
use std::cell::Cell;

use datafusion::sql::sqlparser::ast::Expr;
use datafusion::sql::sqlparser::dialect::{Dialect, GenericDialect};
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use salver_model::limits::SQL_READINGS_MAX;

/// The dialect of one statement.
#[derive(Debug)]
pub(super) struct Grammar {
    /// How many more expressions the parser may begin.
    left: Cell<usize>,
}

impl Grammar {
    /// For a statement of so many tokens, each of which may begin an expression.
    pub(super) fn of(tokens: usize) -> Self {
        Self { left: Cell::new(SQL_READINGS_MAX + 4 * tokens) }
    }

    /// Whether the parser was ended because of its attempts.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

/// The features of the parser's generic dialect, as that has them.
macro_rules! as_generic {
    ($($feature:ident),* $(,)?) => {
        $(fn $feature(&self) -> bool {
            GenericDialect.$feature()
        })*
    };
}

impl Dialect for Grammar {
    /// The parser asks which dialect it has where the features leave something open.
    fn dialect(&self) -> TypeId {
        TypeId::of::<GenericDialect>()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        GenericDialect.is_delimited_identifier_start(ch)
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        GenericDialect.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        GenericDialect.is_identifier_part(ch)
    }

    /// Parses nothing itself: every expression begins here, also in each attempt, so here they are counted.
    fn parse_prefix(&self, _: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        match self.left.get() {
            // Of all errors this one alone ends the attempts at other readings as well.
            0 => Some(Err(ParserError::RecursionLimitExceeded)),
            left => {
                self.left.set(left - 1);
                None
            }
        }
    }

    as_generic! {
        supports_unicode_string_literal, supports_partition_by_after_order_by, supports_array_join_syntax,
        supports_group_by_expr, supports_group_by_with_modifier, supports_left_associative_joins_without_parens,
        supports_connect_by, supports_match_recognize, supports_pipe_operator, supports_start_transaction_modifier,
        supports_window_function_null_treatment_arg, supports_dictionary_syntax,
        supports_window_clause_named_window_reference, supports_parenthesized_set_variables,
        supports_select_wildcard_except, support_map_literal_syntax, allow_extract_custom, allow_extract_single_quotes,
        supports_extract_comma_syntax, supports_create_view_comment_syntax, supports_parens_around_table_factor,
        supports_values_as_table_factor, supports_create_index_with_clause, supports_explain_with_utility_options,
        supports_limit_comma, supports_update_order_by, supports_from_first_select, supports_projection_trailing_commas,
        supports_asc_desc_in_column_definition, supports_try_convert, supports_bitwise_shift_operators,
        supports_comment_on, supports_load_extension, supports_named_fn_args_with_assignment_operator,
        supports_struct_literal, supports_empty_projections, supports_nested_comments, supports_multiline_comment_hints,
        supports_user_host_grantee, supports_string_escape_constant, supports_array_typedef_with_brackets,
        supports_match_against, supports_set_names, supports_comma_separated_set_assignments,
        supports_filter_during_aggregation, supports_select_wildcard_exclude, supports_data_type_signed_suffix,
        supports_interval_options, supports_quote_delimited_string, supports_select_wildcard_replace,
        supports_select_wildcard_ilike, supports_select_wildcard_rename, supports_optimize_table, supports_install,
        supports_detach, supports_prewhere, supports_with_fill, supports_limit_by, supports_interpolate,
        supports_settings, supports_select_format, supports_comment_optimizer_hint,
        supports_constraint_keyword_without_name, supports_key_column_option, supports_comma_separated_trim,
        supports_cte_without_as, supports_select_item_multi_column_alias, supports_xml_expressions,
    }
}
