import { type CallResult, type ModelApi, withSettings } from '../../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../../src/contract/index.ts'
import type { Command, Fault, JsonText, Part, TurnSettings, TurnStart } from '../../../../src/model/index.ts'
import { DeclaredTools } from '../../declared-tools.ts'
import { faultOfError } from '../../errors.ts'
import type { Options } from '../../options.ts'
import { partLoss, type Report } from '../../part-loss.ts'
import { MessageWriter } from '../write-messages.ts'
import { ChatAnswer } from './answer.ts'
import { messagesOf, requestBody, systemOf } from './request.ts'

/** The wire of `POST /chat/completions`, for one turn. */
export class ChatApi implements ModelApi {
  readonly beginning: readonly JsonText[]
  #start: Command & TurnStart
  readonly #options: Options
  readonly #ports: BackPorts
  readonly #report: Report
  readonly #tools: DeclaredTools
  readonly #writer: MessageWriter

  constructor(start: Command & TurnStart, options: Options, ports: BackPorts, report: Report) {
    this.#start = start
    this.#options = options
    this.#ports = ports
    this.#report = report
    this.#tools = new DeclaredTools(start.clientTools)
    this.#writer = new MessageWriter(this.#tools, partLoss(report))
    this.beginning = messagesOf(start, this.#writer)
  }

  input(parts: readonly Part[]): readonly JsonText[] {
    return this.#writer.message({ role: 'user', parts })
  }

  results(results: readonly CallResult[]): readonly JsonText[] {
    return results.map((result) => this.#writer.result(result))
  }

  change(settings: TurnSettings): void {
    this.#tools.declare(settings.clientTools)
    this.#start = withSettings(this.#start, settings)
  }

  request(conversation: readonly JsonText[], report: Report): { path: string; body: string } {
    const messages = [...systemOf(this.#start, this.#writer), ...conversation]
    return { path: '/chat/completions', body: requestBody(this.#start, this.#options, messages, report) }
  }

  answer(): ChatAnswer {
    return new ChatAnswer(this.#start.turn, this.#ports, this.#report, this.#writer)
  }

  refusal(body: string, status: number): Fault {
    return faultOfError(body, status)
  }
}
