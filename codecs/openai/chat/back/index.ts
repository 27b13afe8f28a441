import { ModelTurn } from '../../../../src/codec-kit/index.ts'
import type { BackHalf, BackLink, BackPorts, CallEnd, CallHead, Frame } from '../../../../src/contract/index.ts'
import type { Command } from '../../../../src/model/index.ts'
import { backCapabilities } from '../../capabilities.ts'
import type { Options } from '../../options.ts'
import { ChatApi } from './api.ts'

/** A server of `POST /chat/completions`: it keeps nothing, so each request has the whole conversation. */
export const back: BackHalf<Options> = {
  capabilities: backCapabilities,
  memory: () => 'request',
  configuredModel: ({ options }) => options.model,
  open: ({ options }, ports) => new ChatBack(options, ports),
}

class ChatBack implements BackLink {
  readonly #options: Options
  readonly #ports: BackPorts
  #turn: ModelTurn | undefined

  constructor(options: Options, ports: BackPorts) {
    this.#options = options
    this.#ports = ports
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') {
      this.#turn = new ModelTurn(
        command,
        this.#ports,
        (report) => new ChatApi(command, this.#options, this.#ports, report),
      )
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
