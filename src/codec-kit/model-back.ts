import type { BackLink, BackPorts, CallEnd, CallHead, Frame } from '../contract/index.ts'
import type { Command, Loss, TurnStart } from '../model/index.ts'
import { type ModelApi, ModelTurn } from './model-turn.ts'

/** Makes the wire of a turn; the turn reports what the wire has no form for. */
export type OpenModelApi = (start: Command & TurnStart, report: (loss: Loss) => void) => ModelApi

/** A server of a model that keeps nothing: each of its turns is a `ModelTurn`. */
export class ModelBack implements BackLink {
  readonly #ports: BackPorts
  readonly #open: OpenModelApi
  #turn: ModelTurn | undefined

  constructor(ports: BackPorts, open: OpenModelApi) {
    this.#ports = ports
    this.#open = open
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') {
      this.#turn = new ModelTurn(command, this.#ports, (report) => this.#open(command, report))
      this.#turn.begin()
    } else if (command.type === 'turn-cancel') this.#turn?.cancel()
    else if (command.type === 'turn-steer') this.#turn?.steer(command)
    else if (command.type === 'ask-reply') this.#turn?.reply(command)
  }

  decodeHead(head: CallHead): void {
    this.#turn?.head(head)
  }

  decode(frame: Frame): void {
    this.#turn?.frame(frame)
  }

  decodeEnd(end: CallEnd): void {
    this.#turn?.callEnd(end)
  }
}
