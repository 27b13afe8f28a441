import type { ErrorCode } from '../../src/model/index.ts'

/** Texts by which agents hand on what their model providers said, as recorded, and the error that each is. */
export const PROVIDER_TEXTS: readonly (readonly [string, ErrorCode])[] = [
  // zot
  [
    'openai: http 400: {"error":{"message":"bad request from fake","type":"invalid_request_error","param":null,"code":"fake_bad_request"}}',
    'provider-error',
  ],
  [
    'openai: http 401: {"error":{"message":"bad key from fake","type":"authentication_error","param":null,"code":"invalid_api_key"}}',
    'provider-auth',
  ],
  [
    'openai: http 429: {"error":{"message":"rate limited by fake","type":"rate_limit_error","param":null,"code":null}}',
    'provider-rate-limit',
  ],
  [
    'openai: http 500: {"error":{"message":"server exploded (fake)","type":"server_error","param":null,"code":null}}',
    'provider-down',
  ],
  [
    'openai: http 503: {"error":{"message":"overloaded (fake)","type":"server_error","param":null,"code":null}}',
    'provider-down',
  ],
  ['openai: Post "http://127.0.0.1:4040/v1/chat/completions": EOF', 'provider-down'],
  [
    'openai: Post "http://127.0.0.1:443/v1/chat/completions": dial tcp 127.0.0.1:443: connect: connection refused',
    'provider-down',
  ],
  ['openai: Post "http://127.0.0.1:4040/v1/chat/completions": context canceled', 'provider-down'],
  ['openai: error inside the stream (fake)', 'provider-error'],
  // Qwen Code
  ['[API Error: 400 bad request from fake]', 'provider-error'],
  ['[API Error: 401 bad key from fake]', 'provider-auth'],
  ['[API Error: 429 rate limited by fake]', 'provider-rate-limit'],
  [
    '[API Error: 429 slow down please]\nPossible quota limitations in place or slow response times detected. Please wait and try again later.',
    'provider-rate-limit',
  ],
  ['[API Error: 500 server exploded (fake)]', 'provider-down'],
  ['[API Error: Connection error. (cause: fetch failed)]', 'provider-down'],
  ['[API Error: terminated (cause: UND_ERR_SOCKET: other side closed)]', 'provider-down'],
  ['[API Error: terminated (cause: other side closed)]', 'provider-down'],
  ['[API Error: Model stream ended with empty response text.]', 'provider-down'],
  ['[API Error: Model stream ended without a finish reason.]', 'provider-down'],
  ['[API Error: error inside the stream (fake)]', 'provider-error'],
  ["[API Error: Expected property name or '}' in JSON at position 1 (line 1 column 2)]", 'provider-error'],
  [
    '[API Error: Context is too large to send safely after automatic compression. Estimated prompt tokens: 262144; hard limit: 177000; compression status: NOOP. Start a new session or reduce the resumed history before continuing.]',
    'payload-too-large',
  ],
  // Zene
  ['LLM Connector error: Authentication failed: OpenAI: bad key from fake', 'provider-auth'],
  ['LLM Connector error: Rate limit exceeded: OpenAI: rate limited by fake', 'provider-rate-limit'],
  ['LLM Connector error: Server error: OpenAI: server exploded (fake)', 'provider-down'],
  [
    'LLM Connector error: Timeout error: Stream request timeout: error sending request for url (http://127.0.0.1:4040/v1/chat/completions). Consider increasing timeout for long-running streams.',
    'provider-down',
  ],
  [
    'Provider error: Parse error: Failed to parse streaming response: missing field `created` at line 1 column 93',
    'provider-down',
  ],
  // AgentProc, and the bridge of OpenHarness
  ['upstream 429', 'provider-rate-limit'],
  ['rate limited', 'provider-rate-limit'],
  ['claude exited with 1: not logged in', 'provider-auth'],
  ['OpenClaw HTTP 500: {"error":"boom"}', 'provider-down'],
  ['OpenClaw request failed: [Errno 111] Connection refused', 'provider-down'],
  // Forms of providers that agents of all kinds quote.
  ['Error code: 404 - {"error": {"message": "The model `x` does not exist"}}', 'provider-error'],
  ['429 Too Many Requests', 'provider-rate-limit'],
  ['Request failed with status code 402', 'provider-auth'],
  ['{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 'provider-down'],
  ['{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}', 'provider-rate-limit'],
  ["400 This model's maximum context length is 8192 tokens. However, you requested 9001 tokens.", 'payload-too-large'],
  ['413 {"error":{"type":"request_too_large"}}', 'payload-too-large'],
  ['read ECONNRESET', 'provider-down'],
  ['The request was refused by the provider (529)', 'provider-down'],
]

/** What agents say of failures of their own. */
export const OWN_TEXTS: readonly string[] = [
  'bad',
  'boom',
  'line 1\nline 2 ü',
  'The agent stopped after 429 steps.',
  'main.ts:429:10 unexpected token',
  'listening on 127.0.0.1:443',
  'took 500 ms',
  'max steps reached (50)',
  'claude CLI not found. Install: npm install -g claude-code',
  'Configuration error: Unsupported provider: nope',
  'malformed json: invalid character at line 1 column 429',
  'profile.cwd is not a directory: /workspace/404',
  'tool "bash" failed: exit code 127',
]
