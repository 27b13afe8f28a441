import * as v from 'valibot'

/** The answer to `thread/start` and `thread/resume`. */
export const ThreadOpened = v.looseObject({
  thread: v.looseObject({ id: v.pipe(v.string(), v.nonEmpty()) }),
  model: v.optional(v.nullable(v.string())),
  reasoningEffort: v.optional(v.nullable(v.string())),
})

/** The answer to `thread/list`; times are in seconds. */
export const ThreadsListed = v.looseObject({
  data: v.array(
    v.looseObject({
      id: v.string(),
      cwd: v.string(),
      name: v.optional(v.nullable(v.string())),
      preview: v.string(),
      updatedAt: v.number(),
    }),
  ),
  nextCursor: v.optional(v.nullable(v.string())),
})

/** The answer to `turn/start`, and the parameters of `turn/started`. */
export const TurnOpened = v.looseObject({ turn: v.looseObject({ id: v.string() }) })

/** The parameters of `turn/completed`. `items` may hold the last message. */
export const TurnCompleted = v.looseObject({
  turn: v.looseObject({
    status: v.string(),
    error: v.optional(v.unknown()),
    items: v.optional(v.array(v.looseObject({ type: v.string(), text: v.optional(v.unknown()) }))),
  }),
})

/** The parameters of every message about an item: a piece of it. */
export const Piece = v.looseObject({ itemId: v.string(), delta: v.string() })

/** The parameters of `item/started` and `item/completed`. */
export const ItemNote = v.looseObject({
  item: v.looseObject({
    type: v.string(),
    id: v.string(),
    text: v.optional(v.string()),
    phase: v.optional(v.nullable(v.string())),
    summary: v.optional(v.array(v.string())),
    content: v.optional(v.unknown()),
    status: v.optional(v.string()),
  }),
})

/** An item of a thread. */
export type Item = v.InferOutput<typeof ItemNote>['item']

/** The parameters of `turn/plan/updated`. */
export const PlanUpdated = v.looseObject({
  explanation: v.optional(v.nullable(v.string())),
  plan: v.array(v.looseObject({ step: v.string(), status: v.string() })),
})

/** The parameters of `error`. */
export const ErrorNote = v.looseObject({
  error: v.looseObject({ message: v.string(), additionalDetails: v.optional(v.nullable(v.string())) }),
  willRetry: v.optional(v.boolean()),
})

/** The parameters of `thread/tokenUsage/updated`. */
export const TokenUsage = v.looseObject({
  tokenUsage: v.looseObject({ total: v.looseObject({}), last: v.optional(v.unknown()) }),
})

/** The changes of a file, in an item and in `item/fileChange/patchUpdated`. */
export const Changes = v.array(
  v.looseObject({ path: v.string(), kind: v.optional(v.looseObject({ type: v.string() })), diff: v.string() }),
)

/** The parameters of `item/fileChange/patchUpdated`. */
export const Patch = v.looseObject({ itemId: v.string(), changes: Changes })

/** The parameters of `item/reasoning/summaryPartAdded`. */
export const SummaryPart = v.looseObject({ itemId: v.string(), summaryIndex: v.optional(v.number()) })

/** The parameters of `item/mcpToolCall/progress`. */
export const McpProgress = v.looseObject({ itemId: v.string(), message: v.string() })

/** The parameters of `model/rerouted`. */
export const Rerouted = v.looseObject({ fromModel: v.string(), toModel: v.string() })

/** Parts of the questions of `item/tool/requestUserInput`. */
export const UserInput = v.looseObject({
  questions: v.array(
    v.looseObject({
      id: v.string(),
      header: v.optional(v.string()),
      question: v.string(),
      isOther: v.optional(v.boolean()),
      options: v.optional(v.nullable(v.array(v.looseObject({ label: v.string() })))),
    }),
  ),
})

/** The parameters of `mcpServer/elicitation/request`. */
export const Elicitation = v.looseObject({ message: v.string(), url: v.optional(v.string()) })

/** The answer to `model/list`. */
export const Models = v.looseObject({ data: v.array(v.looseObject({ model: v.string() })) })
