import * as v from 'valibot'
import { notBlank } from '../schema.ts'

function required(field: string) {
  return notBlank(`${field} must be a string that is not blank`)
}

/** The body of `POST /v1/respond`. A blank system prompt counts as absent. */
export const respondSchema = v.looseObject({
  agent: required('agent'),
  prompt: required('prompt'),
  channel_id: required('channel_id'),
  session_id: required('session_id'),
  system_prompt: v.nullish(v.string('system_prompt must be a string')),
})
