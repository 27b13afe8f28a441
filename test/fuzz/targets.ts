/** Every half of every dialect, found through the list of codecs, and the wires of its samples. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadCodecs } from '../../codecs/index.ts'
import type { AnyCodec, BackContext, CallEnd, Dialect, FrontContext } from '../../src/contract/index.ts'
import { encodeFrame } from '../../src/framing/index.ts'
import type { TurnEvent, TurnStart } from '../../src/model/index.ts'

const CODECS = join(import.meta.dirname, '../../codecs')

/** One half of a dialect. */
export interface Target {
  /** Such as `zot/v1 back`. */
  name: string
  codec: AnyCodec
  dialect: Dialect
  half: 'front' | 'back'
}

/** What one link goes through. All but the wire may be absent. */
export interface Case {
  target: string
  wire: Buffer
  /** Of a back: its options and the rest of its context. Of a front: its transport, arguments, environment, headers. */
  context?: Partial<BackContext<unknown>> & Partial<FrontContext>
  start?: Partial<TurnStart>
  /** How the agent's wire ends. */
  end?: CallEnd
  /** The head of an agent's answer over HTTP. */
  head?: { status: number; headers: Record<string, string> }
  /** What a client is shown. */
  turn?: TurnEvent[]
  /** What is said to an agent once it has written so many frames. */
  acts?: { at: number; act: Act }[]
}

/** Something that happens to an agent while it works. */
export type Act = 'cancel' | 'steer' | 'reply' | 'query' | 'foreign'

/** Those that a case is made of. */
export const ACTS: readonly Act[] = ['cancel', 'steer', 'reply', 'query', 'foreign']

interface Setup extends Omit<Partial<Case>, 'context' | 'end'>, Partial<BackContext<unknown>> {
  half?: 'back' | 'front'
  dialect?: string
  context?: Partial<FrontContext>
  end?: CallEnd | null
}

/** All halves, each dialect once. */
export async function allTargets(): Promise<Target[]> {
  const seen = new Set<Dialect>()
  const found: Target[] = []
  for (const codec of Object.values(await loadCodecs())) {
    for (const [name, dialect] of Object.entries(codec.dialects)) {
      if (seen.has(dialect)) continue
      seen.add(dialect)
      for (const half of ['front', 'back'] as const) {
        if (dialect[half]) found.push({ name: `${codec.name}/${name} ${half}`, codec, dialect, half })
      }
    }
  }
  return found
}

/** The cases that the samples of a target and its endpoints make; at least one. */
export async function seedsOf(target: Target): Promise<Case[]> {
  const seeds: Case[] = []
  for (const folder of readdirSync(CODECS, { withFileTypes: true })) {
    if (!folder.isDirectory()) continue
    const { codec } = (await import(join(CODECS, folder.name, 'index.ts'))) as { codec: AnyCodec }
    for (const file of readdirSync(join(CODECS, folder.name), { recursive: true, encoding: 'utf8' })) {
      if (file.endsWith('.wire')) seeds.push(...seedsIn(target, codec, join(CODECS, folder.name, file)))
    }
  }
  if (target.half === 'front') seeds.push(...endpointSeeds(target, seeds))
  return seeds.length > 0 ? seeds : [{ target: target.name, wire: Buffer.from('{}\n') }]
}

function seedsIn({ name, dialect, half }: Target, codec: AnyCodec, file: string): Case[] {
  const base = file.slice(0, -'.wire'.length)
  const setup = (
    existsSync(`${base}.setup.json`) ? JSON.parse(readFileSync(`${base}.setup.json`, 'utf8')) : {}
  ) as Setup
  if (codec.dialects[setup.dialect ?? Object.keys(codec.dialects)[0]!] !== dialect) return []
  const { half: own = 'back', dialect: _dialect, start, end, turn, context, ...backContext } = setup
  if (own === half) {
    const seed: Case = {
      target: name,
      wire: readFileSync(file),
      context: own === 'front' ? { ...context } : backContext,
    }
    return [{ ...seed, ...(start && { start }), ...(end && { end }), ...(turn && { turn }) }]
  }
  // What a front of this dialect wrote is what an agent of it could have.
  return half === 'back' ? [spoken(name, dialect, readFileSync(`${base}.out`, 'utf8'))] : []
}

function spoken(target: string, dialect: Dialect, out: string): Case {
  const frames = out.split('\n').slice(0, -1)
  if (!frames[0]?.startsWith('{"data":') && !frames[0]?.startsWith('{"event":')) {
    return { target, wire: Buffer.from(dialect.framing === 'body' ? out.trimEnd() : out) }
  }
  const events = frames.map((frame) => encodeFrame('sse', JSON.parse(frame) as { data: string }))
  return {
    target,
    wire: Buffer.from(events.join('')),
    head: { status: 200, headers: { 'content-type': 'text/event-stream' } },
  }
}

/** The same wires over HTTP, and every endpoint without one. */
function endpointSeeds({ name, codec, dialect }: Target, seeds: readonly Case[]): Case[] {
  const [first] = Object.keys(codec.dialects)
  const own = codec.endpoints.filter((endpoint) => codec.dialects[endpoint.dialect ?? first!] === dialect)
  return own.flatMap(({ method, path }) => {
    const params = Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, key]) => [key!, 'x1']))
    const context = {
      transport: 'http' as const,
      method,
      path,
      params,
      headers: { 'content-type': 'application/json' },
    }
    const wires = seeds.filter((seed) => seed.context?.transport !== 'http')
    return [
      { target: name, wire: Buffer.from(''), context },
      ...wires.map((seed) => ({ ...seed, context: { ...seed.context, ...context } })),
    ]
  })
}
