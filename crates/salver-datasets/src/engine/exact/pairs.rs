//! Statistics of pairs of floats over windows with a moving start, computed anew for each window.
//!
//! The formulas are those of `float8_regr_*` in PostgreSQL's `float.c`, over the deviations from the means.

use std::collections::VecDeque;
use std::mem::size_of;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Float64Type;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::Accumulator;

/// Statistic of the pairs `(y, x)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Regression {
    Covariance { sample: bool },
    Correlation,
    Slope,
    Intercept,
    Determination,
    MeanX,
    MeanY,
    SquaresX,
    SquaresY,
    Products,
}

impl Regression {
    /// Returns the statistic of an aggregate's name.
    pub(super) fn by(name: &str) -> Option<Self> {
        Some(match name {
            "covar" | "covar_samp" => Self::Covariance { sample: true },
            "covar_pop" => Self::Covariance { sample: false },
            "corr" => Self::Correlation,
            "regr_slope" => Self::Slope,
            "regr_intercept" => Self::Intercept,
            "regr_r2" => Self::Determination,
            "regr_avgx" => Self::MeanX,
            "regr_avgy" => Self::MeanY,
            "regr_sxx" => Self::SquaresX,
            "regr_syy" => Self::SquaresY,
            "regr_sxy" => Self::Products,
            _ => return None,
        })
    }

    fn of(self, pairs: &VecDeque<(f64, f64)>) -> Option<f64> {
        if pairs.is_empty() {
            return None;
        }
        let count = pairs.len() as f64;
        let mean_y = pairs.iter().map(|(y, _)| y).sum::<f64>() / count;
        let mean_x = pairs.iter().map(|(_, x)| x).sum::<f64>() / count;
        let sum = |of: fn(f64, f64) -> f64| pairs.iter().map(|(y, x)| of(y - mean_y, x - mean_x)).sum::<f64>();
        let (syy, sxx, sxy) = (|| sum(|y, _| y * y), || sum(|_, x| x * x), || sum(|y, x| y * x));
        let nonzero = |value: f64| Some(value).filter(|value| *value != 0.0);
        match self {
            Self::Covariance { sample: true } => (count > 1.0).then(|| sxy() / (count - 1.0)),
            Self::Covariance { sample: false } => Some(sxy() / count),
            Self::Correlation => Some(sxy() / (nonzero(sxx())? * nonzero(syy())?).sqrt()),
            Self::Slope => Some(sxy() / nonzero(sxx())?),
            Self::Intercept => Some(mean_y - mean_x * (sxy() / nonzero(sxx())?)),
            Self::Determination => {
                let across = nonzero(sxx())?;
                Some(nonzero(syy()).map_or(1.0, |along| sxy() * sxy() / (across * along)))
            }
            Self::MeanX => Some(mean_x),
            Self::MeanY => Some(mean_y),
            Self::SquaresX => Some(sxx()),
            Self::SquaresY => Some(syy()),
            Self::Products => Some(sxy()),
        }
    }
}

/// The pairs of a window of which neither is null.
#[derive(Debug)]
pub(super) struct Pairs {
    regression: Regression,
    pairs: VecDeque<(f64, f64)>,
}

impl Pairs {
    pub(super) fn new(regression: Regression) -> Self {
        Self { regression, pairs: VecDeque::new() }
    }
}

fn known(values: &[ArrayRef]) -> Result<impl Iterator<Item = (f64, f64)> + '_> {
    let [y, x] = values else { return internal_err!("floats are aggregated in pairs") };
    let (y, x) = (y.as_primitive::<Float64Type>(), x.as_primitive::<Float64Type>());
    Ok(y.iter().zip(x.iter()).filter_map(|(y, x)| Some((y?, x?))))
}

impl Accumulator for Pairs {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.pairs.extend(known(values)?);
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for _ in known(values)? {
            self.pairs.pop_front();
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("windows are not merged")
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("windows are not merged")
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.regression.of(&self.pairs)))
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.pairs.capacity() * size_of::<(f64, f64)>()
    }
}
