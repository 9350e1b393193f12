//! Brotli compression that drives the encoder's state directly: the crate's own writer swallows an error at the end of
//! the stream, and a truncated stream must never pass for a complete one.

use brotli::enc::StandardAlloc;
use brotli::enc::encode::{BrotliEncoderOperation, BrotliEncoderParameter, BrotliEncoderStateStruct};
use salver_model::Result;

use super::broken;

const LEVEL: u32 = 4;
const WINDOW_BITS: u32 = 22;
/// Compressed bytes taken from the encoder at a time.
const STEP_BYTES: usize = 16 * 1024;

/// One Brotli stream.
pub(super) struct BrotliStage {
    state: Box<BrotliEncoderStateStruct<StandardAlloc>>,
}

impl BrotliStage {
    /// Starts a stream.
    pub(super) fn new() -> Self {
        let mut state = Box::new(BrotliEncoderStateStruct::new(StandardAlloc::default()));
        state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_QUALITY, LEVEL);
        state.set_parameter(BrotliEncoderParameter::BROTLI_PARAM_LGWIN, WINDOW_BITS);
        Self { state }
    }

    /// Compresses `chunk`, and appends the bytes that are ready to `out`; with `flush`, all of them.
    pub(super) fn write(&mut self, chunk: &[u8], flush: bool, out: &mut Vec<u8>) -> Result<()> {
        let operation = if flush {
            BrotliEncoderOperation::BROTLI_OPERATION_FLUSH
        } else {
            BrotliEncoderOperation::BROTLI_OPERATION_PROCESS
        };
        self.drive(operation, chunk, out)
    }

    /// Appends the rest of the stream.
    pub(super) fn finish(mut self, out: &mut Vec<u8>) -> Result<()> {
        self.drive(BrotliEncoderOperation::BROTLI_OPERATION_FINISH, &[], out)?;
        if self.state.is_finished() { Ok(()) } else { Err(broken("br", "the stream did not end")) }
    }

    fn drive(&mut self, operation: BrotliEncoderOperation, chunk: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let mut left = chunk.len();
        let mut taken = 0;
        loop {
            let start = out.len();
            out.resize(start + STEP_BYTES, 0);
            let mut room = STEP_BYTES;
            let mut made = 0;
            let went_well = self.state.compress_stream(
                operation,
                &mut left,
                chunk,
                &mut taken,
                &mut room,
                &mut out[start..],
                &mut made,
                &mut None,
                &mut |_, _, _, _| (),
            );
            out.truncate(start + made);
            if !went_well {
                return Err(broken("br", "the encoder refused its input"));
            }
            if left == 0 && !self.state.has_more_output() {
                return Ok(());
            }
        }
    }
}
