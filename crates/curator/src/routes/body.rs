//! Reading a body: not too large, not too slowly.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};

use crate::app::Settings;
use crate::problem::{Code, Problem};

/// Reads a whole body within the settings' size and time.
pub(super) async fn read(
    settings: &Settings,
    headers: &HeaderMap,
    body: Body,
) -> Result<Bytes, Problem> {
    let most = settings.max_body;
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if announced.and_then(|text| text.parse::<u64>().ok()).is_some_and(|n| n > most as u64) {
        return Err(too_large(most));
    }
    match tokio::time::timeout(settings.body_timeout, collect(body, most)).await {
        Ok(read) => read,
        Err(_) => Err(too_slow(settings.body_timeout)),
    }
}

fn too_large(most: usize) -> Problem {
    Problem::new(Code::BodyTooLarge, format!("a body has at most {most} bytes: send less at once"))
}

fn too_slow(limit: Duration) -> Problem {
    Problem::new(Code::Timeout, format!("the body did not arrive within {} s", limit.as_secs_f64()))
}

async fn collect(mut body: Body, most: usize) -> Result<Bytes, Problem> {
    let mut whole = Bytes::new();
    let mut parts: Option<BytesMut> = None;
    let mut length = 0;
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let broken = |_| Problem::malformed("the body ended before it was complete");
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        length += data.len();
        if length > most {
            return Err(too_large(most));
        }
        // Most bodies come in one piece, which is used as it is.
        match &mut parts {
            Some(parts) => parts.extend_from_slice(&data),
            None if whole.is_empty() => whole = data,
            None => {
                let mut joined = BytesMut::from(&whole[..]);
                joined.extend_from_slice(&data);
                parts = Some(joined);
            }
        }
    }
    Ok(parts.map_or(whole, BytesMut::freeze))
}
