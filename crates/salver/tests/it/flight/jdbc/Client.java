// What programs of Java ask of a server with the tables `people` and `types`, by Arrow Flight SQL.

import java.math.BigDecimal;
import java.sql.*;
import java.util.*;

public class Client {
    static void same(Object wanted, Object found, String what) {
        if (!Objects.deepEquals(wanted, found)) {
            throw new AssertionError(what + ": " + found + ", and not " + wanted);
        }
    }

    /** The values of a column. What is not closed keeps memory, which the driver takes for an error. */
    static List<String> column(ResultSet of, String name) throws SQLException {
        List<String> found = new ArrayList<>();
        try (ResultSet rows = of) {
            while (rows.next()) {
                found.add(rows.getString(name));
            }
        }
        return found;
    }

    static Connection connect(String address, String password) throws SQLException {
        Properties own = new Properties();
        own.put("user", "team");
        own.put("password", password);
        return DriverManager.getConnection("jdbc:arrow-flight-sql://" + address + "/?useEncryption=false", own);
    }

    public static void main(String[] arguments) throws Exception {
        try (Connection c = connect(arguments[0], "a-long-random-text-for-this-test")) {
            statements(c);
            metadata(c.getMetaData());
        }
        try (Connection c = connect(arguments[0], "wrong")) {
            c.createStatement().executeQuery("select 1").next();
            throw new AssertionError("let in");
        } catch (SQLException told) {
            // As it should be.
        }
        System.out.println("well");
    }

    static void statements(Connection c) throws SQLException {
        try (Statement statement = c.createStatement()) {
            ResultSet rows = statement.executeQuery("select * from types order by id");
            same(true, rows.next(), "a row");
            same(1, rows.getInt("id"), "id");
            same(true, rows.getBoolean("truth"), "truth");
            same(Long.MIN_VALUE, rows.getLong("big"), "big");
            same(1e300, rows.getDouble("long"), "long");
            same(new BigDecimal("-12345.67"), rows.getBigDecimal("exact"), "exact");
            same("it's \u00fc", rows.getString("word"), "word");
            same(true, Arrays.equals(new byte[] {0, (byte) 0xff}, rows.getBytes("bytes")), "bytes");
            same(true, rows.next(), "a second row");
            same(null, rows.getString("word"), "null");
            same(false, rows.next(), "no third row");
        }
        try (PreparedStatement statement = c.prepareStatement("select name from people where id = ?")) {
            for (int round = 0; round < 3; round++) {
                statement.setLong(1, 2);
                same(List.of("Ben"), column(statement.executeQuery(), "name"), "a parameter");
            }
        }
        try (Statement statement = c.createStatement()) {
            statement.executeQuery("select * from nope");
            throw new AssertionError("no error");
        } catch (SQLException told) {
            same(true, told.getMessage().contains("no table `nope`"), told.getMessage());
        }
    }

    static void metadata(DatabaseMetaData data) throws SQLException {
        same("Salver", data.getDatabaseProductName(), "name");
        same(true, data.isReadOnly(), "read only");
        same(false, data.supportsTransactions(), "transactions");
        same(List.of("people", "types"), column(data.getTables(null, null, "%", null), "TABLE_NAME"), "tables");
        same(List.of("id", "name", "born"), column(data.getColumns(null, null, "people", null), "COLUMN_NAME"), "columns");
        same(List.of("salver"), column(data.getCatalogs(), "TABLE_CAT"), "catalogs");
        same(List.of("public"), column(data.getSchemas(), "TABLE_SCHEM"), "schemas");
        same(List.of("TABLE", "VIEW"), column(data.getTableTypes(), "TABLE_TYPE"), "types");
        same(List.of(), column(data.getPrimaryKeys(null, null, "people"), "COLUMN_NAME"), "keys");
        same(List.of(), column(data.getImportedKeys(null, null, "people"), "FKCOLUMN_NAME"), "imported keys");
    }
}
