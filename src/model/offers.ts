/** A mode of work that an agent can be set to. */
export interface OfferedMode {
  id: string
  name?: string
  description?: string
}

/** One value of a setting, in a group of such values if it has one. */
export interface OfferedChoice {
  value: string
  name?: string
  description?: string
  group?: string
}

/** A setting of a session. `category` is a hint for its place in a user interface, such as `model` or `effort`. */
export type OfferedOption = { id: string; name?: string; description?: string; category?: string } & (
  | { type: 'select'; value: string; choices: readonly OfferedChoice[] }
  | { type: 'boolean'; value: boolean }
)

/** A slash command. `hint` says what to write after it. */
export interface OfferedCommand {
  name: string
  description?: string
  hint?: string
}

/**
 * The settings and commands that an agent offers in a session: answer data of `query offers`, of `config-set` where the
 * agent says what it offers then, and the JSON of `session-changed`, which has the members that have changed. A list is
 * always whole.
 */
export interface Offers {
  /** The name of the session. */
  title?: string
  /** The mode that is set. */
  mode?: string
  modes?: readonly OfferedMode[]
  options?: readonly OfferedOption[]
  commands?: readonly OfferedCommand[]
}
