import { messageLine } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import { type JsonText, object, quote } from '../../../src/model/index.ts'

/** Answers a control request of the client with this payload. */
export function writeSuccess(ports: FrontPorts, id: string, payload: JsonText): void {
  respond(ports, 'success', id, ['response', payload])
}

/** Answers a control request of the client with an error. */
export function writeError(ports: FrontPorts, id: string, message: string): void {
  respond(ports, 'error', id, ['error', quote(message)])
}

function respond(ports: FrontPorts, subtype: string, id: string, said: readonly [string, JsonText]): void {
  const response = object([['subtype', quote(subtype)], ['request_id', quote(id)], said])
  ports.send(
    messageLine([
      ['type', '"control_response"'],
      ['response', response],
    ]),
  )
}
