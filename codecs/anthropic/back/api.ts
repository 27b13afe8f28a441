import { type CallResult, flatToolName, type ModelApi, withSettings } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import type { Command, Fault, JsonText, Loss, Part, TurnSettings, TurnStart } from '../../../src/model/index.ts'
import { faultOfError } from '../errors.ts'
import type { Options } from '../options.ts'
import { VERSIONS } from '../wire.ts'
import { messageJsons, type Writing } from '../write-blocks.ts'
import { MessagesAnswer } from './answer.ts'
import { betasOf, conversationOf, requestBody, writingOf } from './request.ts'

/** The wire of `POST /v1/messages`, for one turn. */
export class MessagesApi implements ModelApi {
  readonly beginning: readonly JsonText[]
  #start: Command & TurnStart
  readonly #options: Options
  readonly #ports: BackPorts
  readonly #report: (loss: Loss) => void
  #writing: Writing
  /** The names of the client's tools, as they are on the wire. */
  #tools: ReadonlySet<string>

  constructor(start: Command & TurnStart, options: Options, ports: BackPorts, report: (loss: Loss) => void) {
    this.#start = start
    this.#options = options
    this.#ports = ports
    this.#report = report
    this.#writing = writingOf(start, report)
    this.#tools = ownTools(start)
    this.beginning = conversationOf(start, this.#writing)
  }

  input(parts: readonly Part[]): readonly JsonText[] {
    return messageJsons([{ role: 'user', parts }], this.#writing)
  }

  results(results: readonly CallResult[]): readonly JsonText[] {
    return messageJsons([{ role: 'tool', parts: results }], this.#writing)
  }

  change(settings: TurnSettings): void {
    this.#start = withSettings(this.#start, settings)
    this.#writing = writingOf(this.#start, this.#report)
    this.#tools = ownTools(this.#start)
  }

  request(conversation: readonly JsonText[], report: (loss: Loss) => void): ReturnType<ModelApi['request']> {
    const betas = betasOf(this.#start.ext)
    return {
      path: '/v1/messages',
      headers: { 'anthropic-version': VERSIONS[0]!, ...(betas !== undefined && { 'anthropic-beta': betas }) },
      body: requestBody(this.#start, this.#options, conversation, report),
    }
  }

  answer(): MessagesAnswer {
    return new MessagesAnswer(this.#start.turn, this.#ports, (name) => (this.#tools.has(name) ? 'client' : 'agent'))
  }

  refusal(body: string, status: number): Fault {
    return faultOfError(body, status)
  }
}

/** The names of the tools that the client runs. */
function ownTools({ clientTools }: TurnStart): ReadonlySet<string> {
  return new Set(clientTools?.filter(({ kind }) => kind !== 'hosted').map(flatToolName))
}
