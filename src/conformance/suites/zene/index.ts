import {
  ANY,
  bigText,
  END,
  type HostileFacts,
  type JsonRecord,
  type ProtocolSuites,
  RUN_ID,
  type SeenLine,
  type Suite,
  writes,
} from '../../kit/index.ts'
import { clientRules, play } from './client.ts'
import { oneShotRules } from './one-shot.ts'
import { streamRules } from './stream.ts'

const run = (id: string, more: JsonRecord = {}): { write: string } =>
  writes({
    protocol_version: 1,
    type: 'run',
    request_id: id,
    session_id: `${id}-${RUN_ID}`,
    prompt: 'Reply with the word ok.',
    idempotency_key: `key-${id}-${RUN_ID}`,
    ...more,
  })
const ODD = 'ü-😀-"\u2028"'

const runRequest = (id: string, prompt: string): JsonRecord => ({
  protocol_version: 1,
  type: 'run',
  request_id: id,
  session_id: `s-${id}`,
  prompt,
  idempotency_key: `key-${id}`,
})

const hostile: HostileFacts = {
  prefix: 'zene',
  form: 'objects',
  section: '2 Transport Rules',
  isLast: (frame) => /"ok":|"type":"final"/.test(frame),
  agents: { 'unknown-messages-and-fields': 'answer' },
  turns: {
    many: false,
    request: runRequest,
    ids: ['request_id'],
    endOf: ({ type = 'final', request_id }) => (type === 'final' || type === 'error' ? String(request_id) : undefined),
    silentRefusal: true,
  },
}

const streamHostile: HostileFacts = {
  ...hostile,
  prefix: 'zene.stream',
  owner: ['request_id'],
  turns: {
    ...hostile.turns,
    many: true,
    cancel: (id) => ({ protocol_version: 1, type: 'cancel', request_id: 'c1', target_request_id: id }),
    unknown: { protocol_version: 1, type: 'no_such', request_id: 'u1' },
  },
}

const oneShot: Suite = {
  framing: 'lines',
  http: false,
  env: [],
  scenarios: [
    { name: 'run', steps: [run('r1', { channel_id: 'c', agent: null, timeout_ms: 60_000, unknown: 1 }), ANY, END] },
    {
      name: 'minimum',
      steps: [writes({ request_id: 'r2', session_id: `r2-${RUN_ID}`, prompt: 'Reply with the word ok.' }), END],
    },
    {
      name: 'unicode',
      steps: [writes({ ...JSON.parse(run(ODD, { prompt: ODD }).write) }), END].map((step) =>
        'write' in step ? { write: step.write.replaceAll('\u2028', '\\u2028') } : step,
      ),
    },
    { name: 'raw-line-separator', steps: [run('r4', { prompt: 'Reply with ok.\u2028Nothing else.' }), END] },
    { name: 'big', steps: [run('r5', { prompt: bigText(200_000) }), END] },
    { name: 'no-json', steps: [{ write: '{"request_id":"r6",\n' }, END] },
    { name: 'no-prompt', steps: [run('r7', { prompt: undefined }), END] },
    { name: 'blank-session', steps: [run('r8', { session_id: '  ' }), END] },
    { name: 'nothing', steps: [END] },
    {
      name: 'terminate',
      steps: [run('r9', { prompt: 'Count from one to five hundred.' }), { pause: 500 }, { terminate: true }],
    },
  ],
  agent: oneShotRules,
  client: clientRules,
  play,
  hostile,
}

const ends =
  (id: string) =>
  ({ object }: SeenLine): boolean =>
    object?.['request_id'] === id && object['type'] !== 'ack' && object['type'] !== 'event'
const acked =
  (id: string) =>
  ({ object }: SeenLine): boolean =>
    object?.['request_id'] === id

const stream: Suite = {
  ...oneShot,
  scenarios: [
    { name: 'run', steps: [run('r1'), { until: ends('r1') }, run('r2'), { until: ends('r2') }, END] },
    {
      name: 'ping',
      steps: [writes({ protocol_version: 1, type: 'ping', request_id: 'p1' }), { until: acked('p1') }, END],
    },
    {
      name: 'cancel',
      steps: [
        run('r3', { prompt: 'Count from one to five hundred, one number a line.' }),
        { until: acked('r3') },
        writes({ protocol_version: 1, type: 'cancel', request_id: 'c3', target_request_id: 'r3' }),
        { until: ends('r3') },
        END,
      ],
    },
    {
      name: 'cancel-nothing',
      steps: [
        writes({ protocol_version: 1, type: 'cancel', request_id: 'c4', target_request_id: 'never-sent' }),
        { until: acked('c4') },
        END,
      ],
    },
    { name: 'no-prompt', steps: [run('r5', { prompt: undefined }), { until: acked('r5') }, END] },
    {
      name: 'malformed',
      steps: [{ write: '{"request_id":\n' }, ANY, run('r6'), { until: ends('r6') }, END],
    },
    { name: 'unicode', steps: [run('ü-😀', { prompt: '“é” 😀' }), { until: ends('ü-😀') }, END] },
    { name: 'big', steps: [run('r7', { prompt: bigText(200_000) }), { until: ends('r7') }, END] },
    { name: 'in-flight', steps: [run('r8'), END] },
  ],
  agent: streamRules,
  hostile: streamHostile,
}

/** True when `--single-request false` is among the arguments, in either notation. */
function isStream(args: readonly string[]): boolean {
  return /(?:^| )--single-request[ =]false(?: |$)/.test(args.join(' '))
}

/** The tests of Zene Host Protocol v1: one request and one answer, or many (stream mode). */
export const conformance: ProtocolSuites = {
  suites: { host: oneShot, stream },
  suiteOf: (args) => (isStream(args) ? 'stream' : undefined),
  program: 'zene',
}
