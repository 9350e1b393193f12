//! Frames by a distance from the value of a row: `range between 2 preceding and 2 following`. Near the limits of the
//! integer types their bounds overflow, and the engine extends the frame past the last row, nulls included. So the
//! bounds are computed as decimals, which don't overflow.

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::WindowFunctionParams;
use datafusion::logical_expr::{Expr, WindowFrame, WindowFrameBound, WindowFrameUnits, cast};

/// More rows than any table has.
const FAR_ROWS: u64 = 1 << 40;
const ROOMY: DataType = DataType::Decimal128(38, 0);

/// Returns the frame of a window by an integer distance, and its sort key as decimals; `None` for any other frame,
/// which is left as it is.
pub(super) fn roomy(
    params: &mut WindowFunctionParams,
    type_of: &dyn Fn(&Expr) -> Option<DataType>,
) -> Option<WindowFrame> {
    if let Some(frame) = unbounded(&params.window_frame) {
        return Some(frame);
    }
    let frame = &params.window_frame;
    let [key] = params.order_by.as_mut_slice() else { return None };
    if frame.units != WindowFrameUnits::Range || !type_of(&key.expr).is_some_and(|own| own.is_integer()) {
        return None;
    }
    let start = bound(&frame.start_bound)?;
    let end = bound(&frame.end_bound)?;
    if [&start, &end].iter().all(|bound| distance(bound).is_none_or(ScalarValue::is_null)) {
        return None;
    }
    key.expr = cast(std::mem::take(&mut key.expr), ROOMY);
    Some(WindowFrame::new_bounds(WindowFrameUnits::Range, start, end))
}

/// Returns an unbounded frame if the distance exceeds the number of rows.
fn unbounded(frame: &WindowFrame) -> Option<WindowFrame> {
    use WindowFrameBound::{Following, Preceding};
    if frame.units == WindowFrameUnits::Range {
        return None;
    }
    let is_far = |value: &ScalarValue| matches!(value, ScalarValue::UInt64(Some(rows)) if *rows > FAR_ROWS);
    let none = || ScalarValue::UInt64(None);
    let mut frame = frame.clone();
    let mut changed = false;
    if matches!(&frame.start_bound, Preceding(value) if is_far(value)) {
        (frame.start_bound, changed) = (Preceding(none()), true);
    }
    if matches!(&frame.end_bound, Following(value) if is_far(value)) {
        (frame.end_bound, changed) = (Following(none()), true);
    }
    // A frame that begins after all rows, or ends before them, is empty.
    let far = || ScalarValue::UInt64(Some(FAR_ROWS));
    if matches!(&frame.start_bound, Following(value) if is_far(value)) {
        (frame.start_bound, changed) = (Following(far()), true);
    }
    if matches!(&frame.end_bound, Preceding(value) if is_far(value)) {
        (frame.end_bound, changed) = (Preceding(far()), true);
    }
    changed.then(|| WindowFrame::new_bounds(frame.units, frame.start_bound, frame.end_bound))
}

fn distance(bound: &WindowFrameBound) -> Option<&ScalarValue> {
    match bound {
        WindowFrameBound::Preceding(value) | WindowFrameBound::Following(value) => Some(value),
        WindowFrameBound::CurrentRow => None,
    }
}

fn bound(bound: &WindowFrameBound) -> Option<WindowFrameBound> {
    let wide = |value: &ScalarValue| value.cast_to(&ROOMY).ok();
    Some(match bound {
        WindowFrameBound::Preceding(value) => WindowFrameBound::Preceding(wide(value)?),
        WindowFrameBound::Following(value) => WindowFrameBound::Following(wide(value)?),
        WindowFrameBound::CurrentRow => WindowFrameBound::CurrentRow,
    })
}
