import * as v from 'valibot'
import { maybe } from '../../../src/codec-kit/index.ts'

/** The thinking effort that a request asks for. */
export const thinking = v.looseObject(
  { type: v.string('must be a string'), budget_tokens: maybe(v.number('must be a number')) },
  'must be an object with a type',
)

/** The least tokens to think of an effort; fewer are a low one. */
const MEDIUM = 4096
const HIGH = 16_384

/** The effort that a number of tokens to think comes to; undefined where the model decides, or does not think. */
export function effortOf(said: v.InferOutput<typeof thinking> | null | undefined): string | undefined {
  if (said?.type !== 'enabled' || said.budget_tokens == null) return undefined
  if (said.budget_tokens < MEDIUM) return 'low'
  return said.budget_tokens < HIGH ? 'medium' : 'high'
}
