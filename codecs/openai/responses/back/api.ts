import { answeredHistory, type CallResult, type ModelApi, withSettings } from '../../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../../src/contract/index.ts'
import type { Command, Fault, JsonText, Part, TurnSettings, TurnStart } from '../../../../src/model/index.ts'
import { DeclaredTools } from '../../declared-tools.ts'
import { faultOfError } from '../../errors.ts'
import type { Options } from '../../options.ts'
import { partLoss, type Report } from '../../part-loss.ts'
import { ItemWriter } from '../items.ts'
import { ResponseAnswer } from './answer.ts'
import { requestBody } from './request.ts'

/** The wire of `POST /responses`, for one turn. */
export class ResponsesApi implements ModelApi {
  readonly beginning: readonly JsonText[]
  #start: Command & TurnStart
  readonly #options: Options
  readonly #ports: BackPorts
  readonly #report: Report
  readonly #tools: DeclaredTools
  readonly #items: ItemWriter
  #answer: ResponseAnswer | undefined

  constructor(start: Command & TurnStart, options: Options, ports: BackPorts, report: Report) {
    this.#start = start
    this.#options = options
    this.#ports = ports
    this.#report = report
    this.#tools = new DeclaredTools(start.clientTools)
    this.#items = new ItemWriter(this.#tools, partLoss(report))
    const before = answeredHistory(start.history ?? [], start.input).flatMap((said) => this.#items.message(said))
    this.beginning = [...before, ...this.input(start.input)]
  }

  input(parts: readonly Part[]): readonly JsonText[] {
    return this.#items.message({ role: 'user', parts })
  }

  results(results: readonly CallResult[]): readonly JsonText[] {
    this.#noteCalls()
    return results.map((result) => this.#items.result(result))
  }

  change(settings: TurnSettings): void {
    this.#noteCalls()
    this.#tools.declare(settings.clientTools)
    this.#start = withSettings(this.#start, settings)
  }

  request(conversation: readonly JsonText[], report: Report): { path: string; body: string } {
    return { path: '/responses', body: requestBody(this.#start, this.#options, conversation, report) }
  }

  answer(): ResponseAnswer {
    this.#answer = new ResponseAnswer(this.#start.turn, this.#ports, this.#report, this.#tools)
    return this.#answer
  }

  refusal(body: string, status: number): Fault {
    return faultOfError(body, status)
  }

  /** Notes which calls of the last answer are of custom tools, as long as these are declared. */
  #noteCalls(): void {
    for (const { tool, name } of this.#answer!.calls) {
      if (this.#tools.get(name)?.kind === 'custom') this.#items.isCustom(tool)
    }
  }
}
