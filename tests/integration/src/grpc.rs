//! Health and reflection, as any gRPC client asks for them.

use std::path::PathBuf;

use openclaw_proto::address;
use tokio_stream::StreamExt as _;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use tonic_reflection::pb::v1alpha;

use crate::within;

/// The health of `service` behind `socket`.
pub async fn health(socket: PathBuf, service: &str) -> ServingStatus {
    let mut client = HealthClient::new(address::channel(socket));
    let answer = within("a health check", client.check(asked(service))).await;
    answer.expect("a health check").into_inner().status()
}

/// Waits until the daemon behind `socket` says that it does not serve any
/// more, which is when it has begun to drain.
pub async fn draining(socket: PathBuf) {
    let mut client = HealthClient::new(address::channel(socket));
    let answer = within("a health watch", client.watch(asked(""))).await;
    let mut news = answer.expect("a health watch").into_inner();
    within("the daemon drains", async {
        while let Some(Ok(state)) = news.next().await {
            if state.status() == ServingStatus::NotServing {
                return;
            }
        }
        panic!("the daemon ended before it said that it drains");
    })
    .await;
}

/// The services that the daemon behind `socket` has, by reflection.
pub async fn services(socket: PathBuf) -> Vec<String> {
    let mut client = ServerReflectionClient::new(address::channel(socket));
    let question = ServerReflectionRequest {
        message_request: Some(MessageRequest::ListServices(String::new())),
        ..ServerReflectionRequest::default()
    };
    let answer = client.server_reflection_info(tokio_stream::once(question));
    let answer = within("reflection", answer).await.expect("reflection");
    let first = within("reflection", answer.into_inner().next()).await;
    let first = first.expect("an answer").expect("an answer without error");
    match first.message_response {
        Some(MessageResponse::ListServicesResponse(list)) => list
            .service
            .into_iter()
            .map(|service| service.name)
            .collect(),
        other => panic!("not a list of services: {other:?}"),
    }
}

/// Whether the daemon behind `socket` tells older clients where `service` is
/// described.
pub async fn is_described(socket: PathBuf, service: &str) -> bool {
    use v1alpha::server_reflection_request::MessageRequest;
    use v1alpha::server_reflection_response::MessageResponse;
    let channel = address::channel(socket);
    let mut client = v1alpha::server_reflection_client::ServerReflectionClient::new(channel);
    let question = v1alpha::ServerReflectionRequest {
        message_request: Some(MessageRequest::FileContainingSymbol(service.to_owned())),
        ..v1alpha::ServerReflectionRequest::default()
    };
    let answer = client.server_reflection_info(tokio_stream::once(question));
    let answer = within("reflection", answer).await.expect("reflection");
    let first = within("reflection", answer.into_inner().next()).await;
    let first = first.expect("an answer").expect("an answer without error");
    matches!(
        first.message_response,
        Some(MessageResponse::FileDescriptorResponse(_))
    )
}

fn asked(service: &str) -> HealthCheckRequest {
    HealthCheckRequest {
        service: service.to_owned(),
    }
}
