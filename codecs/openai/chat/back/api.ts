import { type CallResult, flatToolName, type ModelApi } from '../../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../../src/contract/index.ts'
import type { Command, Fault, JsonText, Part, TurnStart } from '../../../../src/model/index.ts'
import { faultOfError } from '../../errors.ts'
import type { Options } from '../../options.ts'
import { partLoss, type Report } from '../../part-loss.ts'
import { messageJsons, resultJson } from '../messages.ts'
import { ChatAnswer } from './answer.ts'
import { messagesOf, requestBody } from './request.ts'

/** The wire of `POST /chat/completions`, for one turn. */
export class ChatApi implements ModelApi {
  readonly beginning: readonly JsonText[]
  readonly #start: Command & TurnStart
  readonly #options: Options
  readonly #ports: BackPorts
  readonly #report: Report
  /** The names of the client's tools, as they are on the wire. */
  readonly #tools: ReadonlySet<string>

  constructor(start: Command & TurnStart, options: Options, ports: BackPorts, report: Report) {
    this.#start = start
    this.#options = options
    this.#ports = ports
    this.#report = report
    this.#tools = new Set(start.clientTools?.map(flatToolName))
    this.beginning = messagesOf(start, report)
  }

  input(parts: readonly Part[]): readonly JsonText[] {
    return messageJsons({ role: 'user', parts }, partLoss(this.#report))
  }

  results(results: readonly CallResult[]): readonly JsonText[] {
    return results.map((result) => resultJson(result, partLoss(this.#report)))
  }

  request(conversation: readonly JsonText[], report: Report): { path: string; body: string } {
    return { path: '/chat/completions', body: requestBody(this.#start, this.#options, conversation, report) }
  }

  answer(): ChatAnswer {
    const executorOf = (name: string) => (this.#tools.has(name) ? 'client' : 'agent')
    return new ChatAnswer(this.#start.turn, this.#ports, this.#report, executorOf)
  }

  refusal(body: string, status: number): Fault {
    return faultOfError(body, status)
  }
}
