//! The gateway's answers about jobs, channels, devices and what happens.

use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::channel_admin_server::ChannelAdmin;
use openclaw_proto::wire::gateway::device_admin_server::DeviceAdmin;
use openclaw_proto::wire::gateway::events_server::Events;
use openclaw_proto::wire::gateway::schedule_server::Schedule;
use openclaw_proto::wire::run;
use serde_json::json;
use tonic::Request;

use super::{Answer, Answers, HOSTILE, Hostile, all, answer, hostile, refusal};

fn job() -> wire::Job {
    let place = json!({
        "mode": "announce", "channel": HOSTILE, "to": HOSTILE, "accountId": HOSTILE,
    });
    let fields = json!({
        "id": HOSTILE, "name": HOSTILE, "description": HOSTILE, "problem": HOSTILE,
        "schedule": {"kind": "cron", "expr": HOSTILE, "tz": HOSTILE},
        "payload": {
            "kind": "agentTurn", "message": HOSTILE, "text": HOSTILE, "model": HOSTILE,
            "argv": [HOSTILE], "cwd": HOSTILE, "env": {HOSTILE: HOSTILE}, "thinking": HOSTILE,
        },
        "delivery": place, "failureAlert": place, "sessionTarget": HOSTILE, "sessionKey": HOSTILE,
        "madeBy": {"agentId": HOSTILE, "sessionKey": HOSTILE},
        "state": {"lastRunStatus": HOSTILE, "lastRunAtMs": 1, "lastError": HOSTILE},
        HOSTILE: {HOSTILE: HOSTILE},
    });
    wire::Job {
        id: hostile(),
        name: hostile(),
        is_enabled: true,
        fields: fields.to_string(),
        next_ms: 1,
        is_running: false,
    }
}

#[tonic::async_trait]
impl Schedule for Hostile {
    async fn list_jobs(&self, _: Request<wire::ListJobsRequest>) -> Answer<wire::ListJobsResponse> {
        answer(wire::ListJobsResponse {
            jobs: vec![job()],
            is_on: false,
        })
    }

    async fn add_job(&self, _: Request<wire::AddJobRequest>) -> Answer<wire::AddJobResponse> {
        answer(wire::AddJobResponse { job: Some(job()) })
    }

    async fn change_job(
        &self,
        _: Request<wire::ChangeJobRequest>,
    ) -> Answer<wire::ChangeJobResponse> {
        answer(wire::ChangeJobResponse { job: Some(job()) })
    }

    async fn remove_job(
        &self,
        _: Request<wire::RemoveJobRequest>,
    ) -> Answer<wire::RemoveJobResponse> {
        refusal()
    }

    async fn run_job(&self, _: Request<wire::RunJobRequest>) -> Answer<wire::RunJobResponse> {
        answer(wire::RunJobResponse { run_id: hostile() })
    }

    async fn list_job_runs(
        &self,
        _: Request<wire::ListJobRunsRequest>,
    ) -> Answer<wire::ListJobRunsResponse> {
        let run = |state: &str| wire::JobRun {
            run_id: hostile(),
            job_id: hostile(),
            planned_ms: 1,
            cause: hostile(),
            state: state.to_owned(),
            started_ms: 1,
            ended_ms: 2,
            summary: hostile(),
            reason: hostile(),
            job_name: hostile(),
            ..wire::JobRun::default()
        };
        answer(wire::ListJobRunsResponse {
            runs: vec![run("failed"), run("delivered"), run(HOSTILE)],
        })
    }

    async fn wake_schedule(
        &self,
        _: Request<wire::WakeScheduleRequest>,
    ) -> Answer<wire::WakeScheduleResponse> {
        refusal()
    }

    async fn remove_made_jobs(
        &self,
        _: Request<wire::RemoveMadeJobsRequest>,
    ) -> Answer<wire::RemoveMadeJobsResponse> {
        answer(wire::RemoveMadeJobsResponse { removed: 1 })
    }

    async fn call_tool(&self, _: Request<wire::CallToolRequest>) -> Answer<wire::CallToolResponse> {
        refusal()
    }
}

fn request() -> wire::PairingRequest {
    wire::PairingRequest {
        channel: hostile(),
        account: hostile(),
        peer: hostile(),
        code: hostile(),
        name: hostile(),
        created_ms: 1,
    }
}

fn peer() -> wire::PairedPeer {
    wire::PairedPeer {
        channel: hostile(),
        account: hostile(),
        peer: hostile(),
        name: hostile(),
        is_owner: true,
        approved_ms: 1,
    }
}

#[tonic::async_trait]
impl ChannelAdmin for Hostile {
    async fn list_channels(
        &self,
        _: Request<wire::ListChannelsRequest>,
    ) -> Answer<wire::ListChannelsResponse> {
        let account = |attended_since_ms: i64, channel: &str| wire::ChannelAccount {
            channel: channel.to_owned(),
            account: hostile(),
            is_default: true,
            is_enabled: true,
            attended_since_ms,
            state: hostile(),
            identity: hostile(),
            last_contact_ms: 1,
            last_error: hostile(),
            last_error_ms: 2,
            backlog: 3,
            notes: vec![hostile()],
            missing_token: hostile(),
            unanswered_groups: vec![hostile()],
            waiting_until_ms: 1,
        };
        answer(wire::ListChannelsResponse {
            accounts: vec![
                account(1, HOSTILE),
                account(0, HOSTILE),
                account(1, "telegram"),
            ],
        })
    }

    async fn list_pairings(
        &self,
        _: Request<wire::ListPairingsRequest>,
    ) -> Answer<wire::ListPairingsResponse> {
        answer(wire::ListPairingsResponse {
            requests: vec![request()],
            peers: vec![peer()],
        })
    }

    async fn decide_pairing(
        &self,
        _: Request<wire::DecidePairingRequest>,
    ) -> Answer<wire::DecidePairingResponse> {
        answer(wire::DecidePairingResponse {
            request: Some(request()),
            is_owner: true,
        })
    }

    async fn revoke_pairing(
        &self,
        _: Request<wire::RevokePairingRequest>,
    ) -> Answer<wire::RevokePairingResponse> {
        answer(wire::RevokePairingResponse {
            peer: Some(peer()),
            keys: vec![hostile()],
        })
    }

    async fn send_text(&self, _: Request<wire::SendTextRequest>) -> Answer<wire::SendTextResponse> {
        answer(wire::SendTextResponse {
            is_attended: true,
            state: "failed".to_owned(),
            reason: hostile(),
            provider_ids: vec![hostile()],
        })
    }
}

fn pending() -> wire::PendingDevice {
    wire::PendingDevice {
        request_id: hostile(),
        device_id: hostile(),
        role: hostile(),
        scopes: vec![hostile()],
        name: hostile(),
        platform: hostile(),
        address: hostile(),
        created_ms: 1,
    }
}

#[tonic::async_trait]
impl DeviceAdmin for Hostile {
    async fn list_devices(
        &self,
        _: Request<wire::ListDevicesRequest>,
    ) -> Answer<wire::ListDevicesResponse> {
        answer(wire::ListDevicesResponse {
            pending: vec![pending()],
            paired: vec![wire::PairedDevice {
                device_id: hostile(),
                name: hostile(),
                platform: hostile(),
                address: hostile(),
                approved_ms: 1,
                roles: vec![wire::DeviceRole {
                    role: hostile(),
                    scopes: vec![hostile()],
                    revoked_ms: 1,
                    last_used_ms: 1,
                }],
            }],
        })
    }

    async fn decide_device(
        &self,
        _: Request<wire::DecideDeviceRequest>,
    ) -> Answer<wire::DecideDeviceResponse> {
        answer(wire::DecideDeviceResponse {
            request: Some(pending()),
        })
    }

    async fn revoke_device(
        &self,
        _: Request<wire::RevokeDeviceRequest>,
    ) -> Answer<wire::RevokeDeviceResponse> {
        refusal()
    }
}

#[tonic::async_trait]
impl Events for Hostile {
    type SubscribeStream = Answers<wire::SubscribeResponse>;

    async fn subscribe(&self, _: Request<wire::SubscribeRequest>) -> Answer<Self::SubscribeStream> {
        use wire::session_event::Kind;
        use wire::subscribe_response::Kind as Told;
        let kinds = [
            Kind::MessageAccepted(wire::MessageAccepted {
                entry_id: hostile(),
                session_id: hostile(),
                channel: hostile(),
                route: None,
            }),
            Kind::RunStarted(wire::RunStarted {}),
            Kind::EntryAppended(wire::EntryAppended {
                entry_id: hostile(),
                role: hostile(),
                tool: hostile(),
                call_id: hostile(),
                success: false,
            }),
            Kind::RunEnded(wire::RunEnded {
                state: hostile(),
                reason: hostile(),
                code: hostile(),
                provider: hostile(),
                model: hostile(),
                backend: hostile(),
                ..wire::RunEnded::default()
            }),
            Kind::ApprovalAsked(wire::ApprovalAsked {
                id: hostile(),
                tool: hostile(),
                command: hostile(),
                expires_ms: 1,
            }),
            Kind::ApprovalDecided(wire::ApprovalDecided {
                id: hostile(),
                decision: "deny".to_owned(),
                by: hostile(),
            }),
            Kind::SessionChanged(wire::SessionChanged {
                change: hostile(),
                reason: hostile(),
            }),
            Kind::SystemEvent(wire::SystemEvent { text: hostile() }),
            Kind::Announcement(wire::Announcement {
                entry_id: hostile(),
            }),
        ];
        let event = |(sequence, kind)| {
            Told::Event(wire::SessionEvent {
                sequence,
                at_ms: 1,
                agent_id: hostile(),
                session_key: hostile(),
                run_id: hostile(),
                kind: Some(kind),
            })
        };
        let opened = Told::Opened(wire::Opened {
            epoch: hostile(),
            sequence: 0,
        });
        let gap = Told::Gap(wire::Gap {
            after_sequence: 0,
            through_sequence: 1,
            reason: hostile(),
        });
        let live = Told::Live(wire::Live {
            sequence: 20,
            session_key: hostile(),
            agent_id: hostile(),
            event: Some(run::Event {
                run_id: hostile(),
                seq: 1,
                at_ms: 1,
                kind: Some(run::event::Kind::Note(run::Note { text: hostile() })),
            }),
        });
        let told = [opened, gap].into_iter();
        let told = told.chain((1..).zip(kinds).map(event)).chain([live]);
        let told = told.map(|kind| wire::SubscribeResponse { kind: Some(kind) });
        all(told.collect())
    }
}
