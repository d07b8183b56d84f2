//! The body of a request.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::GzEncoder;

use super::options::{Compression, OtlpProtocol};
use super::reply::GRPC_HEAD_BYTES;

/// Makes the body of a message: compressed and, for gRPC, framed.
pub(super) fn pack(message: &[u8], protocol: OtlpProtocol, compression: Compression) -> io::Result<Bytes> {
    let head = match protocol {
        OtlpProtocol::Grpc => GRPC_HEAD_BYTES,
        OtlpProtocol::Http => 0,
    };
    let mut body =
        Vec::with_capacity(head + message.len() / if compression == Compression::None { 1 } else { 8 });
    body.resize(head, 0);
    match compression {
        Compression::None => body.extend_from_slice(message),
        Compression::Gzip => {
            let mut encoder = GzEncoder::new(&mut body, flate2::Compression::new(1));
            encoder.write_all(message)?;
            encoder.finish()?;
        }
        Compression::Zstd => {
            let mut encoder = zstd::Encoder::new(&mut body, 1)?;
            encoder.set_pledged_src_size(Some(message.len() as u64))?;
            encoder.write_all(message)?;
            encoder.finish()?;
        }
    }
    if protocol == OtlpProtocol::Grpc {
        let length = u32::try_from(body.len() - head).map_err(io::Error::other)?;
        body[0] = u8::from(compression != Compression::None);
        body[1..GRPC_HEAD_BYTES].copy_from_slice(&length.to_be_bytes());
    }
    Ok(Bytes::from(body))
}
