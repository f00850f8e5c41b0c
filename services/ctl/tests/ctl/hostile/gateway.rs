//! The gateway's answers about messages, turns and approvals.

use openclaw_proto::wire::gateway as wire;
use openclaw_proto::wire::gateway::gateway_server::Gateway;
use openclaw_proto::wire::{memory, run, runner};
use tonic::{Request, Status};

use super::{Answer, Answers, FAILING, HOSTILE, Hostile, all, answer, hostile, refusal};

fn event(seq: u64, kind: run::event::Kind) -> run::Event {
    run::Event {
        run_id: hostile(),
        seq,
        at_ms: 1,
        kind: Some(kind),
    }
}

/// A run that says everything a run can say; it ends well unless it `fails`.
fn events(fails: bool) -> Vec<run::Event> {
    use run::event::Kind;
    let error = run::ToolFailure {
        tool: hostile(),
        r#type: hostile(),
        message: hostile(),
    };
    let result = |error| {
        Kind::ToolResult(run::ToolResult {
            call_id: hostile(),
            success: false,
            output: hostile(),
            error,
        })
    };
    let end = if fails {
        Kind::Failed(run::Failed {
            code: "auth".to_owned(),
            message: hostile(),
            ..run::Failed::default()
        })
    } else {
        Kind::Done(run::Done {
            stop_reason: hostile(),
            model: hostile(),
            ..run::Done::default()
        })
    };
    let kinds = [
        Kind::TextDelta(run::TextDelta { text: hostile() }),
        Kind::ToolCall(run::ToolCall {
            id: hostile(),
            name: hostile(),
            arguments_json: serde_json::json!({ HOSTILE: HOSTILE }).to_string(),
        }),
        Kind::ToolOutput(run::ToolOutput {
            call_id: hostile(),
            text: hostile(),
        }),
        result(Some(error)),
        result(None),
        Kind::Note(run::Note { text: hostile() }),
        Kind::ApprovalRequested(run::ApprovalRequested {
            id: hostile(),
            tool: hostile(),
            command: hostile(),
            cwd: hostile(),
            reason: hostile(),
            form: "line".to_owned(),
            only_once: hostile(),
            terms: Some(terms()),
            ..run::ApprovalRequested::default()
        }),
        Kind::ApprovalResolved(run::ApprovalResolved {
            id: hostile(),
            decision: "deny".to_owned(),
            by: hostile(),
        }),
        end,
    ];
    (1..)
        .zip(kinds)
        .map(|(seq, kind)| event(seq, kind))
        .collect()
}

fn approval(decision: &str) -> wire::Approval {
    wire::Approval {
        id: hostile(),
        run_id: hostile(),
        session_key: hostile(),
        agent_id: hostile(),
        tool: hostile(),
        command: hostile(),
        cwd: hostile(),
        reason: hostile(),
        decision: decision.to_owned(),
        by: hostile(),
        only_once: hostile(),
        terms: Some(terms()),
        ..wire::Approval::default()
    }
}

fn terms() -> run::Terms {
    run::Terms {
        level: hostile(),
        network: hostile(),
        ..run::Terms::default()
    }
}

#[tonic::async_trait]
impl Gateway for Hostile {
    type SendMessageStream = Answers<wire::SendMessageResponse>;
    type AttachStream = Answers<run::Event>;

    async fn send_message(
        &self,
        request: Request<wire::SendMessageRequest>,
    ) -> Answer<Self::SendMessageStream> {
        use wire::send_message_response::Kind;
        let text = request.into_inner().text;
        if text == "refused" {
            return refusal();
        }
        let accepted = Kind::Accepted(wire::Accepted {
            run_id: hostile(),
            session_key: hostile(),
            session_id: hostile(),
            agent_id: hostile(),
            ..wire::Accepted::default()
        });
        let events = events(text == FAILING).into_iter().map(Kind::Event);
        let replies = std::iter::once(accepted).chain(events);
        let replies = replies.map(|reply| wire::SendMessageResponse { kind: Some(reply) });
        all(replies.collect())
    }

    async fn attach(&self, _: Request<wire::AttachRequest>) -> Answer<Self::AttachStream> {
        all(events(false))
    }

    async fn cancel_run(
        &self,
        request: Request<wire::CancelRunRequest>,
    ) -> Answer<wire::CancelRunResponse> {
        match request.into_inner().run_id.as_str() {
            FAILING => refusal(),
            _ => answer(wire::CancelRunResponse { cancelled: true }),
        }
    }

    async fn list_turns(
        &self,
        _: Request<wire::ListTurnsRequest>,
    ) -> Answer<wire::ListTurnsResponse> {
        let turn = || wire::Turn {
            run_id: hostile(),
            session_key: hostile(),
            state: hostile(),
            ..wire::Turn::default()
        };
        answer(wire::ListTurnsResponse {
            turns: vec![turn(), turn()],
        })
    }

    async fn list_approvals(
        &self,
        _: Request<wire::ListApprovalsRequest>,
    ) -> Answer<wire::ListApprovalsResponse> {
        answer(wire::ListApprovalsResponse {
            waiting: vec![approval("")],
            decided: vec![approval(HOSTILE)],
            grants: vec![wire::Grant {
                agent_id: hostile(),
                command: hostile(),
                by: hostile(),
                directory: hostile(),
                form: hostile(),
                created_ms: 1,
                terms: Some(terms()),
            }],
        })
    }

    async fn decide_approval(
        &self,
        request: Request<wire::DecideApprovalRequest>,
    ) -> Answer<wire::DecideApprovalResponse> {
        match request.into_inner().id.as_str() {
            FAILING => refusal(),
            _ => answer(wire::DecideApprovalResponse {
                approval: Some(approval("")),
            }),
        }
    }

    async fn revoke_grant(
        &self,
        _: Request<wire::RevokeGrantRequest>,
    ) -> Answer<wire::RevokeGrantResponse> {
        Err(Status::not_found(HOSTILE))
    }

    async fn put_attachment(
        &self,
        _: Request<wire::PutAttachmentRequest>,
    ) -> Answer<wire::PutAttachmentResponse> {
        answer(wire::PutAttachmentResponse {
            path: hostile(),
            words: hostile(),
        })
    }

    async fn access_token(
        &self,
        _: Request<wire::AccessTokenRequest>,
    ) -> Answer<wire::AccessTokenResponse> {
        answer(wire::AccessTokenResponse {
            mode: "token".to_owned(),
            token: hostile(),
        })
    }

    async fn status(&self, _: Request<wire::StatusRequest>) -> Answer<wire::StatusResponse> {
        let confinement = runner::Confinement {
            name: hostile(),
            state: hostile(),
            detail: hostile(),
        };
        answer(wire::StatusResponse {
            version: hostile(),
            state_dir: hostile(),
            runner: Some(runner::StatusResponse {
                version: hostile(),
                backend: hostile(),
                reason: hostile(),
                model: hostile(),
                provider: hostile(),
                confinements: vec![confinement],
                sandbox_level: hostile(),
                sandbox_network: hostile(),
                sandbox_weaker: vec![hostile()],
                sandbox_reason: hostile(),
                sandbox_stricter: hostile(),
                configuration_problem: hostile(),
                ..runner::StatusResponse::default()
            }),
            memory: Some(memory::StatusResponse {
                version: hostile(),
                configuration_problem: hostile(),
                ..memory::StatusResponse::default()
            }),
            configuration_problem: hostile(),
            ..wire::StatusResponse::default()
        })
    }
}
