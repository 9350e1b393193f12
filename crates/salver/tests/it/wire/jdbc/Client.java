// What programs of Java ask of a server with the tables `people` and `types`: its catalog, values of every type, rows in
// portions, and what is wrong. It is the same against PostgreSQL itself.

import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;
import org.postgresql.util.PGInterval;

public class Client {
    interface Work {
        void run() throws SQLException;
    }

    static void same(Object wanted, Object found, String what) {
        if (!Objects.deepEquals(wanted, found)) {
            throw new AssertionError(what + ": " + found + ", and not " + wanted);
        }
    }

    /** The values of these columns, row by row. */
    static List<String> rows(ResultSet rows, String... columns) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) {
            StringJoiner line = new StringJoiner(" ");
            for (String column : columns) {
                line.add(String.valueOf(rows.getString(column)));
            }
            found.add(line.toString());
        }
        return found;
    }

    static void refused(String state, Work work) {
        try {
            work.run();
        } catch (SQLException error) {
            same(state, error.getSQLState(), error.getMessage());
            return;
        }
        throw new AssertionError("no error " + state);
    }

    static void metadata(Connection c) throws SQLException {
        DatabaseMetaData m = c.getMetaData();
        same("PostgreSQL", m.getDatabaseProductName(), "product");
        String[] kinds = {"TABLE", "VIEW"};
        List<String> tables = List.of("public people TABLE", "public types TABLE");
        same(tables, rows(m.getTables(null, "public", "%", kinds), "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE"), "tables");
        same(tables.subList(0, 1), rows(m.getTables(null, null, "peop%", kinds), "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE"), "some");
        if (!rows(m.getTables(null, null, "%", null), "TABLE_NAME").contains("people")) {
            throw new AssertionError("people is no table of any kind");
        }
        String[] about = {"COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "ORDINAL_POSITION", "IS_NULLABLE", "DECIMAL_DIGITS"};
        List<String> columns = List.of("id -5 int8 1 YES 0", "name 12 text 2 YES 0", "born 91 date 3 YES 0");
        same(columns, rows(m.getColumns(null, "public", "people", "%"), about), "columns");
        same(List.of("exact 2 numeric 7 YES 2"), rows(m.getColumns(null, null, "types", "exact"), about), "a column");
        same(List.of(), rows(m.getPrimaryKeys(null, "public", "people"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"), "keys");
        same(List.of(), rows(m.getIndexInfo(null, "public", "people", false, false), "INDEX_NAME"), "indexes");
        same(List.of(), rows(m.getImportedKeys(null, "public", "people"), "FK_NAME"), "imported keys");
        same(List.of(), rows(m.getExportedKeys(null, "public", "people"), "FK_NAME"), "exported keys");
        same(List.of(), rows(m.getBestRowIdentifier(null, "public", "people", 0, true), "COLUMN_NAME"), "row identifier");
        same(List.of(), rows(m.getProcedures(null, "public", "nope%"), "PROCEDURE_NAME"), "procedures");
        same(List.of(), rows(m.getFunctions(null, "public", "nope%"), "FUNCTION_NAME"), "functions");
        List<String> schemas = rows(m.getSchemas(), "TABLE_SCHEM");
        same(true, schemas.containsAll(List.of("public", "pg_catalog", "information_schema")), "schemas: " + schemas);
        same(true, rows(m.getCatalogs(), "TABLE_CAT").contains(c.getCatalog()), "catalogs");
        same(true, rows(m.getTableTypes(), "TABLE_TYPE").contains("TABLE"), "kinds of tables");
        List<String> types = rows(m.getTypeInfo(), "TYPE_NAME", "DATA_TYPE");
        List<String> known = List.of("int8 -5", "text 12", "numeric 2", "timestamptz 93", "_int4 2003", "uuid 1111");
        same(true, types.containsAll(known), "types: " + types);
        same("public", c.getSchema(), "schema");
        same(true, m.getMaxColumnNameLength() > 0, "length of names");
    }

    static Object one(Connection c, String expression, Object value, int place) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("select " + expression)) {
            s.setObject(1, value);
            same(1, s.getParameterMetaData().getParameterCount(), "parameters");
            try (ResultSet rows = s.executeQuery()) {
                rows.next();
                Object found = rows.getObject(place);
                return found instanceof java.sql.Array ? Arrays.asList((Object[]) ((java.sql.Array) found).getArray()) : found;
            }
        }
    }

    static void values(Connection c) throws SQLException {
        BigDecimal exact = new BigDecimal("-12345678901234567890123456789012345.678901234567890123456789012345");
        Object[][] all = {
            {"?::int2", (short) -7, -7}, {"?::int4", Integer.MIN_VALUE, Integer.MIN_VALUE},
            {"?::int8", Long.MAX_VALUE, Long.MAX_VALUE}, {"?::float4", 0.1f, 0.1f}, {"?::float8", 1e300, 1e300},
            {"?::numeric", new BigDecimal("1.10"), new BigDecimal("1.10")}, {"?::numeric", exact, exact},
            {"?::bool", true, true}, {"?::text", "it's \u00fc \\ $1", "it's \u00fc \\ $1"},
            {"?::bytea", new byte[] {0, -1}, new byte[] {0, -1}},
            {"?::date", java.sql.Date.valueOf("2024-02-29"), java.sql.Date.valueOf("2024-02-29")},
            {"?::date", LocalDate.of(1582, 10, 15), java.sql.Date.valueOf("1582-10-15")},
            {"?::time", Time.valueOf("01:02:03"), Time.valueOf("01:02:03")},
            {"?::timestamp", Timestamp.valueOf("2024-01-02 03:04:05.678901"), Timestamp.valueOf("2024-01-02 03:04:05.678901")},
            {"?::timestamp", LocalDateTime.of(2024, 1, 2, 3, 4), Timestamp.valueOf("2024-01-02 03:04:00")},
            {"?::timestamptz", OffsetDateTime.parse("2024-01-02T03:04:05+02:00"),
                Timestamp.from(Instant.parse("2024-01-02T01:04:05Z"))},
            {"?::interval", new PGInterval("1 year 2 mons -3 days 04:05:06.5"), new PGInterval("1 year 2 mons -3 days 04:05:06.5")},
        };
        for (Object[] row : all) {
            for (int turn = 0; turn < 7; turn++) {
                same(row[2], one(c, (String) row[0], row[1], 1), (String) row[0]);
            }
        }
        UUID uuid = UUID.fromString("0123abcd-4567-89ef-0123-456789abcdef");
        same(uuid.toString(), String.valueOf(one(c, "?::uuid", uuid, 1)), "uuid");
        same(Arrays.asList(1, null, 3), one(c, "?::int4[]", c.createArrayOf("int4", new Integer[] {1, null, 3}), 1), "array");
        same(Arrays.asList("a,\"b", "{}"), one(c, "?::text[]", c.createArrayOf("text", new String[] {"a,\"b", "{}"}), 1), "texts");
        try (PreparedStatement s = c.prepareStatement("select ?::int8, ?::numeric, ?::date, ?::bytea, ?::timestamptz")) {
            int[] types = {Types.BIGINT, Types.NUMERIC, Types.DATE, Types.BINARY, Types.TIMESTAMP_WITH_TIMEZONE};
            for (int at = 0; at < types.length; at++) {
                s.setNull(at + 1, types[at]);
            }
            ResultSet rows = s.executeQuery();
            rows.next();
            for (int at = 1; at <= types.length; at++) {
                same(null, rows.getObject(at), "a null");
            }
        }
    }

    static List<String> names(PreparedStatement s) throws SQLException {
        try (ResultSet rows = s.executeQuery()) {
            return rows(rows, "name");
        }
    }

    static void conditions(Connection c) throws SQLException {
        for (int turn = 0; turn < 7; turn++) {
            try (PreparedStatement s = c.prepareStatement("select name from people where id = any(?) order by id")) {
                s.setArray(1, c.createArrayOf("int8", new Long[] {1L, 2L, 9L}));
                same(List.of("Ann", "Ben"), names(s), "any");
                s.setArray(1, c.createArrayOf("int8", new Long[] {}));
                same(List.of(), names(s), "any of none");
            }
            try (PreparedStatement s = c.prepareStatement("select name from people where born > ? and name like ?")) {
                s.setDate(1, java.sql.Date.valueOf("1990-01-01"));
                s.setString(2, "B%");
                same(List.of("Ben"), names(s), "born");
            }
            try (PreparedStatement s = c.prepareStatement("select id from types where exact = ? and huge > ?")) {
                s.setBigDecimal(1, new BigDecimal("-12345.67"));
                s.setBigDecimal(2, new BigDecimal("18446744073709551614"));
                try (ResultSet rows = s.executeQuery()) {
                    same(List.of("1"), rows(rows, "id"), "exact");
                }
            }
        }
        try (PreparedStatement s = c.prepareStatement("select count(*), max(id), 1, id::text from people group by id limit ?")) {
            s.setInt(1, 1);
            ResultSetMetaData m = s.executeQuery().getMetaData();
            List<String> labels = new ArrayList<>();
            for (int at = 1; at <= m.getColumnCount(); at++) {
                labels.add(m.getColumnLabel(at));
            }
            same(List.of("count", "max", "?column?", "id"), labels, "names");
        }
    }

    static void portions(Connection c) throws SQLException {
        c.setAutoCommit(false);
        try (PreparedStatement s = c.prepareStatement("select x from generate_series(1, ?) as g(x)")) {
            s.setFetchSize(100);
            s.setInt(1, 1000);
            try (ResultSet rows = s.executeQuery()) {
                long sum = 0;
                while (rows.next()) {
                    sum += rows.getLong(1);
                }
                same(500500L, sum, "sum");
            }
        }
        c.commit();
        c.setAutoCommit(true);
    }

    static void refusals(Connection c) throws SQLException {
        String[][] wrong = {
            {"22P02", "select id from people where id = ?", "x"}, {"22003", "select ?::int2", "40000"},
            {"22007", "select ?::date", "x"}, {"22008", "select ?::date", "2023-02-29"},
            {"22P02", "select ?::int4[]", "{1"}, {"42703", "select nope, ?::text from people", "x"},
            {"42P01", "select ?::text from nope", "x"},
        };
        for (String[] row : wrong) {
            refused(row[0], () -> {
                try (PreparedStatement s = c.prepareStatement(row[1])) {
                    s.setObject(1, row[2], Types.OTHER);
                    s.executeQuery();
                }
            });
        }
        refused("42P01", () -> c.prepareStatement("select * from nope where id = 1").getMetaData());
        try (Statement s = c.createStatement(); ResultSet rows = s.executeQuery("select 1 as one")) {
            same(List.of("1"), rows(rows, "one"), "after an error");
        }
    }

    public static void main(String[] arguments) throws Exception {
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        String url = "jdbc:postgresql://" + arguments[0];
        for (String way : List.of("", "?prepareThreshold=1", "?binaryTransfer=false", "?prepareThreshold=-1")) {
            try (Connection c = DriverManager.getConnection(url + way, arguments[1], "x")) {
                metadata(c);
                values(c);
                conditions(c);
                portions(c);
                refusals(c);
            }
        }
        System.out.println("well");
    }
}
