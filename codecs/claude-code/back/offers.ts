import * as v from 'valibot'
import type { OfferedChoice, OfferedMode, OfferedOption, Offers } from '../../../src/model/index.ts'
import { Command, type Greeting, Model } from '../schema.ts'

/** The id of the option that is the model. */
export const MODEL = 'model'

/** The permission modes that every version has; another one is offered where the agent is in it. */
const MODES: readonly OfferedMode[] = [
  { id: 'default', name: 'Default', description: 'Asks before it edits files and runs commands' },
  { id: 'acceptEdits', name: 'Accept edits', description: 'Edits files without asking' },
  { id: 'plan', name: 'Plan', description: 'Reads and plans, and changes nothing' },
]

/** The current settings; undefined when the agent has not named them. */
interface Now {
  mode: string | undefined
  model: string | undefined
}

/** The modes, the model and the commands that an agent offers, by its answer to `initialize`. */
export function offersOf(greeting: Greeting, now: Now): Offers {
  const mode = now.mode ?? greeting.current_permission_mode ?? 'default'
  const modes = MODES.some(({ id }) => id === mode) ? MODES : [...MODES, { id: mode }]
  const commands = readAll(Command, greeting.commands).map(({ name, description, argumentHint: hint }) => ({
    name,
    ...(description && { description }),
    ...(hint && { hint }),
  }))
  return { mode, modes, options: modelOption(greeting, now.model), commands }
}

/** The models that the agent can be set to. */
export function modelsOf({ models }: Greeting): OfferedChoice[] {
  return readAll(Model, models).map(({ value, displayName: name, description }) => ({
    value,
    ...(name && { name }),
    ...(description && { description }),
  }))
}

/** The model as an option; none where the one that is set is not listed. */
function modelOption(greeting: Greeting, value = 'default'): OfferedOption[] {
  const choices = modelsOf(greeting)
  if (!choices.some((choice) => choice.value === value)) return []
  return [{ id: MODEL, name: 'Model', category: 'model', type: 'select', value, choices }]
}

/** The items of a list that can be read. */
function readAll<S extends v.GenericSchema>(schema: S, items: readonly unknown[] = []): v.InferOutput<S>[] {
  return items.flatMap((item) => {
    const { success, output } = v.safeParse(schema, item)
    return success ? [output] : []
  })
}
