import { type EventOf, type JsonText, parseObject } from '../../../../src/model/index.ts'
import { PROTOCOL } from '../../wire.ts'

/**
 * The output item of a server of this API that a foreign message is; undefined for every other one. An event of a server
 * has the numbers of that server's response, so it has no place in another one.
 */
export function foreignItem({ protocol, frame }: EventOf<'foreign'>): JsonText | undefined {
  const value = protocol === PROTOCOL ? parseObject(frame) : undefined
  return value && typeof value['id'] === 'string' && typeof value['type'] === 'string' ? frame : undefined
}
