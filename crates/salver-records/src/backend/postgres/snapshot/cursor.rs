//! Reads rows without an identity, like those of a view, through a cursor, so that the select runs once and its result
//! waits for the reader.

use std::pin::pin;

use futures::TryStreamExt;
use salver_model::Result;
use tokio::sync::mpsc::Sender;

use super::super::bind::Wire;
use super::super::connection::Connection;
use super::super::decode::{cells, forms, recycle};
use super::super::sqlstate::Fault;
use crate::backend::snapshot_permits::Queue;
use crate::cell::RowSink;
use crate::statement::Read;

/// Rows per fetch: those that are left of it are received also when nobody reads them any more.
const ROWS: usize = 1024;

/// Sends rows as they arrive; returns whether all of them were sent.
pub(super) async fn sent<S: RowSink>(
    connection: &Connection,
    read: &Read,
    sink: &mut S,
    (out, queue): (&Sender<S::Piece>, &Queue),
) -> Result<bool, Fault> {
    let client = &connection.client;
    let declare = format!("DECLARE rows_held NO SCROLL CURSOR FOR {}", read.sql);
    connection.within(client.batch_execute(&declare)).await?;
    let fetch = format!("FETCH FORWARD {ROWS} FROM rows_held");
    let fetch = connection.within(client.prepare(&fetch)).await?;
    let forms = forms(&fetch, &read.kinds)?;
    let (mut spare, mut turn_pieces, mut wanted) = (Vec::new(), 0, true);
    let mut taken: Result<()> = Ok(());
    loop {
        let asked = client.query_raw(&fetch, std::iter::empty::<Wire<'_>>());
        let mut rows = pin!(connection.within(asked).await?);
        let mut came = 0;
        while let Some(row) = connection.within(rows.try_next()).await? {
            came += 1;
            if !wanted || taken.is_err() {
                continue;
            }
            let mut values = recycle(std::mem::take(&mut spare));
            taken = cells(&row, &forms, &mut values).and_then(|()| sink.row(0, &values));
            spare = recycle(values);
            if taken.is_err() || !sink.full() {
                continue;
            }
            match Queue::place([queue], out, &mut turn_pieces).await {
                Some(place) => {
                    if let Some(piece) = sink.piece() {
                        place.send(piece);
                    }
                }
                None => wanted = false,
            }
        }
        taken?;
        taken = Ok(());
        if came < ROWS || !wanted {
            connection.within(client.batch_execute("CLOSE rows_held")).await?;
            return Ok(wanted);
        }
    }
}
