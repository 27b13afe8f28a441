import type { AnyCodec, Dialect, Frame } from '../contract/index.ts'
import { frontsOf, type Started, stdioContext, takenBy } from '../engine/replay/index.ts'
import { frameDecoder } from '../framing/index.ts'
import { type ErrorCode, fault } from '../model/index.ts'
import { Output } from './output.ts'
import { frontOf, type Party } from './party.ts'
import type { Step, Wire } from './recording.ts'
import { Run } from './run.ts'
import type { Translation } from './translation.ts'

/** A stand-in whose gateway went away: how it was started, and what was said on its wire until then. */
export interface Orphan extends Started {
  codec: AnyCodec
  /** The codec's options of an agent that nothing was configured of, validated. */
  options: unknown
  steps: readonly Step[]
  /** The gateway's id of the wire; its ids begin with it. */
  link: string
  /** The time, in milliseconds since the epoch. */
  now: number
  /** The client has what its front wrote until then; else that is part of what is still to be said. */
  written: boolean
}

/** What is still to be said. `exitCode` is absent when the protocol leaves the wire open. */
export interface LastWords {
  out: string
  /** Something that the client asked had no end yet, and has it now. */
  ended: boolean
  exitCode?: number
}

/**
 * What a stand-in still has to say when its gateway is gone: an end with this error for everything that its client asked and
 * that has none yet, in the client's own protocol, and nothing more. The dialect's front half reads again what the
 * client wrote, and its back half what the client was told, so that both stand where the gateway stood.
 */
export function lastWords(
  { codec, options, argv, env, steps, link, now, written }: Orphan,
  code: ErrorCode,
  message: string,
): LastWords {
  const why = fault(code, message)
  const party = partyOf(codec, options, steps, { argv, env })
  if (!party) return { out: '', ended: false }
  const known = stdioContext(frontOf(party), { argv, env }).env
  const wire: Wire = { http: undefined, argv, env: known, steps, end: { why: 'failed', fault: why } }
  const how: Translation = { from: party, to: party, of: 'agent' }
  const before = new Run(wire, { ...how, to: 'canonical' }, new Output(), [])
  before.play()
  const output = new Output()
  let ids = 0
  const broken = { fault: why, written, now, newId: () => `${link}-${++ids}` }
  const run = new Run(wire, how, output, before.sessions, broken)
  const ended = run.play()
  return { out: output.out, ended, ...(run.exitCode !== undefined && { exitCode: run.exitCode }) }
}

/** Who the client spoke to; undefined when nobody can say what it was told. */
function partyOf(codec: AnyCodec, options: unknown, steps: readonly Step[], started: Started): Party | undefined {
  const fronts = frontsOf(codec)
  const first = firstFrame(fronts[0]?.[1], steps)
  const untold = takenBy(fronts, undefined, started)
  // A dialect that waits for stdin to contradict it is only taken when that did not.
  const told = untold && untold[1].front.peekMs === undefined ? untold : takenBy(fronts, first ?? '', started)
  return told?.[1].back && { codec, dialect: told[0], options }
}

function firstFrame(dialect: Dialect | undefined, steps: readonly Step[]): Frame | undefined {
  if (!dialect) return undefined
  const frames: Frame[] = []
  const decoder = frameDecoder(dialect.framing, Number.MAX_SAFE_INTEGER, {
    frame: (frame) => frames.push(frame),
    fault() {},
  })
  for (const step of steps) if (step.who === 'client' && step.text !== undefined) decoder.push(step.text)
  decoder.end()
  return frames[0]
}
