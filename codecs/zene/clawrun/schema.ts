import * as v from 'valibot'

function required(field: string) {
  const message = `${field} must be a string that is not blank`
  return v.pipe(v.nullish(v.string(message), ''), v.regex(/\S/, message))
}

/** The body of `POST /v1/respond`. A blank system prompt counts as absent. */
export const respondSchema = v.looseObject({
  agent: required('agent'),
  prompt: required('prompt'),
  channel_id: required('channel_id'),
  session_id: required('session_id'),
  system_prompt: v.nullish(v.string('system_prompt must be a string')),
})

/** Members that the model has a place for. */
export const KNOWN: ReadonlySet<string> = new Set(['agent', 'prompt', 'channel_id', 'session_id', 'system_prompt'])
