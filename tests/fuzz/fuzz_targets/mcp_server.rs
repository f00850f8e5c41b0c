//! What a CLI says to our server of tools, over MCP.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_agent::fuzz::mcp_server(bytes));
