import * as v from 'valibot'
import { count, record } from '../../../src/codec-kit/index.ts'
import { isRecord } from '../../../src/model/index.ts'

/** The thinking that a request asks for. */
export interface Thinking {
  type: string
  budget_tokens?: number
}

const TYPES = ['adaptive', 'between_tools', 'disabled', 'enabled'] as const
const type = v.picklist(TYPES, `must be one of ${TYPES.join('|')}`)
const free = record({ type })
const budgeted = record({ type: v.literal('enabled'), budget_tokens: count })
/** The `thinking` member of a request. */
export const thinking: v.GenericSchema<unknown, Thinking> = v.lazy((given) =>
  isRecord(given) && given['type'] === 'enabled' ? budgeted : free,
)

/** The least tokens to think of an effort; fewer are a low one. */
const MEDIUM = 4096
const HIGH = 16_384

/** The effort that a number of tokens to think comes to; undefined where the model decides, or does not think. */
export function effortOf(said: Thinking | null | undefined): string | undefined {
  if (said?.budget_tokens === undefined) return undefined
  if (said.budget_tokens < MEDIUM) return 'low'
  return said.budget_tokens < HIGH ? 'medium' : 'high'
}
