import * as v from 'valibot'

const NOT_BLANK = /\S/

/** A field that must be a string with more than white space in it; missing, null and blank are one error. */
export function notBlank(message: string) {
  return v.pipe(v.nullish(v.string(message), ''), v.regex(NOT_BLANK, message))
}

/** A string that may be absent or null. */
function optional(field: string) {
  return v.nullish(v.string(`${field} must be a string`))
}

const milliseconds = 'timeout_ms must be a number of milliseconds, zero or more'

/** A request to run a prompt. `protocol_version` and `type` are checked before. */
export const runSchema = v.looseObject({
  request_id: notBlank('run request requires non-empty request_id'),
  session_id: notBlank('run request requires non-empty session_id'),
  prompt: notBlank('run request requires non-empty prompt'),
  channel_id: optional('channel_id'),
  agent: optional('agent'),
  timeout_ms: v.nullish(v.pipe(v.number(milliseconds), v.finite(milliseconds), v.minValue(0, milliseconds))),
  idempotency_key: optional('idempotency_key'),
  stream: v.nullish(v.boolean('stream must be true or false')),
})

const noTarget = 'cancel request requires target_request_id or cancel_request_id'

/** A request to cancel a run. The first of the two spellings that is not null counts. */
export const cancelSchema = v.pipe(
  v.looseObject({ target_request_id: v.nullish(v.string(noTarget)), cancel_request_id: v.nullish(v.string(noTarget)) }),
  v.transform((request) => request.target_request_id ?? request.cancel_request_id ?? ''),
  v.regex(NOT_BLANK, noTarget),
)

/** A request to forget a session; without a session it does nothing, which is no error. */
export const closeSchema = v.looseObject({ session_id: v.nullish(v.string('session_id must be a string'), '') })

const text = v.nullish(v.string())

/** The flat answer of bridge-compatible mode. */
export const flatSchema = v.looseObject({
  ok: v.boolean(),
  text,
  error_code: text,
  error_message: text,
  usage: v.optional(v.unknown()),
})

const errorObject = v.looseObject({ code: v.string(), message: text, retryable: v.nullish(v.boolean()) })

/** The last line of a run in protocol shape. */
export const finalSchema = v.looseObject({
  status: v.picklist(['OK', 'ERROR', 'TIMEOUT', 'CANCELED']),
  text,
  usage: v.optional(v.unknown()),
  error: v.nullish(errorObject),
})

/** A request that ended before it ran, in protocol shape. */
export const errorSchema = v.looseObject({ error: errorObject })

/** Accepted, answered or refused without an end: the first word about a request. */
export const ackSchema = v.looseObject({ status: v.string() })

/** An event of a run. */
export const eventSchema = v.looseObject({ event_type: v.string(), payload: v.optional(v.unknown()) })

/** The codec's own keys of an agent's configuration. */
export const optionsSchema = v.object({
  /** `oneshot`: a process for every turn. `stream`: one process for the session. */
  mode: v.optional(v.picklist(['oneshot', 'stream'], 'mode must be oneshot or stream'), 'oneshot'),
})

/** Validated options of a Zene agent. */
export type Options = v.InferOutput<typeof optionsSchema>
