import * as v from 'valibot'
import { type CallEnd, faultOfEnd } from '../../../src/contract/index.ts'
import { type Fault, fault, type Item, isRecord, type JsonText } from '../../../src/model/index.ts'
import type { TurnDecoder } from './turn.ts'

/** The result of reading a line: read, not of its shape, without a place, or the end of the whole wire. */
export type Outcome = 'read' | 'misfit' | 'stray' | Fault

/** Reads lines of one kind while a turn runs; `item` is what is lost when a line has not the shape of its kind. */
export interface Reader {
  item: Item
  read(turn: TurnDecoder, value: Record<string, unknown>, json: JsonText): Outcome
}

/** Makes the reader of the lines that a schema describes. */
export function reader<S extends v.GenericSchema>(
  item: Item,
  schema: S,
  read: (turn: TurnDecoder, message: v.InferOutput<S>, json: JsonText) => Outcome,
): Reader {
  return {
    item,
    read(turn, value, json) {
      const { success, output } = v.safeParse(schema, value)
      return success ? read(turn, output, json) : 'misfit'
    },
  }
}

/** The types of lines that only the shipped CLI writes. */
const SHIPPED: ReadonlySet<unknown> = new Set(['system', 'assistant', 'user', 'result', 'stream_event'])

/** True for a line of the dialect that shipped. */
export function isShipped({ type, request, response }: Record<string, unknown>): boolean {
  if (type === 'control_request') return isRecord(request)
  if (type === 'control_response') return isRecord(response) && typeof response['request_id'] === 'string'
  return SHIPPED.has(type)
}

/** The shipped CLI's refusal, on standard error, of a format that only the RFC has. */
const UNKNOWN_FORMAT = /Argument: (?:in|out)put-format, Given: "stream-chunk-json"/

/** The fault of an agent that speaks the shipped dialect, by its name in the configuration. */
export function shippedFault(agent: string): Fault {
  const text = `The agent "${agent}" speaks the dialect of the shipped CLI: set protocol: qwen-code for it.`
  return fault('protocol-violation', text)
}

/** The fault for the end of the agent's process; the shipped CLI does not start with the RFC's arguments. */
export function endFault(end: CallEnd, agent: string): Fault {
  return UNKNOWN_FORMAT.test(end.stderr ?? '') ? shippedFault(agent) : faultOfEnd(end)
}

/** The session that a line names: by its field, else by the id of a completion. */
export function sessionOf({ session_id: named, id }: Record<string, unknown>): string | undefined {
  if (typeof named === 'string' && named !== '') return named
  return typeof id === 'string' ? /^chatcmpl-(.+)$/.exec(id)?.[1] : undefined
}
