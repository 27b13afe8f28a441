/** Updates of a session (`session/update`), as far as they are read: loose objects, so that later versions may add to them. */
import * as v from 'valibot'

/** Something that is absent, null, or of this kind; of another kind it is as good as absent. */
export const maybe = <S extends v.GenericSchema>(schema: S) => v.fallback(v.nullish(schema), undefined)

/** Members of everything that has a name. */
export const Named = { name: maybe(v.string()), description: maybe(v.string()) }

const Choice = v.looseObject({ value: v.string(), ...Named })
/** One value of a setting. */
export type Choices = v.InferOutput<typeof Choice>

/** A setting of a session that its client can change (Session Config Options). */
export const ConfigOption = v.looseObject({
  id: v.string(),
  category: maybe(v.string()),
  currentValue: v.unknown(),
  options: maybe(v.array(v.union([v.looseObject({ options: v.array(Choice) }), Choice]))),
  ...Named,
})
export type ConfigOption = v.InferOutput<typeof ConfigOption>

/** `config_option_update`, and the result of `session/set_config_option`. */
export const ConfigUpdate = v.looseObject({ configOptions: v.array(ConfigOption) })

/** `current_mode_update`. */
export const ModeUpdate = v.looseObject({ currentModeId: v.string() })

/** `available_commands_update`. */
export const CommandsUpdate = v.looseObject({
  availableCommands: v.array(
    v.looseObject({
      name: v.string(),
      description: maybe(v.string()),
      input: maybe(v.looseObject({ hint: maybe(v.string()) })),
    }),
  ),
})

/** `notice`. */
export const Notice = v.looseObject({ severity: v.string(), title: v.string(), description: maybe(v.string()) })

/** `compaction_update`. */
export const CompactionUpdate = v.looseObject({ status: v.string(), error: maybe(v.string()) })

/** `usage_update`. */
export const UsageUpdate = v.looseObject({
  size: v.number(),
  cost: maybe(v.looseObject({ amount: v.number(), currency: v.string() })),
})

/** The parameters of `session/update`. */
export const SessionUpdate = v.looseObject({
  sessionId: v.string(),
  update: v.looseObject({ sessionUpdate: v.string() }),
})

/** A piece of a message or of a thought. */
export const Chunk = v.looseObject({
  content: v.looseObject({ type: v.string(), text: v.optional(v.unknown()) }),
  messageId: maybe(v.string()),
})

const ToolContent = v.looseObject({ type: v.string() })

/** `tool_call`, `tool_call_update`, and the call of a permission request: all but the id may be absent. */
export const ToolUpdate = v.looseObject({
  toolCallId: v.string(),
  title: maybe(v.string()),
  name: maybe(v.string()),
  kind: maybe(v.string()),
  status: maybe(v.string()),
  content: maybe(v.array(ToolContent)),
})
export type ToolUpdate = v.InferOutput<typeof ToolUpdate>

/** The state of Codex's thread, in the `_meta` of `session_info_update`. */
export const ThreadStatus = v.looseObject({
  _meta: v.looseObject({ codex: v.looseObject({ threadStatus: v.looseObject({ type: v.string() }) }) }),
})

/** The state of a terminal that the agent runs itself, in the `_meta` of a tool's update. */
export const TerminalMeta = v.looseObject({
  _meta: v.looseObject({
    terminal_info: maybe(v.looseObject({})),
    terminal_output: maybe(v.looseObject({ data: v.string() })),
    terminal_exit: maybe(v.looseObject({})),
  }),
})
