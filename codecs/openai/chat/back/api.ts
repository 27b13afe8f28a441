import type { CallResult, ModelApi } from '../../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../../src/contract/index.ts'
import type { Command, Fault, JsonText, Part, TurnStart } from '../../../../src/model/index.ts'
import { DeclaredTools } from '../../declared-tools.ts'
import { faultOfError } from '../../errors.ts'
import type { Options } from '../../options.ts'
import { partLoss, type Report } from '../../part-loss.ts'
import { MessageWriter } from '../write-messages.ts'
import { ChatAnswer } from './answer.ts'
import { messagesOf, requestBody } from './request.ts'

/** The wire of `POST /chat/completions`, for one turn. */
export class ChatApi implements ModelApi {
  readonly beginning: readonly JsonText[]
  readonly #start: Command & TurnStart
  readonly #options: Options
  readonly #ports: BackPorts
  readonly #report: Report
  readonly #writer: MessageWriter

  constructor(start: Command & TurnStart, options: Options, ports: BackPorts, report: Report) {
    this.#start = start
    this.#options = options
    this.#ports = ports
    this.#report = report
    this.#writer = new MessageWriter(new DeclaredTools(start.clientTools), partLoss(report))
    this.beginning = messagesOf(start, this.#writer)
  }

  input(parts: readonly Part[]): readonly JsonText[] {
    return this.#writer.message({ role: 'user', parts })
  }

  results(results: readonly CallResult[]): readonly JsonText[] {
    return results.map((result) => this.#writer.result(result))
  }

  request(conversation: readonly JsonText[], report: Report): { path: string; body: string } {
    return { path: '/chat/completions', body: requestBody(this.#start, this.#options, conversation, report) }
  }

  answer(): ChatAnswer {
    return new ChatAnswer(this.#start.turn, this.#ports, this.#report, this.#writer)
  }

  refusal(body: string, status: number): Fault {
    return faultOfError(body, status)
  }
}
