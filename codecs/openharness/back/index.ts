import type { BackHalf, BackLink, BackPorts, CallEnd, CallHead, Frame } from '../../../src/contract/index.ts'
import type { Command } from '../../../src/model/index.ts'
import { backCapabilities } from '../capabilities.ts'
import type { Options } from '../options.ts'
import { EngineTurn } from './turn.ts'

/** The side of an engine: one HTTP call a turn, and one more for every approval that it asked and got. */
export const back: BackHalf<Options> = {
  capabilities: backCapabilities,
  memory: () => 'named',
  open: ({ options }, ports) => new OpenHarnessBack(options, ports),
}

class OpenHarnessBack implements BackLink {
  readonly #options: Options
  readonly #ports: BackPorts
  #turn: EngineTurn | undefined

  constructor(options: Options, ports: BackPorts) {
    this.#options = options
    this.#ports = ports
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') {
      this.#turn = new EngineTurn(command, this.#options, this.#ports)
      this.#turn.send()
    } else if (command.type === 'turn-cancel') this.#turn?.cancel()
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
