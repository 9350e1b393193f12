//! The ingestion service that the founding text describes, as it describes it: `POST /` takes one event, makes an id,
//! sends the event to Kafka under it, and answers the id. What is lost on the way is not told, as there.
//!
//! `founding-service PORT BROKER TOPIC durable|forget`

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::web::{self, Data, Json};
use actix_web::{App, HttpServer};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, FutureProducer, FutureRecord, ThreadedProducer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// What clients send.
#[derive(Deserialize, Serialize)]
struct Payload {
    client_id: String,
    name: String,
    data: HashMap<String, Value>,
}

/// The topic, in every handler.
struct Topic(String);

/// The producer that does not wait, as the text shares it.
type Shared = Arc<Mutex<ThreadedProducer<DefaultProducerContext>>>;

/// Waits for the broker, and takes no notice of what it says.
async fn durable(
    event: Json<Payload>,
    producer: Data<FutureProducer>,
    topic: Data<Topic>,
) -> actix_web::Result<String> {
    let id = Uuid::new_v4().to_string();
    let text = serde_json::to_string(&event.0)?;
    let record = FutureRecord::to(&topic.0).key(&id).payload(&text);
    let _ = producer.send(record, Duration::from_secs(0)).await;
    Ok(id)
}

/// Hands the event to the producer's queue, and takes no notice of whether it had room.
async fn forget(event: Json<Payload>, producer: Data<Shared>, topic: Data<Topic>) -> actix_web::Result<String> {
    let id = Uuid::new_v4().to_string();
    let text = serde_json::to_string(&event.0)?;
    let producer = producer.lock().map_err(|_| actix_web::error::ErrorInternalServerError("poisoned"))?;
    let _ = producer.send(BaseRecord::to(&topic.0).key(&id).payload(&text));
    Ok(id)
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [port, broker, topic, mode] = arguments.as_slice() else {
        return Err("founding-service PORT BROKER TOPIC durable|forget".into());
    };
    let listen = ("127.0.0.1", port.parse::<u16>()?);
    let topic = Data::new(Topic(topic.clone()));
    let mut settings = ClientConfig::new();
    settings.set("bootstrap.servers", broker).set("message.timeout.ms", "2000");
    match mode.as_str() {
        "durable" => {
            let producer = Data::new(settings.create::<FutureProducer>()?);
            let app = move || {
                App::new().app_data(producer.clone()).app_data(topic.clone()).route("/", web::post().to(durable))
            };
            HttpServer::new(app).bind(listen)?.run().await?;
        }
        "forget" => {
            let producer: Data<Shared> = Data::new(Arc::new(Mutex::new(settings.create()?)));
            let app = move || {
                App::new().app_data(producer.clone()).app_data(topic.clone()).route("/", web::post().to(forget))
            };
            HttpServer::new(app).bind(listen)?.run().await?;
        }
        other => return Err(format!("there is no mode `{other}`").into()),
    }
    Ok(())
}
