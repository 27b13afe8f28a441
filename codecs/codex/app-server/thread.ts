import * as v from 'valibot'
import { dropped, type Report, type RpcAnswer } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import {
  append,
  type Command,
  type Fault,
  fault,
  type JsonText,
  type Loss,
  object,
  quote,
  type TurnStart,
} from '../../../src/model/index.ts'
import { refusalOf } from '../errors.ts'
import { ThreadOpened } from '../schema.ts'
import { ownExt, PROTOCOL } from '../wire.ts'
import { historyItems } from './history.ts'
import { inputJson } from './input.ts'
import { openingParams, toolsJson } from './opening.ts'
import { type AppServer, texts } from './server.ts'
import { ThreadUsage } from './usage.ts'

type Start = Command & TurnStart

/** Goes on when the thread is open, or with the fault that prevents it. */
type Opened = (failed?: Fault) => void

/** The thread that the process works in: its id and settings. */
export class Thread {
  readonly usage = new ThreadUsage()
  /** The agent's id of the thread, once it is open. */
  id: string | undefined
  readonly #server: AppServer
  readonly #ports: BackPorts
  /** The folder of the process. */
  readonly #folder: string | undefined
  /** It has had no turn. */
  #fresh = true
  /** Model and effort: those that the thread began with, and now. */
  #own: Settings = {}
  #now: Settings = {}
  /** Fixed when a thread begins. */
  #instructions: string | undefined
  #tools = '[]'

  constructor(server: AppServer, ports: BackPorts, folder: string | undefined) {
    this.#server = server
    this.#ports = ports
    this.#folder = folder
  }

  /** Opens the thread of a turn: the one that is open, one that the gateway remembers or a copy of it, or a new one. */
  open(start: Start, opened: Opened): void {
    const bound = start.session?.bound
    const origin = start.session?.origin
    if (origin === undefined && bound === undefined && this.id === undefined) {
      this.#begin(start, opened)
      return
    }
    // A thread that there is has its own, of which this may be a repetition.
    if (start.history?.length) this.#ports.report(dropped('start.history'), start.turn)
    if (origin !== undefined) this.#goOn('thread/fork', start, origin, opened)
    else if (bound === undefined || bound === this.id) {
      this.#reportFixed(start)
      opened()
    } else this.#goOn('thread/resume', start, bound, opened)
  }

  /** A turn begins: the parameters of its `turn/start`. */
  turnParams(start: Start, report: Report): JsonText {
    this.usage.begin(this.#fresh)
    this.#fresh = false
    if (start.ext && start.ext.protocol !== PROTOCOL) report(dropped('ext', start.ext.protocol))
    const { model = this.#own.model, effort = this.#own.effort, outputSchema } = start.options
    const changed = texts({
      model: model === this.#now.model ? undefined : model,
      effort: effort === this.#now.effort ? undefined : effort,
    })
    this.#now = { model, effort }
    const params = object({ threadId: quote(this.id!), input: inputJson(start.input, report), outputSchema })
    return append(append(params, changed), ownExt(start.ext))
  }

  /** A recorded wire says which thread it is. */
  adopt(id: string): void {
    this.id = id
    this.#ports.emit({ turn: null, type: 'session-bound', agentSession: id })
  }

  #begin(start: Start, opened: Opened): void {
    const report = (loss: Loss): void => this.#ports.report(loss, start.turn)
    const { systemPrompt, model } = start.options
    const tools = toolsJson(start.clientTools ?? [], report)
    const opening = openingParams(start, this.#folder, report)
    const own = append(texts({ model }), tools === '[]' ? undefined : `{"dynamicTools":${tools}}`)
    const params = append(opening, own)
    this.#server.call('thread/start', params, (answer) => {
      const failed = this.#opened(answer, model)
      this.#instructions = systemPrompt
      this.#tools = tools
      this.#fresh = true
      if (failed || !start.history?.length) opened(failed)
      else this.#inject(historyItems(start.history, report), opened)
    })
  }

  /** Goes on with a thread that the agent keeps, or with a copy of it. */
  #goOn(method: 'thread/resume' | 'thread/fork', start: Start, known: string, opened: Opened): void {
    this.id = undefined
    const report = (loss: Loss): void => this.#ports.report(loss, start.turn)
    const which = append(texts({ threadId: known }), '{"excludeTurns":true}')
    const params = append(which, openingParams(start, this.#folder, report))
    this.#server.call(method, params, (answer) => {
      if (answer.kind === 'error') {
        const text = `The agent cannot go on with this session: ${answer.error.message}`
        opened(fault('session-not-found', text, { retry: 'fresh-session' }))
        return
      }
      this.#fresh = false
      this.#instructions = start.options.systemPrompt
      this.#tools = toolsJson(start.clientTools ?? [], () => {})
      opened(this.#opened(answer, undefined))
    })
  }

  /** Takes the answer of the agent; `model` is one that the client has set. */
  #opened(answer: RpcAnswer, model: string | undefined): Fault | undefined {
    if (answer.kind === 'error') return refusalOf(answer.error)
    const { success, output } = v.safeParse(ThreadOpened, answer.result)
    if (!success) return fault('protocol-violation', 'The agent opened a thread without an id.')
    this.#now = { model: output.model ?? undefined, effort: output.reasoningEffort ?? undefined }
    this.#own = model === undefined ? this.#now : { effort: this.#now.effort }
    this.adopt(output.thread.id)
    return undefined
  }

  /** Gives a new thread the conversation so far. */
  #inject(items: JsonText, opened: Opened): void {
    const params = object({ threadId: quote(this.id!), items })
    this.#server.call('thread/inject_items', params, (answer) => {
      opened(answer.kind === 'error' ? refusalOf(answer.error) : undefined)
    })
  }

  /** Instructions and tools are set when a thread begins; others cannot be set later. */
  #reportFixed({ turn, options, clientTools = [] }: Start): void {
    const { systemPrompt = this.#instructions } = options
    if (systemPrompt !== this.#instructions) this.#ports.report(dropped('option.systemPrompt'), turn)
    if (toolsJson(clientTools, () => {}) !== this.#tools) this.#ports.report(dropped('start.clientTools'), turn)
  }
}

interface Settings {
  model?: string | undefined
  effort?: string | undefined
}
