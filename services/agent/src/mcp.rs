//! The tool server of another agent's CLI: the same tools, over MCP.

#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod pipe;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use openclaw_tools::{Builtin, Registry, ToolCall, ToolDefinition, ToolResult, Workspace};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::io::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value};
use tokio::sync::RwLock;

#[cfg(fuzzing)]
pub(crate) use pipe::fuzz as pipe_fuzz;

use crate::request::Offer;
use crate::toolbox::{self, Runner};
use crate::{host, process};
use pipe::ToolPipe;

/// Serves until standard input ends.
pub fn main(workspace: PathBuf, tool_pipe: Option<PathBuf>) -> ExitCode {
    let served = process::run(async {
        match serve(workspace, tool_pipe).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                process::log(&format!("{error:#}"));
                ExitCode::FAILURE
            }
        }
    });
    served.unwrap_or_else(|error| {
        process::log(&format!("cannot set up the process: {error}"));
        ExitCode::FAILURE
    })
}

async fn serve(workspace: PathBuf, tool_pipe: Option<PathBuf>) -> anyhow::Result<()> {
    let workspace = Workspace::new(workspace);
    let is_of_turn = tool_pipe.is_some();
    let registry = match tool_pipe {
        Some(folder) => shared(&workspace, folder).await?,
        None => toolbox::registry(alone(), &workspace, &unreachable())?,
    };
    let server = ToolServer {
        registry,
        is_of_turn,
        order: RwLock::default(),
    };
    let service = server.serve(stdio_pipes()).await?;
    service.waiting().await?;
    Ok(())
}

/// Without a runner: what runs here.
fn alone() -> Offer {
    let names = Builtin::ALL.map(|tool| tool.name().to_owned());
    Offer {
        tools: names.into(),
        ..Offer::default()
    }
}

fn unreachable() -> Runner {
    Arc::new(|_, _| {
        let error = host::unreachable("there is no runner".to_owned());
        Box::pin(std::future::ready(Err(error)))
    })
}

/// With a runner, which says what there is.
async fn shared(workspace: &Workspace, folder: PathBuf) -> anyhow::Result<Registry> {
    let pipe = Arc::new(ToolPipe::new(folder));
    let runner: Runner = Arc::new(move |name, arguments| {
        let pipe = Arc::clone(&pipe);
        Box::pin(async move {
            match pipe.call(&name, &arguments).await {
                Ok(answer) => answer.into_result(),
                Err(error) => Err(host::unreachable(crate::turn::chain(&error))),
            }
        })
    });
    let told = runner(host::OFFER.to_owned(), Value::Null).await;
    let offer = serde_json::from_str(&told.context("ask the runner for the tools")?)
        .context("read the runner's tools")?;
    Ok(toolbox::registry(offer, workspace, &runner)?)
}

struct ToolServer {
    registry: Registry,
    /// Whether a turn's process decides what may run.
    is_of_turn: bool,
    /// Held for writing by calls that run alone. It is given in the order in which
    /// it was asked for, which is that of the calls.
    order: RwLock<()>,
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("openclaw", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.registry.list().map(|it| self.tool(it)).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    /// A failed tool is a result marked as an error, which models get to see;
    /// a protocol error would be hidden from them.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = ToolCall {
            id: context.id.to_string(),
            name: request.name.into_owned(),
            arguments: Value::Object(request.arguments.unwrap_or_default()),
        };
        let result = tokio::select! {
            result = self.execute(call) => result,
            // Dropping the call ends the tool.
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        let content = vec![ContentBlock::text(result.to_text())];
        Ok(if result.success {
            CallToolResult::success(content).into()
        } else {
            CallToolResult::error(content).into()
        })
    }
}

impl ToolServer {
    async fn execute(&self, call: ToolCall) -> ToolResult {
        if self.registry.runs_alone(&call) {
            let _alone = self.order.write().await;
            return self.registry.execute(call).await;
        }
        let _beside = self.order.read().await;
        self.registry.execute(call).await
    }

    fn tool(&self, definition: &ToolDefinition) -> Tool {
        let schema = match &definition.parameters {
            Value::Object(schema) => schema.clone(),
            _ => Map::new(),
        };
        let tool = Tool::new(
            definition.name.clone(),
            definition.description.clone(),
            Arc::new(schema),
        );
        match self.may_overlap(&definition.name) {
            true => tool.with_annotations(ToolAnnotations::new().read_only(true)),
            false => tool,
        }
    }

    /// Whether calls of a tool may be made at the same time, for which CLIs have
    /// one word: that it only reads. Of commands that is not true, so it is said
    /// only where a turn's process decides whatever a client makes of it.
    fn may_overlap(&self, name: &str) -> bool {
        match Builtin::from_name(name) {
            Some(Builtin::ReadFile | Builtin::ListDirectory) => true,
            Some(Builtin::ExecuteShell) => self.is_of_turn,
            Some(_) => false,
            None => host::only_reads(name),
        }
    }
}
