/** Plays a case to the link that it is for, as a gateway would, and judges all that the link says. */
import { StringDecoder } from 'node:string_decoder'
import { type Frame, type Framing, frameText } from '../../src/contract/index.ts'
import { frameDecoder } from '../../src/framing/index.ts'
import { Broken, must } from './checks.ts'
import { AgentStage } from './play-back.ts'
import { ClientStage } from './play-front.ts'
import type { Case, Target } from './targets.ts'

/** Units that a frame may have here. */
const LIMIT = 4 * 1024 * 1024

/** One link on its way through a case. */
export interface Stage {
  /** How the text of its wire is framed. */
  readonly framing: Framing
  /** All that it has said, in order. */
  readonly said: readonly string[]
  open(): void
  frame(frame: Frame): void
  /** The boundary of the frames is lost, or there is no more. */
  end(lost: boolean): void
}

/** Plays the case with its bytes in chunks that end at `cuts`; what was said. Throws `Broken`. */
export function play(target: Target, one: Case, cuts: readonly number[] = []): readonly string[] {
  const stage: Stage = target.half === 'back' ? new AgentStage(target, one) : new ClientStage(target, one)
  try {
    run(stage, one.wire, cuts)
  } catch (error) {
    if (error instanceof Broken) throw error
    throw new Broken('nothing is thrown', error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  return stage.said
}

/** Plays the case whole, and cut: both must say the same. Throws `Broken`. */
export function judge(target: Target, one: Case, cuts: readonly number[]): readonly string[] {
  const whole = play(target, one)
  const cut = play(target, one, cuts)
  const at = whole.findIndex((line, index) => line !== cut[index])
  must(
    'any split of the bytes says the same',
    at < 0 && whole.length === cut.length,
    () => `${whole[at]} and ${cut[at]}`,
  )
  return whole
}

function run(stage: Stage, wire: Buffer, cuts: readonly number[]): void {
  stage.open()
  let lost = false
  const decoder = frameDecoder(stage.framing, LIMIT, {
    frame: (frame) => stage.frame(frame),
    fault: () => {
      lost = true
      stage.end(true)
    },
  })
  const bytes = new StringDecoder('utf8')
  const marks = [0, ...cuts.filter((cut) => cut <= wire.length).sort((a, b) => a - b), wire.length]
  for (let at = 1; at < marks.length; at += 1) decoder.push(bytes.write(wire.subarray(marks[at - 1], marks[at])))
  decoder.push(bytes.end())
  if (lost) return
  decoder.end()
  stage.end(false)
}

/** A frame as it is noted. */
export function noted(frame: Frame): string {
  return typeof frame === 'string' ? frame : JSON.stringify({ ...frame, data: frameText(frame) })
}
