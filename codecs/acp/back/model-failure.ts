import * as v from 'valibot'
import { codeOfProviderText } from '../../../src/codec-kit/index.ts'
import { type Fault, fault } from '../../../src/model/index.ts'
import { ThreadStatus } from '../update-schema.ts'
import type { Quirks } from './quirks.ts'

/** The failure of a model that an agent says as text, before it ends the turn as completed. */
export class ModelFailure {
  /** The text that Codex has written since it said that its thread failed. */
  #since: string | undefined
  #piece = ''

  /** Takes a piece of text. */
  text(piece: string): void {
    if (this.#since !== undefined) this.#since += piece
    this.#piece = piece
  }

  /** Takes an update that may hold the state of Codex's thread. */
  noted(update: object): void {
    const { success, output } = v.safeParse(ThreadStatus, update)
    if (success && output._meta.codex.threadStatus.type === 'systemError') this.#since = ''
  }

  /** The fault of the turn at its end, if its model has failed. */
  fault({ failure }: Quirks): Fault | undefined {
    const said = this.#since ?? (failure?.test(this.#piece) ? this.#piece : undefined)
    if (said === undefined) return undefined
    const text = said.trim() || 'The agent failed without saying why.'
    return fault(codeOfProviderText(text) ?? 'provider-error', text)
  }
}
