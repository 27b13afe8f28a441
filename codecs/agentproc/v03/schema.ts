import * as v from 'valibot'
import { parse } from '../../../src/model/index.ts'
import { unknownExt } from '../ext.ts'
import { type AgentLine, type ReadLine, readLine as readLine04, unpadded } from '../v04/schema.ts'

const text = v.fallback(v.string(), '')
const bodySchema = v.variant('type', [
  v.looseObject({ type: v.literal('text'), text }),
  v.looseObject({ type: v.literal('session'), id: text }),
])

/** One event of an agent of wire 0.3: those of 0.4 but the result, a piece of the reply's body, and the session's id. */
export type AgentLine03 = Exclude<AgentLine, { type: 'result' }> | v.InferOutput<typeof bodySchema>

/** An event of an agent and the members of its line that have no place in the model. */
export interface ReadLine03 {
  event: AgentLine03
  ext: ReadLine['ext']
}

const KNOWN = { text: new Set(['type', 'text']), session: new Set(['type', 'id']) }

/** Reads an agent's line; undefined when it is no event of this wire. */
export function readLine(line: string): ReadLine03 | undefined {
  const read = readLine04(line)
  if (read) return read.event.type === 'result' ? undefined : { event: read.event, ext: read.ext }
  const json = unpadded(line)
  const { success, output } = v.safeParse(bodySchema, parse(json))
  return success ? { event: output, ext: unknownExt(json, output, KNOWN[output.type]) } : undefined
}
