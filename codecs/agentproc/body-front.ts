import { dropped, isLineType } from '../../src/codec-kit/index.ts'
import {
  type Frame,
  type Framing,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
  type InputFate,
} from '../../src/contract/index.ts'
import { type Fault, fault, type Id, type Item, type TurnEvent, type TurnView } from '../../src/model/index.ts'
import { V01Front } from './v01/front/index.ts'
import { TypedFront } from './v04/front/index.ts'
import { type Version, wireOfTurn } from './versions.ts'

/**
 * The link of a body, whose shape says which wire it is: a turn object is 0.4, or 0.3 when it names that; AGENT_ variables
 * (and whatever else) are 0.1. The endpoint declares what 0.4 carries; what the others cannot carry of that is a loss
 * found here.
 */
export class BodyFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  #link: FrontLink | undefined
  #version: Version = '0.4'

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
  }

  get framing(): Framing {
    return this.#version === '0.1' ? 'text' : 'ndjson'
  }

  decode(frame: Frame): void {
    const link = this.#chosen(frameText(frame))
    const type = this.#context.headers['content-type']
    if (isLineType(type)) link.decode(frame)
    else {
      const text = 'The body must be JSON; send `Content-Type: application/json`.'
      this.#ports.fault(fault('invalid-request', text), 'ends', undefined, 415)
    }
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    if (event.type === 'turn-end') this.#reportUnshown(exchange, view)
    this.#link?.encode(event, exchange, view)
  }

  encodeFault(found: Fault, exchange: Id | undefined, input: InputFate): void {
    this.#chosen('').encodeFault(found, exchange, input)
  }

  keepAlive(): void {
    this.#link?.keepAlive?.()
  }

  #chosen(body: string): FrontLink {
    if (this.#link) return this.#link
    const version = wireOfTurn(body)
    this.#version = version ?? '0.1'
    this.#link = version
      ? new TypedFront(version, this.#context, this.#ports)
      : new V01Front(this.#context, this.#ports)
    return this.#link
  }

  /** Reports the parts of a turn that its wire has no place for. */
  #reportUnshown(exchange: Id, { usage, messages }: TurnView): void {
    const unshown: Item[] = usage && this.#version !== '0.4' ? ['usage'] : []
    if (this.#version === '0.1' && messages.some(({ reasoning }) => reasoning !== '')) unshown.push('reasoning-delta')
    for (const item of unshown) this.#ports.report(dropped(item), exchange)
  }
}
