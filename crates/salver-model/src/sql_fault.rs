//! What is wrong with a statement, more exactly than the code of its error says. Codes are for people and for HTTP;
//! clients of SQL have a number for each of these (`SQLSTATE`), by which programs decide what to do.

/// What is wrong with a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlFault {
    /// There is no table of that name.
    UnknownTable,
    /// There is no column of that name.
    UnknownColumn,
    /// There is no function, or no operator, of that name that takes such values.
    UnknownFunction,
    /// There is no type, or no window, of that name.
    UnknownObject,
    /// Several columns have that name.
    AmbiguousColumn,
    /// Two tables of a query have the same name.
    DuplicateAlias,
    /// A number of a column, or a list of names, does not fit the columns that there are.
    InvalidReference,
    /// A column is neither grouped nor aggregated, or an aggregate stands where none can be.
    Grouping,
    /// A window function stands where none can be, or without its window.
    Window,
    /// A value has another type than it must have.
    TypeMismatch,
    /// A number is out of the range of its type.
    OutOfRange,
    /// A text is no value of the type that it is cast to.
    InvalidText,
    /// A text is no date or time.
    InvalidTime,
    /// A date or time is none of the calendar, or out of the range of its type.
    TimeOutOfRange,
    /// A number is divided by zero.
    DivisionByZero,
    /// A limit is negative.
    NegativeLimit,
    /// An offset is negative.
    NegativeOffset,
    /// A subquery that stands for one value has several rows.
    ManyRows,
    /// An argument is none that the function takes.
    InvalidArgument,
    /// A statement has a parameter of which no value is sent.
    UnknownParameter,
    /// A part of a text is asked for that can't be: from before its begin, or of less than no characters.
    InvalidSubstring,
    /// A power or a root has no value for such a number.
    InvalidPower,
    /// A pattern ends with the character that takes away the meaning of the next.
    InvalidEscape,
    /// A pattern is no regular expression.
    InvalidPattern,
    /// The statement asks for what there is not.
    Unsupported,
}
