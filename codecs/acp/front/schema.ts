/** Requests of clients, as far as they are read: loose objects, so that later versions may add to them. */
import * as v from 'valibot'

/** An object; later versions may have more members. */
const loosely = <const E extends v.ObjectEntries>(entries: E) =>
  v.looseObject(entries, ({ expected }) => (expected === 'Object' ? 'must be an object' : 'is missing'))
const maybe = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)
const text = v.string('must be a string')
const id = v.pipe(text, v.nonEmpty('must not be empty'))

/** A capability that is announced by an object, or by true. */
const offered = v.fallback(
  v.pipe(
    v.nullish(v.union([v.boolean(), v.looseObject({})])),
    v.transform((value) => Boolean(value)),
  ),
  false,
)
/** An object of capabilities; anything else announces none. */
const loose = <const E extends v.ObjectEntries>(entries: E) => v.fallback(v.nullish(v.looseObject(entries)), undefined)

/** `initialize`. */
export const Initialize = loosely({
  // The answer names the version that is spoken here, whatever is asked for; some clients write it as text.
  protocolVersion: v.union([v.number(), v.string()], 'must be a number'),
  clientCapabilities: loose({
    session: loose({ notices: offered, configOptions: loose({ boolean: offered }) }),
    elicitation: loose({ form: offered, url: offered }),
  }),
})
export type Initialize = v.InferOutput<typeof Initialize>

const path = v.pipe(text, v.regex(/^(?:[/\\]|[A-Za-z]:[/\\])/, 'must be an absolute path'))
const pairs = v.optional(
  v.pipe(
    v.array(loosely({ name: text, value: text })),
    v.transform((list) => Object.fromEntries(list.map(({ name, value }) => [name, value] as const))),
  ),
  [],
)

const Server = v.union(
  [
    v.pipe(
      loosely({ type: v.picklist(['http', 'sse']), name: text, url: text, headers: pairs }),
      v.transform(({ type, name, url, headers }) => ({ type, name, url, headers })),
    ),
    v.pipe(
      loosely({ name: text, command: text, args: v.optional(v.array(text), []), env: pairs }),
      v.transform(({ name, command, args, env }) => ({
        type: 'stdio' as const,
        name,
        command: [command, ...args],
        env,
      })),
    ),
  ],
  'must be a server with a command, or of the type "http" or "sse" with a url',
)

const WORK = {
  cwd: path,
  additionalDirectories: maybe(v.array(path, 'must be an array')),
  mcpServers: maybe(v.array(Server, 'must be an array')),
}

/** `session/new`. */
export const NewSession = loosely(WORK)
/** The folders and MCP servers of a session. */
export type NewSession = v.InferOutput<typeof NewSession>
/** `session/load`, `session/resume` and `session/fork`. */
export const OldSession = loosely({ sessionId: id, ...WORK })
/** `session/close`, `session/delete`, `session/cancel`. */
export const OfSession = loosely({ sessionId: id })
/** `session/list`. */
export const ListSessions = loosely({ cwd: maybe(text), cursor: maybe(text) })
/** `session/set_mode`. */
export const SetMode = loosely({ sessionId: id, modeId: text })
/** `session/set_config_option`. */
export const SetOption = loosely({
  sessionId: id,
  configId: text,
  value: v.union([v.string(), v.boolean()], 'must be a string or a boolean'),
})
/** `session/prompt`. */
export const Prompt = loosely({
  sessionId: id,
  prompt: v.pipe(v.array(loosely({ type: text }), 'must be an array'), v.nonEmpty('must not be empty')),
})
/** `$/cancel_request`. */
export const CancelRequest = loosely({ requestId: v.nullable(v.union([v.string(), v.number()])) })

/** The result of `session/request_permission`. */
export const Permission = loosely({ outcome: loosely({ outcome: v.literal('selected'), optionId: text }) })
/** The result of `elicitation/create`. */
export const Elicited = loosely({ action: v.literal('accept'), content: v.nullish(v.looseObject({})) })

/** Reads parameters; otherwise what is wrong with them, such as `cwd must be an absolute path`. */
export function read<S extends v.GenericSchema>(schema: S, params: unknown): v.InferOutput<S> | { wrong: string } {
  const { success, output, issues } = v.safeParse(schema, params ?? {}, { abortEarly: true })
  if (success) return output
  const [{ message, path }] = issues!
  const where = (path ?? []).map(({ key }) => String(key)).join('.')
  return { wrong: where === '' ? message : `${where} ${message}` }
}
