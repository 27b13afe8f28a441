import * as v from 'valibot'
import { type ModelInfo, type OfferedCommand, type Offers, quote } from '../../../src/model/index.ts'
import { SessionState } from '../schema.ts'
import { CommandsUpdate, type ConfigOption, ConfigUpdate, ModeUpdate } from '../update-schema.ts'
import { type Change, optionChange } from './change.ts'
import { CATEGORY, choiceOf, choicesOf, MODEL_OPTION, offeredOptions, readMode } from './offers.ts'

/** A setting that any client knows. */
export type Setting = keyof typeof CATEGORY

/** The settings and commands that an agent offers in its session, and their values (Session Modes, Config Options). */
export class Settings {
  /** The session's own values of what a turn has set for itself. */
  lent: Partial<Record<Setting, string>> = {}
  #modes: NonNullable<SessionState['modes']> | undefined
  #models: NonNullable<SessionState['models']> | undefined
  #options: readonly ConfigOption[] = []
  #commands: readonly OfferedCommand[] | undefined
  #title: string | undefined

  /** A session begins: `result` is the answer to the request that opened it. */
  opened(result: unknown): void {
    const { success, output } = v.safeParse(SessionState, result)
    this.#modes = (success && output.modes) || undefined
    this.#models = (success && output.models) || undefined
    this.#options = (success && output.configOptions) || []
    this.#commands = this.#title = undefined
    this.lent = {}
  }

  /**
   * Takes an update. Returns the offers that have changed (none if nothing is new), or undefined for any other update.
   */
  update(update: { sessionUpdate: string; title?: unknown }): Offers | undefined {
    switch (update.sessionUpdate) {
      case 'current_mode_update':
        return this.#modeUpdate(update)
      case 'config_option_update':
        return this.configured(update) ? { options: offeredOptions(this.#options, this.#models) } : undefined
      case 'available_commands_update':
        return this.#commandsUpdate(update)
      case 'session_info_update':
        return this.#infoUpdate(update)
      default:
        return undefined
    }
  }

  /** Takes the config options of an update or an answer; they are always all of them. False when there are none. */
  configured(value: unknown): boolean {
    const { success, output } = v.safeParse(ConfigUpdate, value)
    if (success) this.#options = output.configOptions
    return success
  }

  /** Everything that the agent offers. */
  get offers(): Offers {
    const modes = this.#modes?.availableModes?.map(readMode)
    const mode = this.current('mode')
    return {
      ...(this.#title !== undefined && { title: this.#title }),
      ...(mode !== undefined && { mode }),
      ...(modes && { modes }),
      options: offeredOptions(this.#options, this.#models),
      ...(this.#commands && { commands: this.#commands }),
    }
  }

  /** The models that the agent can be set to. */
  get models(): ModelInfo[] {
    const option = this.#optionFor('model')
    if (option) return choicesOf(option).map(({ value: id }) => ({ id }))
    return (this.#models?.availableModels ?? []).map(({ modelId: id }) => ({ id }))
  }

  /** The value of a setting; undefined when it is not known. */
  current(setting: Setting): string | undefined {
    const option = this.#optionFor(setting)
    if (typeof option?.currentValue === 'string') return option.currentValue
    if (setting === 'mode') return this.#modes?.currentModeId ?? undefined
    return setting === 'model' ? (this.#models?.currentModelId ?? undefined) : undefined
  }

  /** The change of a setting to a value, or to the choice of that name; undefined when the agent has no such setting. */
  change(setting: Setting, value: string): Change | undefined {
    const { [setting]: own } = {
      mode: this.#modes && this.#modeChange(value),
      model: this.#models && this.#modelChange(value),
      effort: undefined,
    }
    const option = this.#optionFor(setting)
    return own ?? (option && optionChange(option, choiceOf(option, value)))
  }

  /** The change of an option that is offered. */
  changeOption(id: string, value: string | boolean): Change | undefined {
    const option = this.#options.find((one) => one.id === id)
    if (option) return optionChange(option, value)
    return id === MODEL_OPTION && this.#models ? this.#modelChange(String(value)) : undefined
  }

  #modeChange(mode: string): Change {
    return { method: 'session/set_mode', fields: { modeId: quote(mode) }, done: () => this.#isSet('mode', mode) }
  }

  #modelChange(wanted: string): Change {
    const named = this.#models!.availableModels?.find(({ modelId, name }) => modelId === wanted || name === wanted)
    const model = named?.modelId ?? wanted
    return { method: 'session/set_model', fields: { modelId: quote(model) }, done: () => this.#isSet('model', model) }
  }

  /** A mode or model that is also a config option has its value in both places. */
  #isSet(setting: 'mode' | 'model', value: string): void {
    if (setting === 'mode') this.#modes = { ...this.#modes, currentModeId: value }
    else this.#models = { ...this.#models, currentModelId: value }
    const option = this.#optionFor(setting)
    if (option) option.currentValue = value
  }

  #optionFor(setting: Setting): ConfigOption | undefined {
    return this.#options.find(({ category }) => category === CATEGORY[setting])
  }

  #modeUpdate(update: unknown): Offers | undefined {
    const { success, output } = v.safeParse(ModeUpdate, update)
    if (!success) return undefined
    this.#isSet('mode', output.currentModeId)
    return { mode: output.currentModeId }
  }

  #commandsUpdate(update: unknown): Offers | undefined {
    const { success, output } = v.safeParse(CommandsUpdate, update)
    if (!success) return undefined
    this.#commands = output.availableCommands.map(({ name, description, input }) => ({
      name,
      ...(description != null && { description }),
      ...(input?.hint && { hint: input.hint }),
    }))
    return { commands: this.#commands }
  }

  #infoUpdate({ title }: { title?: unknown }): Offers {
    if (typeof title !== 'string') return {}
    this.#title = title
    return { title }
  }
}
