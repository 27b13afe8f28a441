import { type AnyCodec, hasBack, hasFront } from '../contract/index.ts'
import { encodeFrame } from '../framing/index.ts'
import type { Command, TurnEvent, TurnStart } from '../model/index.ts'
import { plainTurn } from './mirror.ts'
import { MirrorLoop } from './mirror-loop.ts'
import type { Written } from './output.ts'
import type { Party } from './party.ts'

/** The UTF-16 units of frames that are written again. */
const MOST_UNITS = 1_048_576

/** A frame that is written again; `seq` is the number of the event that it was written for. */
export interface WrittenFrame {
  /** `asked`: of who asks for a turn, a client or the gateway; `answered`: of who runs it. */
  of: 'asked' | 'answered'
  seq: number
  text: string
  cut?: true
}

/** The frames of a turn in the protocol of this name; `model` is that of JSON lines of the canonical model. */
export interface Reencoded {
  protocol: string
  frames: readonly WrittenFrame[]
}

/** A recorded turn: its request, and its events with their numbers. */
export interface RecordedTurn {
  command: Command & TurnStart
  events: readonly { seq: number; event: TurnEvent }[]
}

/**
 * Writes a recorded turn again in a protocol, as it may have been: its request by the protocol's back half, its answer
 * by the front half. A protocol without one of them, or that cannot express the request, is written as the model.
 */
export function reencode(turn: RecordedTurn, named: string, codecs: readonly AnyCodec[]): Reencoded {
  const party = partyOf(named, codecs)
  const frames = party && mirrored(turn, party)
  return party && frames ? { protocol: nameOf(party), frames } : { protocol: 'model', frames: asModel(turn) }
}

/** The dialect of this name if it has both halves, else the first of its codec that has. */
function partyOf(named: string, codecs: readonly AnyCodec[]): Party | undefined {
  const [name, dialect] = named.split('@') as [string, string | undefined]
  const codec = codecs.find((one) => one.name === name)
  if (!codec) return undefined
  const names = Object.keys(codec.dialects)
  const wanted = [dialect ?? names[0]!, ...names].find((one) => {
    const known = codec.dialects[one]
    return hasFront(known) && hasBack(known)
  })
  if (wanted === undefined) return undefined
  const options = codec.options.schema['~standard'].validate({})
  return { codec, dialect: wanted, options: 'value' in options ? options.value : {} }
}

function nameOf({ codec, dialect }: Party): string {
  return Object.keys(codec.dialects)[0] === dialect ? codec.name : `${codec.name}@${dialect}`
}

/** The frames that the two halves of a protocol exchange about the turn; undefined when they cannot. */
function mirrored({ command, events }: RecordedTurn, party: Party): WrittenFrame[] | undefined {
  const frames = new Frames()
  const loop = begun(party, command, frames) ?? begun(party, plainTurn(command), frames)
  if (!loop) return undefined
  for (const { seq, event } of events) {
    if (frames.full) break
    frames.seq = seq
    if (event.type !== 'turn-accepted') loop.event(event)
  }
  return frames.all
}

function begun(party: Party, command: Command & TurnStart, frames: Frames): MirrorLoop | undefined {
  frames.clear()
  const loop = new MirrorLoop(party, frames.written('asked'), frames.written('answered'))
  loop.open()
  return loop.start(command) ? loop : undefined
}

function asModel({ command, events }: RecordedTurn): WrittenFrame[] {
  const frames = new Frames()
  frames.add('asked', JSON.stringify(command))
  for (const { seq, event } of events) {
    frames.seq = seq
    frames.add('answered', JSON.stringify(event))
  }
  return frames.all
}

/** Frames as they are written, up to a number of units. */
class Frames {
  all: WrittenFrame[] = []
  /** The number of the event that frames are written for. */
  seq = 1
  #units = 0

  get full(): boolean {
    return this.#units > MOST_UNITS
  }

  clear(): void {
    this.all = []
    this.#units = 0
  }

  /** Takes what one side is sent. */
  written(of: WrittenFrame['of']): Written {
    return {
      frame: (frame, framing) => this.add(of, encodeFrame(framing, frame).trimEnd()),
      line: (value) => this.add(of, JSON.stringify(value)),
      loss() {},
    }
  }

  add(of: WrittenFrame['of'], text: string): void {
    if (this.full) return
    const left = MOST_UNITS - this.#units
    this.#units += text.length + 1
    if (text.length <= left) this.all.push({ of, seq: this.seq, text })
    else this.all.push({ of, seq: this.seq, text: text.slice(0, left), cut: true })
  }
}
