import { codec } from '../../../../codecs/agentproc/index.ts'
import type { TurnEvent } from '../../../../src/model/index.ts'
import { driveFront, type FrontDrive } from '../../../kit/drive.ts'

/** A stand-in that was given this turn. */
export function given(turn: Record<string, unknown> | string): FrontDrive {
  const front = driveFront(codec, { dialect: '0.4' })
  front.feed(typeof turn === 'string' ? turn : JSON.stringify({ type: 'turn', ...turn }))
  return front
}

/** The lines of an answer to a plain turn object. */
export function play(...events: TurnEvent[]): FrontDrive {
  const front = given({ message: 'hi' })
  front.play(events)
  return front
}
