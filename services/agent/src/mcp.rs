//! The tool server of another agent's CLI: the same tools, over MCP.

#[cfg(fuzzing)]
pub(crate) mod fuzz;
mod pipe;

use std::convert::Infallible;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, PoisonError, RwLock};

use anyhow::Context as _;
use openclaw_tools::{Builtin, Registry, ToolCall, ToolDefinition, ToolResult, Workspace};
use openclaw_turn::{HostTool, OFFER, Offer, OfferAnswer, OfferQuestion};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::transport::io::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};

#[cfg(fuzzing)]
pub(crate) use pipe::fuzz as pipe_fuzz;

use crate::images::Images;
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
    let Some(folder) = tool_pipe else {
        let images = Images::default();
        let registry = toolbox::registry(alone(), &workspace, &unreachable(), &images)?;
        let server = ToolServer::new(Offered::of(registry, String::new()), images, false);
        server.serve(stdio_pipes()).await?.waiting().await?;
        return Ok(());
    };
    let shared = Shared::new(workspace, folder);
    let server = ToolServer::new(shared.offered().await?, shared.images.clone(), true);
    let offered = Arc::clone(&server.offered);
    let service = server.serve(stdio_pipes()).await?;
    let client = service.peer().clone();
    tokio::select! {
        ended = service.waiting() => { ended?; }
        never = shared.renew(&offered, &client) => match never {},
    }
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
struct Shared {
    workspace: Workspace,
    pipe: Arc<ToolPipe>,
    runner: Runner,
    images: Images,
}

impl Shared {
    fn new(workspace: Workspace, folder: PathBuf) -> Self {
        let pipe = Arc::new(ToolPipe::new(folder));
        let way = Arc::clone(&pipe);
        let runner: Runner = Arc::new(move |name, arguments| {
            let pipe = Arc::clone(&way);
            Box::pin(async move {
                let answer = pipe.call(&name, &arguments).await;
                answer.map_err(|error| host::unreachable(crate::failure::chain(&error)))
            })
        });
        Self {
            workspace,
            pipe,
            runner,
            images: Images::default(),
        }
    }

    /// Asks which tools there are.
    async fn offered(&self) -> anyhow::Result<Offered> {
        let told = (self.runner)(OFFER.to_owned(), json!(OfferQuestion::default())).await;
        let told = told.and_then(host::result);
        let told = told.context("ask the runner for the tools")?;
        let OfferAnswer { offer, .. } = openclaw_turn::read("the agent-runner", told.as_bytes())
            .context("read the runner's tools")?;
        let instructions = offer.instructions.clone();
        let registry = toolbox::registry(offer, &self.workspace, &self.runner, &self.images)?;
        Ok(Offered::of(registry, instructions))
    }

    /// Asks again whenever the tools change, and tells the client.
    async fn renew(&self, offered: &RwLock<Offered>, client: &Peer<RoleServer>) -> Infallible {
        loop {
            self.pipe.changed().await;
            match self.offered().await {
                Ok(other) if other.is(&read(offered)) => {}
                Ok(other) => {
                    *offered.write().unwrap_or_else(PoisonError::into_inner) = other;
                    // A client that is gone has ended this process, too.
                    let _ = client.notify_tool_list_changed().await;
                }
                Err(error) => process::log(&format!("the tools stay as they were: {error:#}")),
            }
        }
    }
}

/// The tools that there are, and what is said of their use.
#[derive(Clone)]
struct Offered {
    registry: Arc<Registry>,
    instructions: String,
}

impl Offered {
    fn of(registry: Registry, instructions: String) -> Self {
        Self {
            registry: Arc::new(registry),
            instructions,
        }
    }

    /// Whether both are told in the same way.
    fn is(&self, other: &Self) -> bool {
        self.registry.list().eq(other.registry.list())
    }
}

fn read(offered: &RwLock<Offered>) -> Offered {
    let offered = offered.read().unwrap_or_else(PoisonError::into_inner);
    offered.clone()
}

struct ToolServer {
    offered: Arc<RwLock<Offered>>,
    images: Images,
    /// Whether a turn's process decides what may run.
    is_of_turn: bool,
    /// Held for writing by calls that run alone. It is given in the order in which
    /// it was asked for, which is that of the calls.
    order: tokio::sync::RwLock<()>,
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("openclaw", env!("CARGO_PKG_VERSION")));
        match read(&self.offered).instructions {
            said if said.is_empty() => info,
            said => info.with_instructions(said),
        }
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offered = read(&self.offered).registry;
        let tools = offered.list().map(|it| self.tool(&offered, it)).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    /// A failed tool is a result marked as an error, which models get to see;
    /// a protocol error would be hidden from them.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let registry = read(&self.offered).registry;
        let call = ToolCall {
            id: context.id.to_string(),
            name: request.name.into_owned(),
            arguments: Value::Object(request.arguments.unwrap_or_default()),
        };
        let result = tokio::select! {
            result = self.execute(&registry, call) => result,
            // Dropping the call ends the tool.
            () = context.ct.cancelled() => {
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
        };
        let images = self.images.take(&result.call_id).into_iter();
        let images = images.map(|image| ContentBlock::image(image.data, image.mime_type));
        let text = ContentBlock::text(result.to_text());
        let content = std::iter::once(text).chain(images).collect();
        Ok(if result.success {
            CallToolResult::success(content).into()
        } else {
            CallToolResult::error(content).into()
        })
    }
}

impl ToolServer {
    fn new(offered: Offered, images: Images, is_of_turn: bool) -> Self {
        Self {
            offered: Arc::new(RwLock::new(offered)),
            images,
            is_of_turn,
            order: tokio::sync::RwLock::default(),
        }
    }

    async fn execute(&self, registry: &Registry, call: ToolCall) -> ToolResult {
        if registry.runs_alone(&call) {
            let _alone = self.order.write().await;
            return registry.execute(call).await;
        }
        let _beside = self.order.read().await;
        registry.execute(call).await
    }

    fn tool(&self, registry: &Registry, definition: &ToolDefinition) -> Tool {
        let schema = match &definition.parameters {
            Value::Object(schema) => schema.clone(),
            _ => Map::new(),
        };
        let tool = Tool::new(
            definition.name.clone(),
            definition.description.clone(),
            Arc::new(schema),
        );
        if self.may_overlap(registry, &definition.name) {
            tool.with_annotations(ToolAnnotations::new().read_only(true))
        } else {
            tool
        }
    }

    /// Whether calls of a tool may be made at the same time, for which CLIs have
    /// one word: that it only reads. Of commands and tools from elsewhere that is
    /// not true, so it is said only where a turn's process decides whatever a
    /// client makes of it.
    fn may_overlap(&self, registry: &Registry, name: &str) -> bool {
        match Builtin::from_name(name) {
            Some(Builtin::ReadFile | Builtin::ListDirectory) => true,
            Some(Builtin::ExecuteShell) => self.is_of_turn,
            Some(_) => false,
            None => match HostTool::from_name(name) {
                Some(tool) => tool.only_reads(),
                None => self.is_of_turn && !registry.is_alone(name),
            },
        }
    }
}
