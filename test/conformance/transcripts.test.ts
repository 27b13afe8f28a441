import { beforeAll, describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import type { AnyCodec } from '../../src/contract/index.ts'
import { type Carriage, predictPair } from '../../src/engine/predict.ts'
import type { AgentEvent, Item, Loss, TurnEvent } from '../../src/model/index.ts'
import {
  type Party,
  plainWire,
  type Translated,
  type Translation,
  translate,
  type Wire,
} from '../../src/translate/index.ts'
import { linesOf, type Recording, recordedFile, recordings, recordingsAreThere } from '../kit/recordings.ts'
import * as normal from './normal.ts'

/**
 * Every recorded wire, where they are at hand: it is understood, stays itself when its own protocol is on both sides,
 * and reaches every other protocol.
 */

/** One folder of recordings: whose wires they are. */
interface Shelf {
  folder: string
  protocol: string
  dialect: string
  /** What the wire's messages are compared by. */
  normal: normal.Normal
  /** Recordings of something else than this dialect's own programs. */
  skip: RegExp
  options?(recording: Recording): Record<string, unknown>
  /** Recordings whose messages are not the same on both sides, by the beginning of their names, with the reason. */
  differ: Readonly<Record<string, string>>
  /** The wires of a recording that are of the protocol; absent: all. */
  wires?(wire: Wire): boolean
}

const isStream = ({ args }: Recording): boolean =>
  args.includes('--single-request=false') || args[args.indexOf('--single-request') + 1] === 'false'

const cut = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 'a run that was cut gets its end']))

/** A process that fails without a word about it. */
const DIED = Object.fromEntries(
  [
    'killed-by-signal',
    'profile-ignored-fields',
    'sigint-runner.python',
    'exit2-',
    'bridge-sdk-crash',
    'bridge-echo-agent.sh',
  ].map((name) => [name, 'the failure of a process is told as an error']),
)

/** Envelopes over HTTP; what pairing, health and the bridge's own upstream say is something else. */
const isEnvelopeCall = ({ http }: Wire): boolean =>
  http?.method === 'POST' && /^\/(v1\/)?openharness(\?|$)|^\/demo\/harness$/.test(http.path)

const SHELVES: readonly Shelf[] = [
  {
    folder: 'zot',
    protocol: 'zot',
    dialect: 'rpc',
    normal: normal.zot,
    skip: /^$/,
    differ: {
      'abort-same-write-as-prompt': 'the original loses an abort in one write with its prompt',
    },
  },
  {
    folder: 'zene',
    protocol: 'zene',
    dialect: 'host',
    normal: normal.zene,
    skip: /^$/,
    options: (recording) => (isStream(recording) ? { mode: 'stream' } : {}),
    differ: {
      'selftest-unsupported-provider': 'whether a provider works is for the agent to say, not for a gateway',
      'request-blank-request-id': 'the original takes a blank id',
      'stream-busy.jsonl': 'a duplicate is the gateway to tell',
      'stream-cancel-flat': 'a cancelled run is CANCELED',
      ...cut(
        'stream-eof-in-flight-timeout',
        'stream-run-then-eof-at-once',
        'stream-sigint',
        'stream-stdin-idle-timeout',
      ),
      'stream-unknown-type-among-good': 'a bad line is answered at once',
      'worker-mode': 'another mode of the program',
    },
  },
  {
    folder: 'qwen-code',
    protocol: 'qwen-code',
    dialect: 'code',
    normal: normal.qwenCode,
    skip: /^acp-/,
    differ: {
      'sdk-mcp-unanswered': 'the greeting of a turn stands before what it asks',
      'signal-sigterm-oneshot.v0.15.10': 'a message that was cut is closed',
      'provider-drop.v0.15.10': 'a failure that was told as an answer is one',
      'split-line': 'its input was not recorded',
    },
  },
  {
    folder: 'agentproc-0.1',
    protocol: 'agentproc',
    dialect: '0.1',
    normal: normal.agentproc01,
    skip: /^cli-/,
    differ: DIED,
  },
  {
    folder: 'agentproc-0.4',
    protocol: 'agentproc',
    dialect: '0.4',
    normal: normal.agentproc04,
    skip: /^cli-/,
    options: () => ({ permission: true }),
    differ: DIED,
  },
  {
    folder: 'openharness',
    protocol: 'openharness',
    dialect: 'v1',
    normal: normal.openharness,
    skip: /^$/,
    differ: {
      'bridge-correlation-header': 'the correlation id of the header is in the envelope too',
      'bridge-keepalive': 'the recorder joined two bodies',
    },
    wires: isEnvelopeCall,
  },
]

const codecs: Record<string, AnyCodec> = {}
beforeAll(async () => Object.assign(codecs, await loadCodecs()))

function party(protocol: string, dialect: string | undefined, options: Record<string, unknown> = {}): Party {
  const codec = codecs[protocol]!
  const checked = codec.options.schema['~standard'].validate(options)
  if (checked instanceof Promise || checked.issues) throw new Error(`bad options for ${protocol}`)
  return { codec, dialect: dialect ?? Object.keys(codec.dialects)[0]!, options: checked.value }
}

function translated(shelf: Shelf, recording: Recording, to: 'canonical' | 'itself' | Party): Translated {
  const from = party(shelf.protocol, shelf.dialect, shelf.options?.(recording))
  const how: Translation = {
    from,
    to: to === 'itself' ? from : to,
    of: 'agent',
    ...(recording.args.length > 0 && { argv: recording.args }),
  }
  return translate(wiresOf(shelf, recording), how)
}

function wiresOf({ wires = () => true }: Shelf, recording: Recording): readonly Wire[] {
  return recording.wires.filter(wires)
}

function outLines(wires: readonly Wire[]): string[] {
  const text = wires.flatMap(({ http, steps }) =>
    steps.map((step) => (step.who === 'agent' && 'text' in step ? step.text + (http ? '\n' : '') : '')),
  )
  return linesIn(text.join(''))
}

function linesIn(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

describe.skipIf(!recordingsAreThere).each(SHELVES)('recordings of $folder', (shelf) => {
  const all = recordings(shelf.folder).filter(({ file }) => !shelf.skip.test(file))

  test('are there', () => {
    expect(all.length).toBeGreaterThan(40)
  })

  test.each(all)('$file is understood, and each of its turns ends once', (recording) => {
    const { out, losses } = translated(shelf, recording, 'canonical')
    const events = linesIn(out).map((line) => JSON.parse(line) as TurnEvent)
    const turns = [...new Set(events.flatMap(({ turn }) => turn ?? []))]
    const ends = events.filter(({ type }) => type === 'turn-end').map(({ turn }) => turn)
    expect([...ends].sort()).toEqual([...turns].sort())
    if (recording.brokenOnPurpose || recording.textMode) return
    expect(losses.filter(({ kind }) => kind === 'unparsed')).toEqual([])
  })

  test.each(all.filter(isWhole))('$file stays itself', (recording) => {
    const { out } = translated(shelf, recording, 'itself')
    const reason = Object.entries(shelf.differ).find(([name]) => recording.file.startsWith(name))?.[1]
    const [written, read] = [shelf.normal(linesIn(out)), shelf.normal(outLines(wiresOf(shelf, recording)))]
    if (reason === undefined) expect(written).toEqual(read)
    else expect(written, reason).not.toEqual(read)
  })

  test.each(TARGETS.filter(([name, dialect]) => name !== shelf.protocol || dialect !== shelf.dialect))(
    'all of them reach %s@%s, and lose what is predicted',
    (name, dialect) => {
      const target = party(name, dialect)
      const { back } = codecs[shelf.protocol]!.dialects[shelf.dialect]!
      const { front } = target.codec.dialects[dialect]!
      const pair = predictPair(front!.capabilities, back!.capabilities)
      for (const recording of all) {
        const native = translated(shelf, recording, 'canonical')
        const { out, faults, losses } = translated(shelf, recording, target)
        expect(faults, recording.file).toEqual(native.faults)
        expect(out === '', recording.file).toBe(!native.out.includes('"type":"turn-end"'))
        const foreseen = losses
          .filter(({ item, why, field }) => OF_PAIRS.has(why) && field !== 'lane' && !REPEATED.has(item))
          .map(({ kind, item }) => ({ kind, item, way: pair[item] }))
        expect(
          foreseen.filter((loss) => !isForeseen(loss)),
          recording.file,
        ).toEqual([])
        const said = new Set(
          linesIn(native.out)
            .map((line) => JSON.parse(line) as AgentEvent)
            .flatMap(itemOf),
        )
        const lost = new Set(losses.filter(({ kind }) => kind === 'dropped').map(({ item }) => item))
        expect(
          [...said].filter((item) => pair[item] === 'lost' && !lost.has(item)),
          recording.file,
        ).toEqual([])
      }
    },
    SLOW_MS,
  )
})

/** A hundred recordings take their time on a busy machine. */
const SLOW_MS = 60_000

/** Every dialect that has agents and clients. */
const TARGETS: [protocol: string, dialect: string][] = [
  ['zene', 'host'],
  ['zot', 'rpc'],
  ['openharness', 'v1'],
  ['agentproc', '0.1'],
  ['agentproc', '0.4'],
  ['qwen', 'rfc'],
  ['qwen-code', 'code'],
]

/** Losses that come of what two protocols are (which lanes a front can show is none of its items), not of a failure, a limit, or of what a recording does not hold. */
const OF_PAIRS: ReadonlySet<Loss['why']> = new Set(['no-place', 'too-narrow'])

/** Parts of a message that its own events said before. */
const REPEATED: ReadonlySet<Item> = new Set(['part.reasoning', 'part.tool-call', 'part.tool-reply'])

/** What is carried in part may lose some of it. */
function isForeseen({ kind, way }: { kind: Loss['kind']; way: Carriage }): boolean {
  if (kind === 'dropped') return way === 'lost' || way === 'weakened'
  return kind !== 'weakened' || way === 'weakened'
}

/** The item that an event of a turn is, where it is lost on its own: not with its question, nor only in an answer of one piece. */
function itemOf(event: AgentEvent): Item[] {
  const apart = ['text-delta', 'ask-settled', 'foreign'].includes(event.type)
  return event.turn === null || apart ? [] : [event.type]
}

/** The client and the agent spoke the protocol, to the end. */
function isWhole(recording: Recording): boolean {
  const { brokenOnPurpose, textMode, noOutput, rows } = recording
  return (
    !brokenOnPurpose &&
    !textMode &&
    !noOutput &&
    rows.every((row) => !row.truncated && row.truncated_from_chars === undefined)
  )
}

describe.skipIf(!recordingsAreThere)('recordings of clients of zene', () => {
  test.each(recordings('clawbridge'))('$file: what clawbridge asked is understood', (recording) => {
    for (const line of linesOf(recording, 'in')) {
      const made = translate([plainWire('client', line)], {
        from: party('zene', 'host'),
        to: 'canonical',
        of: 'client',
      })
      const { session_id: session } = JSON.parse(line) as { session_id: string }
      expect([linesIn(made.out).length, made.faults.length, made.losses]).toEqual(
        session.trim() === '' ? [0, 1, []] : [1, 0, []],
      )
    }
  })

  test('what clawrun asked is understood', () => {
    const requests = JSON.parse(recordedFile('clawrun', 'requests.json')) as {
      headers: Record<string, string>
      body: string
    }[]
    for (const { headers, body } of requests) {
      const steps = [{ who: 'client', text: body } as const, { who: 'client', text: undefined } as const]
      const http = { method: 'POST', path: '/v1/respond', headers }
      const wire: Wire = { http, argv: undefined, env: {}, steps, end: { why: 'closed' } }
      const made = translate([wire], { from: party('zene', 'clawrun'), to: 'canonical', of: 'client' })
      expect(linesIn(made.out)).toHaveLength(1)
      expect([made.losses, made.faults]).toEqual([[], []])
    }
  })
})
