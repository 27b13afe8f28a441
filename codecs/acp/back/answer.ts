import * as v from 'valibot'
import { keysOf, type Report, unparsed } from '../../../src/codec-kit/index.ts'
import {
  type Ext,
  isRecord,
  type JsonText,
  member,
  members,
  rest,
  type Stop,
  type Usage,
} from '../../../src/model/index.ts'
import { Prompted } from '../schema.ts'
import { stopOf } from '../stops.ts'
import { readTurnUsage } from '../usage.ts'
import { entriesExt } from '../wire.ts'

/** The answer to a prompt. */
export interface PromptAnswer {
  stop: Stop
  usage: Usage | undefined
  ext: Ext | undefined
}

/** Reads the answer to a prompt, which ends its turn; `json` is the raw result. What cannot be read of it is a normal end. */
export function readAnswer(result: unknown, json: JsonText, report: Report): PromptAnswer {
  const { success, output } = v.safeParse(Prompted, result)
  const stop = success ? stopOf(output.stopReason) : 'end'
  if (!success || stop === undefined) report(unparsed(success ? 'end.stop' : 'turn-end'))
  return {
    stop: stop ?? 'end',
    usage: success ? readTurnUsage(output, report) : undefined,
    ext: isRecord(result) ? extOfResult(json) : undefined,
  }
}

const PROMPTED = keysOf(Prompted)

/** Members of the `_meta` of an answer that are read, or are a gateway's own. */
const READ_META: ReadonlySet<string> = new Set(['quota', 'turnpike'])

/** The members of an answer to a prompt that nothing else is made of. */
function extOfResult(json: JsonText): Ext | undefined {
  const others = members(rest(json, PROMPTED) ?? '{}').filter(([key]) => key !== '_meta')
  return entriesExt(others, { _meta: rest(member(json, '_meta') ?? '{}', READ_META) })
}
