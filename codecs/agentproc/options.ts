import * as v from 'valibot'

/** A number of seconds; profiles also write it as a string of digits. */
const seconds = v.union([
  v.pipe(v.number(), v.minValue(0)),
  v.pipe(v.string(), v.regex(/^\d+(\.\d+)?$/, 'a number of seconds'), v.transform(Number)),
])

/**
 * An agent's settings beyond its command, as profiles name them. `timeout_secs` (the whole turn, 0 = none) and
 * `kill_grace_secs` are here for the engine, which owns the clock. Where absent differs from the default
 * (`max_reply_chars`, `truncation_suffix`, `env_allowlist`) there is no default.
 */
export const optionsSchema = v.object({
  /** The input of the process: nothing, or the message. */
  stdin: v.optional(v.picklist(['none', 'message']), 'none'),
  timeout_secs: v.optional(seconds, 1800),
  kill_grace_secs: v.optional(seconds, 5),
  /** In code points, of the partials and of the body each. */
  max_reply_chars: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  truncation_suffix: v.optional(v.string()),
  include_stderr_in_reply: v.optional(v.boolean(), false),
  send_error_reply: v.optional(v.boolean(), true),
  streaming: v.optional(v.boolean(), true),
  session_line_prefix: v.optional(v.pipe(v.string(), v.nonEmpty()), 'AGENT_SESSION:'),
  /** True when the agent may ask for permissions (wire 0.4). */
  permission: v.optional(v.boolean(), false),
  /** Names of the gateway's variables that `${VAR}` may read and that the child inherits. */
  env_allowlist: v.optional(v.array(v.string())),
  /** True when `${VAR}` in environment values is still to be expanded, as in profile files. */
  expand: v.optional(v.boolean(), false),
})

/** The validated settings of an AgentProc agent. */
export type AgentProcOptions = v.InferOutput<typeof optionsSchema>
