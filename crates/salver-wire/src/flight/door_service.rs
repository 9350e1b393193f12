//! The service as gRPC has it (`Flight.proto`): every method lets nobody in by itself, and only passes on what the door
//! answers.

use std::pin::Pin;

use arrow::ipc::writer::IpcWriteOptions;
use arrow_flight::flight_service_server::FlightService;
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo, HandshakeRequest, HandshakeResponse,
    PollInfo, PutResult, Result as ActionResult, SchemaAsIpc, SchemaResult, Ticket,
};
use futures::{Stream, stream};
use http::header::AUTHORIZATION;
use tonic::metadata::MetadataValue;
use tonic::{Request, Response, Status, Streaming};

use super::admission::admitted;
use super::door::{CLOSE, Door, PREPARE};
use super::outflow::portable;
use super::refusal::{not_offered, unwritable};
use super::row_body::{self, WholeMessages};

/// A stream of answers.
type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Returns answers that are there.
fn ready<T: Send + 'static>(answers: impl IntoIterator<Item = T, IntoIter: Send + 'static>) -> Response<Answers<T>> {
    let answers: Answers<T> = Box::pin(stream::iter(answers.into_iter().map(Ok)));
    Response::from(answers)
}

#[tonic::async_trait]
impl FlightService for Door {
    type HandshakeStream = Answers<HandshakeResponse>;
    type ListFlightsStream = Answers<FlightInfo>;
    type DoGetStream = WholeMessages;
    type DoPutStream = Answers<PutResult>;
    type DoActionStream = Answers<ActionResult>;
    type ListActionsStream = Answers<ActionType>;
    type DoExchangeStream = WholeMessages;

    async fn handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Self::HandshakeStream>, Status> {
        let token = self.log_in(&admitted(&request)?)?;
        let mut response = ready([]);
        let value = MetadataValue::try_from(format!("Bearer {token}"));
        let value = value.map_err(|_| Status::internal("a token can't be sent"))?;
        response.metadata_mut().insert(AUTHORIZATION.as_str(), value);
        Ok(response)
    }

    async fn list_flights(&self, request: Request<Criteria>) -> Result<Response<Self::ListFlightsStream>, Status> {
        Ok(ready(self.tables(&admitted(&request)?)?))
    }

    async fn get_flight_info(&self, request: Request<FlightDescriptor>) -> Result<Response<FlightInfo>, Status> {
        let admitted = admitted(&request)?;
        self.info(&admitted, request.into_inner()).await.map(Response::from)
    }

    async fn poll_flight_info(&self, _: Request<FlightDescriptor>) -> Result<Response<PollInfo>, Status> {
        Err(not_offered("polling is", "ask for the rows at once: they come as they are computed"))
    }

    async fn get_schema(&self, request: Request<FlightDescriptor>) -> Result<Response<SchemaResult>, Status> {
        let admitted = admitted(&request)?;
        let schema = self.schema(&admitted, request.into_inner()).await?;
        let (portable, options) = (portable(&schema), IpcWriteOptions::default());
        let written: SchemaResult =
            SchemaAsIpc::new(portable.schema(), &options).try_into().map_err(|cause| self.told(unwritable(cause)))?;
        Ok(Response::from(written))
    }

    async fn do_get(&self, request: Request<Ticket>) -> Result<Response<Self::DoGetStream>, Status> {
        let admitted = admitted(&request)?;
        self.rows(admitted, &request.into_inner()).await.map(row_body::leave)
    }

    async fn do_put(&self, request: Request<Streaming<FlightData>>) -> Result<Response<Self::DoPutStream>, Status> {
        let admitted = admitted(&request)?;
        let app_metadata = self.take(&admitted, request.into_inner()).await?;
        Ok(ready([PutResult { app_metadata }]))
    }

    async fn do_action(&self, request: Request<Action>) -> Result<Response<Self::DoActionStream>, Status> {
        let admitted = admitted(&request)?;
        let answered = self.act(&admitted, &request.into_inner()).await?;
        Ok(ready(answered.map(|body| ActionResult { body })))
    }

    async fn list_actions(&self, _: Request<Empty>) -> Result<Response<Self::ListActionsStream>, Status> {
        let action =
            |name: &str, description: &str| ActionType { r#type: name.to_owned(), description: description.to_owned() };
        Ok(ready([
            action(PREPARE, "Prepares a statement: takes an ActionCreatePreparedStatementRequest."),
            action(CLOSE, "Closes a prepared statement: takes an ActionClosePreparedStatementRequest."),
        ]))
    }

    async fn do_exchange(&self, _: Request<Streaming<FlightData>>) -> Result<Response<Self::DoExchangeStream>, Status> {
        Err(not_offered("exchanges are", "ask for rows by a statement"))
    }
}
