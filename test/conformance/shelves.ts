import type { CallEnd } from '../../src/contract/index.ts'
import type { Wire } from '../../src/translate/index.ts'
import type { Recording } from '../kit/recordings.ts'
import { type Heard, type Line, type Normalisation, objects } from './normal.ts'
import { agentproc01, agentproc04, lines01, losses04 } from './normal-agentproc.ts'
import { openharness } from './normal-openharness.ts'
import { qwenCode } from './normal-qwen.ts'
import { zene, zeneLosses } from './normal-zene.ts'
import { zot } from './normal-zot.ts'

/** Recordings by the beginnings of their names. */
export type ByName<T> = Readonly<Record<string, T>>

/** One folder of recordings: whose wires they are, and how they stay themselves. */
export interface Shelf {
  folder: string
  protocol: string
  dialect: string
  readme: string
  /** The messages of a wire as values. */
  read(wire: string): Line[]
  normal: readonly Normalisation[]
  /** What goes lost on the way to the same protocol, as `kind item count`. */
  loses(recording: Recording, heard: Heard): readonly string[]
  /** Recordings of something else than this dialect's own programs. */
  skip: RegExp
  options?(recording: Recording): Record<string, unknown>
  /** Recordings whose messages are not the same on both sides, with the reason. */
  differ: ByName<string>
  /** The wires of a recording that are of the protocol; absent: all. */
  wires?(wire: Wire): boolean
}

/** The value for a recording, if there is one. */
export function named<T>(values: ByName<T>, { file }: Recording): T | undefined {
  return Object.entries(values).find(([name]) => file.startsWith(name))?.[1]
}

const isStream = ({ args }: Recording): boolean =>
  args.includes('--single-request=false') || args[args.indexOf('--single-request') + 1] === 'false'

/** Envelopes over HTTP; what pairing, health and the bridge's own upstream say is something else. */
const isEnvelopeCall = ({ http }: Wire): boolean =>
  http?.method === 'POST' && /^\/(v1\/)?openharness(\?|$)|^\/demo\/harness$/.test(http.path)

/** Of wire 0.1: what stands beside an error is no answer, and the front may have shown it. */
const LOSSES_01: ByName<readonly string[]> = {
  'error-exit0': ['weakened message-retract 1', 'dropped text-delta 1', 'dropped text-delta 1'],
  'timeout-after-error': ['dropped text-delta 1'],
}

/** Of Qwen Code: a turn whose process ended before its greeting gets one, without a model. */
const LOSSES_QWEN: ByName<readonly string[]> = {
  'interrupt-idle.v0.15.10': ['invented turn-started 1'],
  'unicode-u2028-raw.jsonl': ['invented turn-started 1'],
  'unicode-u2029-raw.jsonl': ['invented turn-started 1'],
}

/** How many permissions a runner gave or refused. */
function answersIn({ rows }: Recording): number {
  return rows.filter(({ dir, line }) => dir === 'in' && line.includes('"permission_response"')).length
}

export const SHELVES: readonly Shelf[] = [
  {
    folder: 'zot',
    protocol: 'zot',
    dialect: 'rpc',
    readme: 'zot',
    read: objects,
    normal: zot,
    loses: () => [],
    skip: /^$/,
    differ: {
      'abort-same-write-as-prompt': 'the original loses an abort in one write with its prompt; here it cancels it',
      'clear-while-busy': 'the original says at once that it has cleared what its prompt goes on in; here it waits',
      'eof-two-queued':
        'the original ran the second of two prompts in one write first; here prompts run in their order',
    },
  },
  {
    folder: 'zene',
    protocol: 'zene',
    dialect: 'host',
    readme: 'zene',
    read: objects,
    normal: zene,
    loses: (_recording, heard) => zeneLosses(heard),
    skip: /^$/,
    options: (recording) => (isStream(recording) ? { mode: 'stream' } : {}),
    differ: {
      'selftest-unsupported-provider': 'whether a provider works is for the agent to say, not for a gateway',
      'request-wrong-version': 'ours says which version the request has, and what to do',
      'request-blank-request-id': 'the original takes a blank id, which its own text forbids',
      'stream-busy.jsonl': 'a duplicate is the gateway to tell, and a recording has none',
      'stream-same-request-id-new-key': 'an error that names a running request ends it; the original meant another one',
      'stream-unknown-type-among-good': 'a bad line is answered at once, and the stream goes on',
      'worker-mode': 'another mode of the program, which is not the protocol',
    },
  },
  {
    folder: 'qwen-code',
    protocol: 'qwen-code',
    dialect: 'code',
    readme: 'qwen-code',
    read: objects,
    normal: qwenCode,
    loses: (recording) => named(LOSSES_QWEN, recording) ?? [],
    skip: /^acp-/,
    differ: {
      'controls-before-init': 'the CLI answers no control request before `initialize`; here they are answered',
      'controls.v0.15.10': '0.15 knows fewer control requests than are answered here',
      'first-unknown-then-user': 'the CLI swallows the `initialize` behind a line of unknown type; here it is answered',
      'interrupt-tool.v0.15.10': '0.15 ends an interrupted tool without a result; here every turn has one',
      'no-auth-live': 'the CLI says why it cannot start to a client that asked for no turn: there is none to fail',
      'max-session-turns': 'a limit of the arguments is the agent’s to keep: a stand-in refuses it',
      'max-tool-calls': 'a limit of the arguments is the agent’s to keep: a stand-in refuses it',
      'p-then-control': 'the CLI reads no control requests beside a prompt in its arguments; here they are answered',
      'rfc-in-can-use-tool-in': 'the CLI allows whatever its own client asks it to allow; here that is refused',
      'rfc-in-chat-': 'the CLI dies of a line without a type, and says nothing; here it is answered',
      'session-3-continue': 'a stand-in refuses --continue: it has no last session of its own',
      'session-4-fork': 'a stand-in refuses --fork-session: a session goes on as it is',
      'signal-sigterm-oneshot.v0.15.10': 'a message that was cut is closed before the end of its turn',
      'split-line': 'what its client wrote was not recorded, so that nobody is answered',
    },
  },
  {
    folder: 'agentproc-0.1',
    protocol: 'agentproc',
    dialect: '0.1',
    readme: 'agentproc',
    read: lines01,
    normal: agentproc01,
    loses: (recording) => named(LOSSES_01, recording) ?? [],
    skip: /^cli-/,
    differ: {},
  },
  {
    folder: 'agentproc-0.4',
    protocol: 'agentproc',
    dialect: '0.4',
    readme: 'agentproc',
    read: objects,
    normal: agentproc04,
    loses: (recording, heard) => losses04(heard, answersIn(recording)),
    skip: /^cli-/,
    options: () => ({ permission: true }),
    differ: {},
  },
  {
    folder: 'openharness',
    protocol: 'openharness',
    dialect: 'v1',
    readme: 'openharness',
    read: objects,
    normal: openharness,
    loses: () => [],
    skip: /^$/,
    differ: {},
    wires: isEnvelopeCall,
  },
]

/** Recordings that lose more at a reader than what they hold lets expect, with the reason: `file → reader`. */
export const SURPRISES: ByName<{ losses: readonly string[]; why: string }> = {
  'compact-empty.jsonl → qwen-code@code': {
    losses: ['invented turn-started'],
    why: 'a compaction has no place there, and is told as a request that names no model',
  },
}

/** The wires of a recording that are of the shelf's protocol, with what only its index says of them. */
export function wiresOf({ wires = () => true }: Shelf, recording: Recording): readonly Wire[] {
  const exits = recording.rows.some(({ dir }) => dir === 'exit')
  return recording.wires.filter(wires).map((wire) => ({
    ...wire,
    ...(Object.keys(wire.env).length === 0 && { env: settings(recording) }),
    ...(!exits && !wire.http && { end: endOf(recording, wire.end) }),
  }))
}

function settings({ env }: Recording): Record<string, string> {
  const pairs = env.filter((entry) => entry.includes('=')).map((entry) => entry.split(/=(.*)/s, 2) as [string, string])
  return Object.fromEntries(pairs)
}

function endOf({ exitCode, index }: Recording, otherwise: CallEnd): CallEnd {
  const signal = index['signal']
  if (typeof signal === 'string') return { ...otherwise, signal }
  return exitCode === null ? otherwise : { ...otherwise, exitCode }
}
