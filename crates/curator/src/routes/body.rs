//! Reading a body: not too large, not too slowly, and not more than there is room for.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use undertone_wire::{Code, Problem};

use crate::auth::Caller;
use crate::flight::{Hold, NoRoom};
use crate::service::AppState;

/// Reads a whole body within the settings' size and time. Its bytes count as held until the [`Hold`] is
/// dropped.
pub(super) async fn read(
    state: &AppState,
    caller: &Caller,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Bytes, Hold), Problem> {
    let settings = &state.app.settings;
    let most = match caller.is_known() {
        true => settings.max_body,
        false => settings.max_anonymous_body.min(settings.max_body),
    };
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let announced = announced.and_then(|text| text.parse::<u64>().ok());
    if announced.is_some_and(|length| length > most as u64) {
        return Err(too_large(most));
    }
    let expected = announced.map_or(most, |length| length as usize);
    let mut hold = state.hold(caller);
    let collecting = collect(body, most, expected, &mut hold);
    match tokio::time::timeout(settings.body_timeout, collecting).await {
        Ok(read) => Ok((read?, hold)),
        Err(_) => Err(too_slow(settings.body_timeout)),
    }
}

fn too_large(most: usize) -> Problem {
    let detail = format!("a body has at most {most} bytes: send fewer reports at once");
    Problem::new(Code::BodyTooLarge, detail)
}

fn too_slow(limit: Duration) -> Problem {
    Problem::new(Code::Timeout, format!("the body did not arrive within {} s", limit.as_secs_f64()))
}

impl From<NoRoom> for Problem {
    fn from(_: NoRoom) -> Self {
        let detail = "requests and answers under way hold all the memory they may: try again";
        Self::new(Code::Busy, detail).retry_after(2)
    }
}

/// A body in several pieces gets this much at first, unless it is shorter.
const FIRST: usize = 64 << 10;

async fn collect(
    mut body: Body,
    most: usize,
    expected: usize,
    hold: &mut Hold,
) -> Result<Bytes, Problem> {
    let mut whole = Bytes::new();
    let mut joined = BytesMut::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let broken = |_| Problem::malformed("the body ended before it was complete");
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        let length = whole.len() + joined.len() + data.len();
        if length > most {
            return Err(too_large(most));
        }
        // Most bodies come in one piece, which is used as it is.
        if length == data.len() {
            hold.grow_to(length)?;
            whole = data;
            continue;
        }
        if length > joined.capacity() {
            // Twice as much each time, but never more than was announced.
            let room = length.max((2 * joined.capacity()).max(FIRST).min(expected));
            hold.grow_to(room)?;
            let mut larger = BytesMut::with_capacity(room);
            larger.extend_from_slice(&whole);
            larger.extend_from_slice(&joined);
            (whole, joined) = (Bytes::new(), larger);
        }
        joined.extend_from_slice(&data);
    }
    Ok(if joined.is_empty() { whole } else { joined.freeze() })
}
