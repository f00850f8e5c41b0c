//! What a server of tools says, over MCP.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openclaw_mcp_servers::fuzz::mcp_client(bytes));
