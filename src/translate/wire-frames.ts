import type { CallHead, Frame, Framing } from '../contract/index.ts'
import { type FrameDecoder, frameDecoder } from '../framing/index.ts'
import type { Fault } from '../model/index.ts'
import { framingOfAnswer, framingOfText } from './framing.ts'
import type { Wire } from './recording.ts'

/** Takes the frames of a wire, in the order in which they were recorded. */
export interface WireReader {
  /** A frame of the client. */
  asked(frame: Frame): void
  /** The client's input has ended. */
  askedAll(): void
  /** The head of the agent's HTTP answer. */
  head(head: CallHead): void
  /** A frame of the agent. */
  said(frame: Frame): void
  /** A frame that cannot be read. */
  fault(fault: Fault): void
}

/** Reads the steps of a wire as frames; a client that wrote nothing has ended its input at the beginning. */
export function readFrames({ steps }: Wire, framing: Framing, reader: WireReader): void {
  const decoder = (of: Framing, frame: (frame: Frame) => void): FrameDecoder =>
    frameDecoder(of, Number.MAX_SAFE_INTEGER, { frame, fault: (fault) => reader.fault(fault) })
  const agentDecoder = (of: Framing): FrameDecoder => decoder(of, (frame) => reader.said(frame))
  const client = decoder(framing, (frame) => reader.asked(frame))
  const endClient = (): void => {
    client.end()
    reader.askedAll()
  }
  if (!steps.some(({ who }) => who === 'client')) endClient()
  let agent: FrameDecoder | undefined
  for (const step of steps) {
    if (step.who === 'client') {
      if (step.text === undefined) endClient()
      else client.push(step.text)
    } else if ('head' in step) {
      agent = agentDecoder(framingOfAnswer(step.head, framing))
      reader.head(step.head)
    } else {
      agent ??= agentDecoder(framingOfText(step.text, framing))
      agent.push(step.text)
    }
  }
  agent?.end()
}
