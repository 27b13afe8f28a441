import type { CommandOf, Fault, TurnSettings } from '../../model/index.ts'
import { asBegun, changeOf, dropped, lossyRefusal, type SettingsChange } from '../carry/index.ts'
import type { Turn } from '../turn/index.ts'

/** A change of a turn's options and tools, with all settings of the request that it is in. */
export type TurnChange = SettingsChange & { said: TurnSettings }

/** Finds the change that a request makes to the parked turn that it goes on with; undefined when it has no settings. */
export function changeFor(turn: Turn, { settings }: CommandOf<'ask-reply'>): TurnChange | undefined {
  if (!settings) return undefined
  const said = asBegun(turn.command, settings)
  return { ...changeOf(turn.agent.dialect.back, turn.questions!.settings, said), said }
}

/** The fault of a change that loses something on a route that takes no losses. */
export function refusalOfChange({ route }: Turn, change: TurnChange | undefined): Fault | undefined {
  if (route.loss !== 'strict' || !change || change.losses.length === 0) return undefined
  return lossyRefusal(change.losses.map(({ item }) => item))
}

/** Changes a turn; what does not reach its agent is a loss. */
export function applyChange(turn: Turn, { settings, losses, said }: TurnChange): void {
  for (const loss of losses) turn.loss(loss)
  if (settings) turn.questions!.change(said, settings)
}

/** Reports settings of an answer to a turn that is not parked: only a request that goes on with one changes it. */
export function reportSettings(turn: Turn, { settings }: CommandOf<'ask-reply'>): void {
  if (!settings) return
  const { capabilities } = turn.agent.dialect.back
  const { losses } = changeOf({ capabilities }, turn.questions!.settings, asBegun(turn.command, settings))
  for (const loss of losses) turn.loss(loss)
}

/** Reports the further fields of a request that brings an answer: agents get the answer alone. */
export function reportExt(turn: Turn, { ext }: CommandOf<'ask-reply'>): void {
  if (ext) turn.loss({ ...dropped('ext'), field: ext.protocol })
}
