import * as v from 'valibot'
import { namedValues, text } from '../../../../src/codec-kit/index.ts'
import { type Fault, fault, parse } from '../../../../src/model/index.ts'
import type { Variables } from './request.ts'

/** The body of a request over HTTP: an object of strings. */
const bodySchema = namedValues(text)

/** The AGENT_ variables of a body, or the reason why there are none. */
export function variablesOf(body: string): { variables: Variables } | { refused: Fault } {
  const { success, output, issues } = v.safeParse(bodySchema, parse(body))
  if (success) return { variables: output }
  const key = issues[0].path?.[0]?.key
  const what =
    key === undefined ? 'The body must be a JSON object of' : `The value of ${String(key)} is no string; send`
  return { refused: fault('invalid-request', `${what} AGENT_ variables as strings, such as {"AGENT_MESSAGE":"hi"}.`) }
}
