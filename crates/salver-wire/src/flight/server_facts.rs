//! What is told of the server itself: its name, what it can do, and its types.

use std::collections::BTreeSet;

use arrow::record_batch::RecordBatch;
use arrow_flight::error::FlightError;
use arrow_flight::sql::metadata::{SqlInfoDataBuilder, XdbcTypeInfo, XdbcTypeInfoDataBuilder};
use arrow_flight::sql::{
    Nullable, Searchable, SqlInfo, SqlNullOrdering, SqlSupportedCaseSensitivity, SqlSupportedTransaction, XdbcDataType,
};
use salver_model::{Error, Result};

/// Returns these facts, or all if none is named.
///
/// # Errors
/// `Internal`.
pub(super) fn sql_info(wanted: &[u32]) -> Result<RecordBatch> {
    let mut facts = SqlInfoDataBuilder::new();
    facts.append(SqlInfo::FlightSqlServerName, "Salver");
    facts.append(SqlInfo::FlightSqlServerVersion, env!("CARGO_PKG_VERSION"));
    facts.append(SqlInfo::FlightSqlServerArrowVersion, "1.5");
    facts.append(SqlInfo::FlightSqlServerReadOnly, true);
    facts.append(SqlInfo::FlightSqlServerSql, true);
    facts.append(SqlInfo::FlightSqlServerSubstrait, false);
    facts.append(SqlInfo::FlightSqlServerTransaction, SqlSupportedTransaction::None as i32);
    facts.append(SqlInfo::FlightSqlServerCancel, false);
    facts.append(SqlInfo::FlightSqlServerBulkIngestion, false);
    facts.append(SqlInfo::FlightSqlServerIngestTransactionsSupported, false);
    facts.append(SqlInfo::FlightSqlServerStatementTimeout, 0_i32);
    facts.append(SqlInfo::FlightSqlServerTransactionTimeout, 0_i32);
    for unsupported in [
        SqlInfo::SqlDdlCatalog,
        SqlInfo::SqlDdlSchema,
        SqlInfo::SqlDdlTable,
        SqlInfo::SqlTransactionsSupported,
        SqlInfo::SqlBatchUpdatesSupported,
        SqlInfo::SqlSavepointsSupported,
        SqlInfo::SqlNamedParametersSupported,
        SqlInfo::SqlStoredProceduresSupported,
        SqlInfo::SqlSelectForUpdateSupported,
    ] {
        facts.append(unsupported, false);
    }
    for supported in [
        SqlInfo::SqlAllTablesAreSelectable,
        SqlInfo::SqlSupportsColumnAliasing,
        SqlInfo::SqlNullPlusNullIsNull,
        SqlInfo::SqlSupportsTableCorrelationNames,
        SqlInfo::SqlSupportsExpressionsInOrderBy,
        SqlInfo::SqlSupportsOrderByUnrelated,
        SqlInfo::SqlSupportsLikeEscapeClause,
        SqlInfo::SqlSupportsNonNullableColumns,
        SqlInfo::SqlCorrelatedSubqueriesSupported,
        SqlInfo::SqlCatalogAtStart,
    ] {
        facts.append(supported, true);
    }
    facts.append(SqlInfo::SqlIdentifierQuoteChar, "\"");
    facts.append(SqlInfo::SqlIdentifierCase, SqlSupportedCaseSensitivity::SqlCaseSensitivityLowercase as i32);
    facts.append(SqlInfo::SqlQuotedIdentifierCase, SqlSupportedCaseSensitivity::SqlCaseSensitivityUnknown as i32);
    facts.append(SqlInfo::SqlNullOrdering, SqlNullOrdering::SqlNullsSortedHigh as i32);
    facts.append(SqlInfo::SqlSearchStringEscape, "\\");
    facts.append(SqlInfo::SqlSchemaTerm, "schema");
    facts.append(SqlInfo::SqlCatalogTerm, "catalog");
    facts.append(SqlInfo::SqlProcedureTerm, "procedure");
    // Each number is looked for in all facts, and clients may name any of them any number of times.
    let known = wanted.iter().copied().filter(|number| *number < 1_000).collect::<BTreeSet<u32>>();
    let is_foreign = !wanted.is_empty() && known.is_empty();
    let facts = facts.build().map_err(unwritable)?;
    let rows = facts.record_batch(known).map_err(unwritable)?;
    Ok(if is_foreign { rows.slice(0, 0) } else { rows })
}

/// Returns the types that columns have, or those with this number.
///
/// # Errors
/// `Internal`.
pub(super) fn type_info(data_type: Option<i32>) -> Result<RecordBatch> {
    use XdbcDataType as X;
    const TYPES: [(&str, XdbcDataType, i32, Option<&str>); 14] = [
        ("boolean", X::XdbcBit, 1, None),
        ("tinyint", X::XdbcTinyint, 3, None),
        ("smallint", X::XdbcSmallint, 5, None),
        ("integer", X::XdbcInteger, 10, None),
        ("bigint", X::XdbcBigint, 19, None),
        ("numeric", X::XdbcNumeric, 20, None),
        ("decimal", X::XdbcDecimal, 76, None),
        ("real", X::XdbcReal, 7, None),
        ("double precision", X::XdbcDouble, 15, None),
        ("varchar", X::XdbcVarchar, i32::MAX, Some("'")),
        ("bytea", X::XdbcVarbinary, i32::MAX, Some("'")),
        ("date", X::XdbcDate, 10, Some("'")),
        ("time", X::XdbcTime, 15, Some("'")),
        ("timestamp", X::XdbcTimestamp, 29, Some("'")),
    ];
    let mut types = XdbcTypeInfoDataBuilder::new();
    for (name, data_type, size, quote) in TYPES {
        let quote = quote.map(str::to_owned);
        types.append(XdbcTypeInfo {
            type_name: name.to_owned(),
            data_type,
            column_size: Some(size),
            literal_prefix: quote.clone(),
            literal_suffix: quote,
            nullable: Nullable::NullabilityNullable,
            case_sensitive: matches!(data_type, X::XdbcVarchar),
            searchable: Searchable::Full,
            auto_increment: Some(false),
            sql_data_type: data_type,
            ..XdbcTypeInfo::default()
        });
    }
    types.build().and_then(|types| types.record_batch(data_type)).map_err(unwritable)
}

fn unwritable(cause: FlightError) -> Error {
    Error::internal("what the server can do can't be written").with_source(cause)
}

#[cfg(test)]
mod tests {
    use super::{sql_info, type_info};

    #[test]
    fn facts_and_types_are_found_by_their_numbers() {
        let all = sql_info(&[]).unwrap().num_rows();
        assert!(all > 20);
        assert_eq!(sql_info(&[0, 3, 3]).unwrap().num_rows(), 2);
        assert_eq!(sql_info(&[999]).unwrap().num_rows(), 0);
        assert_eq!(sql_info(&[u32::MAX]).unwrap().num_rows(), 0);
        assert_eq!(sql_info(&vec![u32::MAX; 100_000]).unwrap().schema(), sql_info(&[]).unwrap().schema());
        assert_eq!(type_info(Some(12)).unwrap().num_rows(), 1);
        assert_eq!(type_info(None).unwrap().num_rows(), 14);
    }
}
