import type { FrontContext, FrontLink, FrontPorts, InputFate } from '../../../../src/contract/index.ts'
import { type Fault, type Id, type LinkEvent, object, quote } from '../../../../src/model/index.ts'
import { errorBody } from '../../errors.ts'
import { responseOf } from '../ids.ts'
import { unknownResponse, WHOLE } from './stored.ts'

/** A client of `DELETE /v1/responses/:response`: the turn of the response is forgotten, with its other responses. */
export class DeleteFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
  }

  decode(): void {
    const ref = responseOf(this.#context.params!['response']!)
    if (ref?.stored) this.#ports.command({ exchange: this.#ports.newId(), type: 'turn-delete', id: ref.turn }, WHOLE)
    else this.#ports.fault(unknownResponse(this.#context), 'continues')
  }

  encode(): void {}

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    if (event.fault) this.encodeFault(event.fault, event.exchange, 'continues')
    else {
      const id = quote(this.#context.params!['response']!)
      this.#ports.send(
        object([
          ['id', id],
          ['object', '"response"'],
          ['deleted', 'true'],
        ]),
      )
    }
  }

  encodeFault(found: Fault, _exchange: Id | undefined, _input: InputFate): void {
    this.#ports.send(errorBody(found.code === 'session-not-found' ? unknownResponse(this.#context) : found))
  }
}
