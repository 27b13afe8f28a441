import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import type { AnyCodec } from '../../src/contract/index.ts'
import type { AgentEvent, Loss } from '../../src/model/index.ts'
import { type Party, plainWire, type Translated, translate, type Wire } from '../../src/translate/index.ts'
import { linesOf, type Recording, recordedFile, recordings } from '../kit/recordings.ts'
import { type Heard, type Line, linesIn, type Normalisation, normalised } from './normal.ts'
import { type Held, losses, nameOf } from './present.ts'
import { named, SHELVES, type Shelf, SURPRISES, wiresOf } from './shelves.ts'

/**
 * Every recorded wire: it is understood, stays itself when its own protocol is on both sides,
 * but for what the README of the codec lists, and reaches every other protocol with the losses that are predicted.
 */

const codecs: Record<string, AnyCodec> = {}
beforeAll(async () => Object.assign(codecs, await loadCodecs()))

function party(protocol: string, dialect: string | undefined, options: Record<string, unknown> = {}): Party {
  const codec = codecs[protocol]!
  const checked = codec.options.schema['~standard'].validate(options)
  if (checked instanceof Promise || checked.issues) throw new Error(`bad options for ${protocol}`)
  return { codec, dialect: dialect ?? Object.keys(codec.dialects)[0]!, options: checked.value }
}

function translated(
  shelf: Shelf,
  recording: Recording,
  wires: readonly Wire[],
  to: 'canonical' | 'itself' | Party,
): Translated {
  const { args } = recording
  const from = party(shelf.protocol, shelf.dialect, shelf.options?.(recording))
  return translate(wires, {
    from,
    to: to === 'itself' ? from : to,
    of: 'agent',
    ...(args.length > 0 && { argv: args }),
  })
}

/** What a recording says in the canonical model. */
interface Read extends Held {
  events: readonly AgentEvent[]
  faults: Translated['faults']
}

const known = new Map<Recording, Read>()

/** Every test of a recording begins with this: it is translated once. */
function readOf(shelf: Shelf, recording: Recording): Read {
  const before = known.get(recording)
  if (before) return before
  const { out, losses, faults } = translated(shelf, recording, wiresOf(shelf, recording), 'canonical')
  const events = linesIn(out).map((line) => JSON.parse(line) as AgentEvent)
  const read = { events, losses, faults, asksModel: recording.args.includes('--model') }
  known.set(recording, read)
  return read
}

/** What the agent wrote on a wire. */
function agentText({ http, steps }: Wire): string {
  return steps.map((step) => (step.who === 'agent' && 'text' in step ? step.text + (http ? '\n' : '') : '')).join('')
}

describe.each(SHELVES)('recordings of $folder', (shelf) => {
  const all = recordings(shelf.folder).filter(({ file }) => !shelf.skip.test(file))

  test('are there', () => {
    expect(all.length).toBeGreaterThan(40)
  })

  test.each(all)('$file is understood, and each of its turns ends once', (recording) => {
    const { events, losses } = readOf(shelf, recording)
    const turns = [...new Set(events.flatMap(({ turn }) => turn ?? []))]
    const ends = events.filter(({ type }) => type === 'turn-end').map(({ turn }) => turn)
    expect([...ends].sort()).toEqual([...turns].sort())
    if (recording.brokenOnPurpose || recording.textMode) return
    expect(losses.filter(({ kind }) => kind === 'unparsed')).toEqual([])
  })

  test.each(all.filter(isWhole))('$file stays itself', (recording) => {
    const reason = named(shelf.differ, recording)
    const wires = comparedWithItself(shelf, recording)
    if (reason === undefined) for (const { written, read } of wires) expect(written).toEqual(read)
    else
      expect(
        wires.map(({ written }) => written),
        reason,
      ).not.toEqual(wires.map(({ read }) => read))
    if (reason === undefined) for (const { lost, listed } of wires) expect(lost).toEqual(listed)
  })

  test('nothing is taken for the same that the README of the codec does not list', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../codecs', shelf.readme, 'README.md'), 'utf8')
    const text = readme.replace(/\s+/g, ' ')
    expect(shelf.normal.filter(({ says }) => !text.includes(says)).map(({ says }) => says)).toEqual([])
  })

  test('nothing is taken for the same in vain', () => {
    const used = new Set(
      all.filter(isWhole).flatMap((one) => comparedWithItself(shelf, one).flatMap(({ used }) => used)),
    )
    expect(shelf.normal.filter((one) => !used.has(one)).map(({ says }) => says)).toEqual([])
  })

  test.each(TARGETS.filter(([name, dialect]) => name !== shelf.protocol || dialect !== shelf.dialect))(
    'all of them reach %s@%s, and lose what is predicted of what they hold',
    (name, dialect, options = {}) => {
      const target = party(name, dialect, options)
      const { front } = target.codec.dialects[dialect]!
      const { back } = codecs[shelf.protocol]!.dialects[shelf.dialect]!
      for (const recording of all) {
        const read = readOf(shelf, recording)
        const made = translated(shelf, recording, wiresOf(shelf, recording), target)
        expect(made.faults, recording.file).toEqual(read.faults)
        expect(made.out === '', recording.file).toBe(!read.events.some(({ type }) => type === 'turn-end'))
        const reader = `${name}@${dialect}`
        const surprise = SURPRISES[`${recording.file} → ${reader}`]?.losses ?? []
        const expected = new Set([...losses(reader, front!.capabilities, back!.capabilities, read), ...surprise])
        const observed = new Set(made.losses.filter(isOfTurns).map(nameOf))
        expect([...observed].sort(), recording.file).toEqual([...expected].sort())
      }
    },
    SLOW_MS,
  )
})

/** A wire as its own protocol writes it again, beside itself. */
interface Compared {
  written: readonly Line[]
  read: readonly Line[]
  lost: readonly string[]
  listed: readonly string[]
  /** What they were normalised by. */
  used: readonly Normalisation[]
}

const compared = new Map<Recording, readonly Compared[]>()

/** The wires of a recording, compared once. */
function comparedWithItself(shelf: Shelf, recording: Recording): readonly Compared[] {
  const before = compared.get(recording)
  if (before) return before
  const wires = wiresOf(shelf, recording).map((wire): Compared => {
    const { out, losses } = translated(shelf, recording, [wire], 'itself')
    const heard: Heard = { read: shelf.read(agentText(wire)), end: wire.end, args: recording.args }
    const used = new Set<Normalisation>()
    return {
      written: normalised(shelf.normal, shelf.read(out), heard, used),
      read: normalised(shelf.normal, heard.read, heard, used),
      lost: losses.map((loss) => `${nameOf(loss)} ${loss.count}`).sort(),
      listed: [...shelf.loses(recording, heard)].sort(),
      used: [...used],
    }
  })
  compared.set(recording, wires)
  return wires
}

/** A hundred recordings take their time on a busy machine. */
const SLOW_MS = 60_000

/** Every dialect that has clients, with what an agent of it is set to. */
const TARGETS: [protocol: string, dialect: string, options?: Record<string, unknown>][] = [
  ['zene', 'host'],
  ['zot', 'rpc'],
  ['openharness', 'v1'],
  ['agentproc', '0.1'],
  ['agentproc', '0.4', { permission: true }],
  ['qwen', 'rfc'],
  ['qwen-code', 'code'],
  ['native', 'lines'],
]

/** Not what a recorded client asked beside its turns: the other protocol's client did not, and so is not answered. */
function isOfTurns({ item, why }: Loss): boolean {
  return item !== 'command-reply' || why !== 'unknown'
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

describe('recordings of clients of zene', () => {
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
