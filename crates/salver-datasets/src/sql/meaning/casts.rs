//! Casts to text of a length, and times in zones.

use datafusion::sql::sqlparser::ast::{CharacterLength, DataType, Expr};
use salver_model::Error;

use super::{expression, refused, take, texts};

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    match expr {
        Expr::Cast { data_type, .. } => {
            let length = match &data_type {
                DataType::Varchar(length)
                | DataType::CharacterVarying(length)
                | DataType::CharVarying(length)
                | DataType::Nvarchar(length) => length.map(|length| (length, false)),
                DataType::Char(length) | DataType::Character(length) => {
                    let one = CharacterLength::IntegerLength { length: 1, unit: None };
                    Some((length.unwrap_or(one), true))
                }
                DataType::JSON | DataType::JSONB => {
                    *data_type = DataType::Varchar(None);
                    return Ok(());
                }
                DataType::Uuid => {
                    *data_type = DataType::Varchar(None);
                    return texts::as_text(expr, "lower(__1)");
                }
                _ => None,
            };
            let Some((CharacterLength::IntegerLength { length, .. }, blank)) = length else { return Ok(()) };
            let Ok(length) = i32::try_from(length) else {
                return Err(refused(format!("a text of {length} characters is too long"), "cast to `text`"));
            };
            *data_type = DataType::Varchar(None);
            // Blanks that fill up count nowhere but where the text is shown.
            let words = if blank { format!("rtrim(left(__1, {length}))") } else { format!("left(__1, {length})") };
            texts::as_text(expr, &words)?;
        }
        Expr::AtTimeZone { timestamp, time_zone } => {
            let parts = vec![take(time_zone), take(timestamp)];
            *expr = expression("timezone(__1, __2)", parts)?;
        }
        _ => {}
    }
    Ok(())
}
