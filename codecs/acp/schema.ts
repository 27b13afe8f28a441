/** Messages of agents, as far as they are read: loose objects, so that later versions may add to them. */
import * as v from 'valibot'
import { ConfigOption, maybe, Named, ToolUpdate } from './update-schema.ts'

const flag = v.fallback(v.nullish(v.boolean()), false)
const offered = v.fallback(v.nullish(v.union([v.boolean(), v.looseObject({})])), undefined)

/** A way to log in to an agent (Authentication). */
export const AuthMethod = v.looseObject({ id: v.string(), name: maybe(v.string()), description: maybe(v.string()) })
export type AuthMethod = v.InferOutput<typeof AuthMethod>

/** The result of `initialize`. */
export const Initialized = v.looseObject({
  protocolVersion: v.unknown(),
  agentCapabilities: maybe(
    v.looseObject({
      loadSession: flag,
      promptCapabilities: maybe(v.looseObject({ image: flag, audio: flag, embeddedContext: flag })),
      mcpCapabilities: maybe(v.looseObject({ http: flag, sse: flag })),
      sessionCapabilities: maybe(
        v.looseObject({
          resume: offered,
          close: offered,
          list: offered,
          delete: offered,
          fork: offered,
          additionalDirectories: offered,
        }),
      ),
    }),
  ),
  authMethods: maybe(v.array(AuthMethod)),
  agentInfo: maybe(v.looseObject({ name: maybe(v.string()), version: maybe(v.string()) })),
})
export type Initialized = v.InferOutput<typeof Initialized>

/** The abilities of an agent for sessions, besides making them. */
export type SessionCapability = 'resume' | 'close' | 'list' | 'delete' | 'fork' | 'additionalDirectories'

/** True for such an ability that an agent has: `{}`, or whatever else it holds. */
export function isOffered(about: Initialized | undefined, capability: SessionCapability): boolean {
  const offered = about?.agentCapabilities?.sessionCapabilities?.[capability]
  return offered != null && offered !== false
}

/** True for the result of `initialize` of an agent that can close sessions. */
export function canClose(result: unknown): boolean {
  const { success, output } = v.safeParse(Initialized, result)
  return isOffered(success ? output : undefined, 'close')
}

/** The session's settings in the answers to `session/new`, `session/load` and `session/resume`. */
export const SessionState = v.looseObject({
  modes: maybe(
    v.looseObject({
      currentModeId: maybe(v.string()),
      availableModes: maybe(v.array(v.looseObject({ id: v.string(), ...Named }))),
    }),
  ),
  models: maybe(
    v.looseObject({
      currentModelId: maybe(v.string()),
      availableModels: maybe(v.array(v.looseObject({ modelId: v.string(), ...Named }))),
    }),
  ),
  configOptions: maybe(v.array(ConfigOption)),
})
export type SessionState = v.InferOutput<typeof SessionState>

/** The result of `session/list`. */
export const SessionsListed = v.looseObject({
  sessions: v.array(
    v.looseObject({
      sessionId: v.string(),
      cwd: maybe(v.string()),
      title: maybe(v.string()),
      updatedAt: maybe(v.string()),
    }),
  ),
  nextCursor: maybe(v.string()),
})

/** The result of `session/new` and `session/fork`. */
export const SessionMade = v.looseObject({ sessionId: v.string() })

/** The parameters of `session/request_permission`. */
export const PermissionRequest = v.looseObject({
  sessionId: v.string(),
  toolCall: ToolUpdate,
  options: v.pipe(
    v.array(v.looseObject({ optionId: v.string(), name: maybe(v.string()), kind: maybe(v.string()) })),
    v.minLength(1),
  ),
})
export type PermissionRequest = v.InferOutput<typeof PermissionRequest>

/** The parameters of `elicitation/create`: a form, or a page that the user is to open. */
export const Elicitation = v.variant('mode', [
  v.looseObject({
    mode: v.literal('form'),
    message: v.string(),
    requestedSchema: v.looseObject({ properties: maybe(v.looseObject({})) }),
  }),
  v.looseObject({ mode: v.literal('url'), message: v.string(), url: v.string(), elicitationId: v.string() }),
])

/** The result of `session/prompt`. */
export const Prompted = v.looseObject({ stopReason: v.string(), usage: v.optional(v.unknown()) })

const count = maybe(v.pipe(v.number(), v.integer(), v.minValue(0)))

/** The parameters of `fs/read_text_file`; `line` counts from 1. */
export const ReadFile = v.looseObject({ path: v.string(), line: count, limit: count })

/** The parameters of `fs/write_text_file`. */
export const WriteFile = v.looseObject({ path: v.string(), content: v.string() })
