import {
  type JsonText,
  type Members,
  type OfferedChoice,
  type OfferedOption,
  type Offers,
  object,
  quote,
} from '../../../src/model/index.ts'
import type { Client } from './client.ts'
import type { Session } from './session.ts'

/** The id of the option that sets the model of an agent which offers no such option itself. */
export const MODEL = 'model'

/** Adds the agent's models to what it offers, if it works with one of them and has no option for it. */
export function addModels(session: Session, models: readonly string[], model: unknown): void {
  const { options = [] } = session.offers
  if (
    typeof model !== 'string' ||
    !models.includes(model) ||
    options.some(({ id, category }) => id === MODEL || category === MODEL)
  )
    return
  const choices = models.map((value) => ({ value }))
  const option: OfferedOption = { id: MODEL, name: 'Model', category: MODEL, type: 'select', value: model, choices }
  session.hasModels = true
  session.offers = { ...session.offers, options: [...options, option] }
}

/** Takes over what has changed of an agent's offers; the option for its models stays. */
export function changeOffers(session: Session, changed: Offers): void {
  const { options } = changed
  const models = session.hasModels ? session.offers.options?.filter(({ id }) => id === MODEL) : undefined
  const all = options && models ? { options: [...options, ...models] } : {}
  session.offers = { ...session.offers, ...changed, ...all }
}

/** Takes over a value that the client has set. */
export function setValue(session: Session, id: string, value: string | boolean): void {
  const options = session.offers.options?.map((option) =>
    option.id === id ? ({ ...option, value } as OfferedOption) : option,
  )
  session.offers = { ...session.offers, ...(options && { options }) }
}

/** The reason why a value cannot be set; undefined when it can. */
export function mistakeIn(
  { offers: { options = [] } }: Session,
  id: string,
  value: string | boolean,
): string | undefined {
  const option = options.find((one) => one.id === id)
  if (!option) return `There is no option "${id}" in this session.`
  const fits =
    option.type === 'boolean' ? typeof value === 'boolean' : option.choices.some((one) => one.value === value)
  return fits ? undefined : `The option "${id}" has no value ${JSON.stringify(value)}.`
}

/** The settings of a session as members of the answer that opens it; nothing where the agent offers none. */
export function settingEntries(session: Session, client: Client): Members {
  const { mode, modes = [], options = [] } = session.offers
  return {
    modes: mode === undefined || modes.length === 0 ? undefined : modesJson(mode, modes),
    configOptions: options.length === 0 ? undefined : optionsJson(session, client),
  }
}

function modesJson(mode: string, modes: NonNullable<Offers['modes']>): JsonText {
  const available = modes.map(({ id, name = id, description }) =>
    object({ id: quote(id), name: quote(name), description: quote(description) }),
  )
  return `{"currentModeId":${quote(mode)},"availableModes":[${available.join(',')}]}`
}

/** All options that the client can show. */
export function optionsJson({ offers: { options = [] } }: Session, { shows }: Client): JsonText {
  const shown = options.filter(({ type }) => type === 'select' || shows?.booleans)
  return `[${shown.map(optionJson).join(',')}]`
}

function optionJson(option: OfferedOption): JsonText {
  const { id, name = id, description, category } = option
  return object({
    id: quote(id),
    name: quote(name),
    description: quote(description),
    category: quote(category === 'effort' ? 'thought_level' : category),
    type: quote(option.type),
    currentValue: JSON.stringify(option.value),
    options: option.type === 'select' ? choicesJson(option.choices) : undefined,
  })
}

/** Choices in a list, or in a list of their groups when they have any. */
function choicesJson(choices: readonly OfferedChoice[]): JsonText {
  if (choices.every(({ group }) => group === undefined)) return `[${choices.map(choiceJson).join(',')}]`
  const groups = Map.groupBy(choices, ({ group = '' }) => group)
  const lists = [...groups].map(([group, list]) => {
    const options = `[${list.map(choiceJson).join(',')}]`
    return `{"group":${quote(group)},"name":${quote(group || 'Other')},"options":${options}}`
  })
  return `[${lists.join(',')}]`
}

function choiceJson({ value, name = value, description }: OfferedChoice): JsonText {
  return object({ value: quote(value), name: quote(name), description: quote(description) })
}

/** The slash commands of a session, in the form for its client. */
export function commandsJson({ offers: { commands = [] } }: Session): JsonText {
  const list = commands.map(({ name, description = '', hint }) =>
    object({
      name: quote(name),
      description: quote(description),
      input: hint === undefined ? undefined : `{"hint":${quote(hint)}}`,
    }),
  )
  return `[${list.join(',')}]`
}
