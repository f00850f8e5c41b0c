//! The tool server of another agent's CLI: the same tools, over MCP.

mod pipe;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use openclaw_tools::{Builtin, Registry, ToolCall, ToolDefinition, Workspace};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::io::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::{host, process};
use pipe::ToolPipe;

/// Serves until standard input ends.
pub(crate) fn main(workspace: PathBuf, tool_pipe: Option<PathBuf>) -> ExitCode {
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
    let registry = tools(&Workspace::new(workspace), tool_pipe)?;
    let service = ToolServer { registry }.serve(stdio_pipes()).await?;
    service.waiting().await?;
    Ok(())
}

fn tools(workspace: &Workspace, tool_pipe: Option<PathBuf>) -> anyhow::Result<Registry> {
    let mut registry = Registry::new();
    for tool in Builtin::ALL {
        tool.register(&mut registry, workspace)?;
    }
    if let Some(folder) = tool_pipe {
        let pipe = Arc::new(Mutex::new(ToolPipe::new(folder)));
        for tool in host::tools() {
            let (pipe, name) = (pipe.clone(), tool.name.clone());
            registry.register(tool, move |arguments| {
                let (pipe, name) = (pipe.clone(), name.clone());
                async move {
                    match pipe.lock().await.call(&name, &arguments).await {
                        Ok(answer) => answer.into_result(),
                        Err(error) => Err(host::unreachable(crate::turn::chain(&error))),
                    }
                }
            })?;
        }
    }
    Ok(registry)
}

struct ToolServer {
    registry: Registry,
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
        let tools = self.registry.list().map(tool).collect();
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
            result = self.registry.execute(call) => result,
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

fn tool(definition: &ToolDefinition) -> Tool {
    let schema = match &definition.parameters {
        Value::Object(schema) => schema.clone(),
        _ => Map::new(),
    };
    Tool::new(
        definition.name.clone(),
        definition.description.clone(),
        Arc::new(schema),
    )
}
