//! Plans as bytes: what Ballista has a form for, our functions, and the one operator of ours that may cross.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::Result;
use datafusion::common::internal_err;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF, WindowUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use crate::engine::{FunctionWire, is_unfixed, unfixed};

/// What stands for the operator that reports no constants. No message of Ballista begins so.
const UNFIXED: &[u8] = b"\xffsalver unfixed";

/// The codec of all processes of a cluster.
#[derive(Debug)]
pub(super) struct PlanCodec {
    operators: BallistaPhysicalExtensionCodec,
    functions: Arc<FunctionWire>,
}

impl PlanCodec {
    /// Returns the codec for plans with these functions.
    pub(super) fn new(functions: Arc<FunctionWire>) -> Self {
        Self { operators: BallistaPhysicalExtensionCodec::default(), functions }
    }
}

impl PhysicalExtensionCodec for PlanCodec {
    fn try_decode(
        &self,
        said: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if said != UNFIXED {
            return self.operators.try_decode(said, inputs, context, converter);
        }
        match inputs {
            [input] => Ok(unfixed(Arc::clone(input))),
            _ => internal_err!("an operator that passes rows on has one input"),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        out: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        if is_unfixed(node.as_ref()) {
            out.extend(UNFIXED);
            return Ok(());
        }
        self.operators.try_encode(node, out, converter)
    }

    fn try_decode_udf(&self, name: &str, said: &[u8]) -> Result<Arc<ScalarUDF>> {
        self.functions.decode(name, said)
    }

    fn try_encode_udf(&self, function: &ScalarUDF, out: &mut Vec<u8>) -> Result<()> {
        self.functions.encode(function, out)
    }

    fn try_decode_udaf(&self, name: &str, said: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.functions.decode_aggregate(name, said)
    }

    fn try_encode_udaf(&self, function: &AggregateUDF, out: &mut Vec<u8>) -> Result<()> {
        self.functions.encode_aggregate(function, out)
    }

    fn try_encode_udwf(&self, function: &WindowUDF, _: &mut Vec<u8>) -> Result<()> {
        self.functions.check_window(function)
    }
}
