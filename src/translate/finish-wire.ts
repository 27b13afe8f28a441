import type { AnyCodec, Dialect, Frame } from '../contract/index.ts'
import { frontsOf, type Started, stdioContext, takenBy } from '../engine/replay/index.ts'
import { frameDecoder } from '../framing/index.ts'
import { type ErrorCode, fault } from '../model/index.ts'
import { Output } from './output.ts'
import { frontOf, type Party } from './party.ts'
import type { Wire, WireStep } from './recording.ts'
import type { Translation } from './translation.ts'
import { WirePlayer } from './wire-player.ts'

/** A stand-in whose gateway went away: its start, and its wire until then. */
export interface OrphanedStandIn extends Started {
  codec: AnyCodec
  /** The codec's validated default options of an agent. */
  options: unknown
  steps: readonly WireStep[]
  /** The gateway's id of the wire; its ids begin with it. */
  link: string
  /** The time, in milliseconds since the epoch. */
  now: number
  /** The client has the output of its front until then; otherwise that is part of the rest. */
  written: boolean
}

/** The rest of a wire. `exitCode` is absent when the protocol leaves the wire open. */
export interface FinishedWire {
  out: string
  /** Lines for the program's stderr. */
  warned: readonly string[]
  /** Something that the client asked had no end yet, and has it now. */
  ended: boolean
  exitCode?: number
}

/**
 * Finishes the wire of a stand-in whose gateway is gone: ends every open request with this error, in the client's own
 * protocol, and adds nothing else. The dialect's front half reads the client's input again, and its back half the
 * earlier output, so that both reach the state of the gateway.
 */
export function finishWire(
  { codec, options, argv, env, steps, link, now, written }: OrphanedStandIn,
  code: ErrorCode,
  message: string,
): FinishedWire {
  const why = fault(code, message)
  const party = partyOf(codec, options, steps, { argv, env })
  if (!party) return { out: '', warned: [], ended: false }
  const known = stdioContext(frontOf(party), { argv, env }).env
  const wire: Wire = { http: undefined, argv, env: known, steps, end: { why: 'failed', fault: why } }
  const how: Translation = { from: party, to: party, of: 'agent' }
  const before = new WirePlayer(wire, { ...how, to: 'canonical' }, new Output(), [])
  before.play()
  const output = new Output()
  const broken = { fault: why, written, now, idPrefix: `${link}-` }
  const run = new WirePlayer(wire, how, output, before.sessions, broken)
  const ended = run.play()
  const { out, warned } = output
  return { out, warned, ended, ...(run.exitCode !== undefined && { exitCode: run.exitCode }) }
}

/** The dialect of the client; undefined when its output cannot be read. */
function partyOf(codec: AnyCodec, options: unknown, steps: readonly WireStep[], started: Started): Party | undefined {
  const fronts = frontsOf(codec)
  const first = firstFrame(fronts[0]?.[1], steps)
  const early = takenBy(fronts, undefined, started)
  // A dialect with `peekMs` is only accepted after the first frame, or without one.
  const taken = early && early[1].front.peekMs === undefined ? early : takenBy(fronts, first ?? '', started)
  return taken?.[1].back && { codec, dialect: taken[0], options }
}

function firstFrame(dialect: Dialect | undefined, steps: readonly WireStep[]): Frame | undefined {
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
