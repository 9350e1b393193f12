//! Compressed bodies, whole and in chunks, read back by their decoders.

use std::io::Read;

use salver_formats::{Coding, Compressor};

const ALL: [Coding; 4] = [Coding::Identity, Coding::Gzip, Coding::Brotli, Coding::Zstd];

fn decoder(coding: Coding, bytes: &[u8]) -> Box<dyn Read + '_> {
    match coding {
        Coding::Identity => Box::new(bytes),
        Coding::Gzip => Box::new(flate2::read::GzDecoder::new(bytes)),
        Coding::Brotli => Box::new(brotli::Decompressor::new(bytes, 4096)),
        Coding::Zstd => Box::new(zstd::stream::read::Decoder::new(bytes).unwrap()),
    }
}

fn decode(coding: Coding, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    decoder(coding, bytes).read_to_end(&mut out).unwrap();
    out
}

fn body() -> Vec<u8> {
    (0..20_000_u32).flat_map(|i| format!("{{\"id\":{i},\"color\":\"{}\"}},", i * 7_919 % 13).into_bytes()).collect()
}

#[test]
fn whole_bodies() {
    for coding in ALL {
        for body in [Vec::new(), b"x".to_vec(), body()] {
            assert_eq!(decode(coding, &coding.compress(&body).unwrap()), body, "{coding:?}");
        }
        assert!(coding == Coding::Identity || coding.compress(&body()).unwrap().len() < body().len() / 3, "{coding:?}");
    }
}

#[test]
fn chunks_and_flushes() {
    for coding in ALL {
        let body = body();
        let mut compressor = Compressor::new(coding).unwrap();
        let mut out = Vec::new();
        for (i, chunk) in body.chunks(7_001).enumerate() {
            out.extend(compressor.write(chunk, i % 3 == 0).unwrap());
        }
        out.extend(compressor.write(b"", false).unwrap());
        out.extend(compressor.finish().unwrap());
        assert_eq!(decode(coding, &out), body, "{coding:?}");
    }
}

/// What was flushed can be read before the body ends.
#[test]
fn a_flush_delivers() {
    for coding in ALL {
        let mut compressor = Compressor::new(coding).unwrap();
        let sent = compressor.write(b"the first rows", true).unwrap();
        let mut read = vec![0; 14];
        decoder(coding, &sent).read_exact(&mut read).unwrap();
        assert_eq!(read, b"the first rows", "{coding:?}");
    }
}

/// Bytes that don't get smaller, and chunks of every small size with flushes between: the encoders' edges.
#[test]
fn noise_in_small_chunks() {
    let mut state = 3_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    })
    .take(200_000)
    .collect();
    for coding in ALL {
        let mut compressor = Compressor::new(coding).unwrap();
        let mut out = Vec::new();
        let mut rest = noise.as_slice();
        for size in (0..4_000).map(|i| i % 101) {
            let (chunk, after) = rest.split_at(size.min(rest.len()));
            out.extend(compressor.write(chunk, size % 7 == 0).unwrap());
            rest = after;
        }
        out.extend(compressor.write(rest, false).unwrap());
        out.extend(compressor.finish().unwrap());
        assert_eq!(decode(coding, &out), noise, "{coding:?}");
    }
}
