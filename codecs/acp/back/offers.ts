import type { OfferedChoice, OfferedMode, OfferedOption } from '../../../src/model/index.ts'
import type { SessionState } from '../schema.ts'
import type { Choices, ConfigOption } from '../update-schema.ts'

/** A setting that any client knows, and the category of the config option that stands for it. */
export const CATEGORY = { mode: 'mode', model: 'model', effort: 'thought_level' } as const

/** The id under which models are offered that are no config option. */
export const MODEL_OPTION = 'model'

/** All options of a session; its models are one where none of the options stands for them. */
export function offeredOptions(
  options: readonly ConfigOption[],
  models: NonNullable<SessionState['models']> | undefined,
): OfferedOption[] {
  const offered = options.flatMap(readOption)
  if (!models?.currentModelId || options.some(({ category }) => category === CATEGORY.model)) return offered
  const choices = (models.availableModels ?? []).map(({ modelId: value, name }) => ({ value, ...(name && { name }) }))
  return [...offered, { id: MODEL_OPTION, category: 'model', type: 'select', value: models.currentModelId, choices }]
}

/** The value of the choice with this value or name; else the text itself, which the agent may refuse. */
export function choiceOf(option: ConfigOption, wanted: string): string {
  return choicesOf(option).find(({ value, name }) => value === wanted || name === wanted)?.value ?? wanted
}

/** Reads a mode. */
export function readMode({ id, name, description }: NamedMode): OfferedMode {
  return { id, ...(name != null && { name }), ...(description != null && { description }) }
}

type NamedMode = NonNullable<NonNullable<SessionState['modes']>['availableModes']>[number]

function readOption(option: ConfigOption): OfferedOption[] {
  const { id, name, description, category, currentValue: value } = option
  const said = {
    id,
    ...(name != null && { name }),
    ...(description != null && { description }),
    ...(category != null && { category: category === CATEGORY.effort ? 'effort' : category }),
  }
  if (typeof value === 'boolean') return [{ ...said, type: 'boolean', value }]
  return typeof value === 'string' ? [{ ...said, type: 'select', value, choices: choicesOf(option) }] : []
}

/** The choices of an option, those in groups too. */
export function choicesOf({ options }: ConfigOption): OfferedChoice[] {
  return (options ?? []).flatMap((one): OfferedChoice[] => {
    if (!('options' in one)) return [readChoice(one as Choices)]
    const group = one['name'] ?? one['group']
    return (one.options as Choices[]).map((choice) => ({
      ...readChoice(choice),
      ...(typeof group === 'string' && { group }),
    }))
  })
}

function readChoice({ value, name, description }: Choices): OfferedChoice {
  return { value, ...(name != null && { name }), ...(description != null && { description }) }
}
