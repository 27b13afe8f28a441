import * as v from 'valibot'
import { furtherMembers, hasFurther, looseObject } from '../../../../src/codec-kit/index.ts'
import { type JsonText, member } from '../../../../src/model/index.ts'
import { CALL } from '../read-messages.ts'

const maybe = <const S extends v.GenericSchema>(schema: S) => v.nullish(schema)

/** A piece of a tool call. The first one has its id and name; some servers leave out the id, or the index. */
export interface CallPiece {
  index?: number
  id?: string
  name?: string
  args: string
  /** Members that only servers and clients of this API know. */
  further?: JsonText
}

/** A call as it is on the wire, or a piece of one. */
export const CallSchema = looseObject({
  index: maybe(v.number()),
  id: maybe(v.string()),
  function: maybe(looseObject({ name: maybe(v.string()), arguments: maybe(v.union([v.string(), looseObject({})])) })),
  custom: maybe(looseObject({ name: maybe(v.string()), input: maybe(v.string()) })),
})

/** Reads a piece of a call; `raw` gives it as it came. */
export function readPiece(call: v.InferOutput<typeof CallSchema>, raw: () => JsonText): CallPiece {
  const { index, id, function: called, custom } = call
  const name = called?.name ?? custom?.name
  const args = called?.arguments
  return {
    ...(index != null && { index }),
    ...(id && { id }),
    ...(name && { name }),
    // Some servers send arguments as an object.
    args: typeof args === 'object' && args !== null ? rawArguments(raw()) : (args ?? custom?.input ?? ''),
    ...(hasFurther(call, CALL) && { further: furtherMembers(raw(), call, CALL)! }),
  }
}

function rawArguments(call: JsonText): JsonText {
  return member(member(call, 'function')!, 'arguments')!
}
