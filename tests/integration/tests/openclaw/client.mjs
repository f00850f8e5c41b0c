// A turn with OpenClaw's own client library: prints one JSON object.
//   client.mjs SESSION MESSAGE
import { pathToFileURL } from 'node:url';

const packages = process.env.OPENCLAW_TEST_PACKAGES;
const entry = pathToFileURL(`${packages}/@openclaw/gateway-client/dist/index.mjs`);
const { GatewayClient } = await import(entry);
const [sessionKey, message] = process.argv.slice(2);
const runId = `lib-${process.pid}`;
const seen = { deltas: [], states: [], text: '' };
const gaps = [];

const finish = (code, result) => {
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(code));
};

const client = new GatewayClient({
  url: process.env.OPENCLAW_GATEWAY_URL,
  token: process.env.OPENCLAW_GATEWAY_TOKEN,
  clientName: 'gateway-client',
  clientVersion: '2026.9.1',
  platform: 'linux',
  mode: 'backend',
  role: 'operator',
  scopes: ['operator.read', 'operator.write'],
  caps: ['tool-events'],
  minProtocol: 4,
  maxProtocol: 4,
  deviceIdentity: null,
  onGap: (gap) => gaps.push(gap),
  onConnectError: (error) => finish(1, { error: String(error) }),
  onHelloOk: async (hello) => {
    seen.protocol = hello.protocol;
    try {
      seen.ack = await client.request('chat.send', { sessionKey, message, idempotencyKey: runId });
    } catch (error) {
      finish(1, { error: String(error) });
    }
  },
  onEvent: (frame) => {
    if (frame.event !== 'chat' || frame.payload.runId !== runId) return;
    const { state, deltaText } = frame.payload;
    seen.states.push(state);
    if (state === 'delta') seen.deltas.push(deltaText);
    if (state === 'final' || state === 'error' || state === 'aborted') {
      seen.text = frame.payload.message?.content?.[0]?.text ?? '';
      client.stop();
      finish(0, { ...seen, gaps });
    }
  },
});
client.start();
