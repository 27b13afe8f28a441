import { CANCELLED, failedWith, scalarText } from '../../../src/codec-kit/index.ts'
import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  frameText,
  type WireText,
} from '../../../src/contract/index.ts'
import {
  beginningOf,
  type Command,
  type Loss,
  parseObject,
  type TextRun,
  type TurnStart,
  UNASKED_OUTPUT,
} from '../../../src/model/index.ts'
import type { Options } from '../schema.ts'
import { readAnswer } from './answer.ts'
import { faultOfExit } from './exit.ts'
import { controlLine, launch, requestOf, runLine, sessionOf } from './request.ts'
import { SelfTest } from './self-test.ts'
import { ZeneTurn } from './turn.ts'

/** The request id of the first ping, which shows that a persistent process is there. */
const GREETING = 'turnpike-hello'

/** The number of ended runs that are remembered. */
const REMEMBERED = 100

/** The longest part of an unrequested run that is kept, in UTF-16 units. */
const UNASKED_LENGTH = 16_384

/** `zene host` as an agent: a process for every turn, or with `mode: stream` one that takes them all. */
export class ZeneBack implements BackLink {
  readonly open?: () => void
  readonly #ports: BackPorts
  readonly #stream: boolean
  /** Lines may be of other runs too: of a process that takes them all, or of one whose client was recorded with it. */
  readonly #shared: boolean
  /** The ids are those of a client that is not known. */
  readonly #unnamed: boolean
  readonly #args: readonly string[] | undefined
  /** A process of many runs, none of which was another client's. */
  readonly #mayBeUnasked: boolean
  /** The newest runs that the agent was given. */
  readonly #over = new Set<string>()
  #turn: ZeneTurn | undefined
  #selfTest: SelfTest | undefined
  /** The process has not written a line. */
  #silent = true
  #ready = false

  constructor(context: BackContext<Options>, ports: BackPorts) {
    this.#ports = ports
    this.#stream = context.options.mode === 'stream'
    this.#shared = this.#stream || context.recorded === 'both'
    this.#unnamed = !this.#stream && context.recorded === 'agent'
    this.#mayBeUnasked = this.#stream && !context.recorded
    this.#args = context.process?.args
    if (this.#stream) this.open = this.#open.bind(this)
  }

  #open(): void {
    this.#ports.open(launch(true, this.#args))
    this.#ports.send(controlLine('ping', GREETING))
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'turn-cancel') this.#cancel()
    else if (command.type === 'query') this.#selfTest = new SelfTest(this.#ports, command.exchange, this.#args)
    else if (command.type === 'session-close' && this.#stream) {
      const session = command.session?.bound ?? command.session?.id
      if (session === undefined) return
      this.#ports.send(controlLine('session_close', this.#ports.newId(), { session_id: session }))
    }
  }

  decode(frame: Frame): void {
    const line = frameText(frame)
    this.#silent = false
    const turn = this.#turn
    const text = turn?.deltas.textIn(line)
    const json = text === undefined ? parseObject(line) : undefined
    const request = text === undefined ? json?.['request_id'] : turn!.deltas.strings[1]
    if (!this.#ready && request === GREETING) {
      this.#ready = true
      this.#ports.emit({ turn: null, type: 'agent-ready' })
    }
    if (json && this.#mayBeUnasked && !this.#over.has(scalarText(request)) && request !== 'unknown')
      this.#unasked(line, json)
    if (!turn) return
    if (text === undefined && !json) turn.unparsed()
    else if (!this.#isOf(turn, request)) {
      if (!this.#shared) turn.unparsed()
    } else if (json) turn.read(line, json)
    else turn.text(text!)
    // Its end may have begun the next one.
    if (turn.ended && this.#turn === turn) this.#turn = undefined
  }

  decodeTexts(wire: WireText): TextRun | undefined {
    const turn = this.#turn
    const request = turn?.deltas.known?.[1]
    return turn && request !== undefined && this.#isOf(turn, request) ? turn.texts(wire) : undefined
  }

  /** True when a line with this id belongs to the turn. A process of one run may leave the id out. */
  #isOf(turn: ZeneTurn, id: unknown): boolean {
    if (id === turn.request || id === 'unknown' || this.#unnamed) return true
    return !this.#shared && (typeof id !== 'string' || id === '')
  }

  /**
   * The end of a run that no client asked for has its whole text, for example of a job that the agent finished by
   * itself.
   */
  #unasked(line: string, json: Record<string, unknown>): void {
    const said = json['type'] === 'final' ? readAnswer(line, json, () => {}) : undefined
    if (!said || said.fault) return
    const text = beginningOf(said.text, UNASKED_LENGTH)
    this.#ports.emit({ turn: null, type: 'notice', severity: 'info', code: UNASKED_OUTPUT, text })
  }

  decodeEnd(end: CallEnd): void {
    this.#selfTest?.end(end)
    this.#selfTest = undefined
    const turn = this.#turn
    this.#turn = undefined
    if (turn?.cancelled || end.why === 'cancelled') turn?.end(CANCELLED)
    else turn?.end(failedWith(faultOfExit(end, this.#silent)))
  }

  #start(start: Command & TurnStart): void {
    const report = (loss: Loss): void => this.#ports.report(loss, start.turn)
    const session = sessionOf(start.turn, start.session, report)
    const line = runLine(start, session, report)
    const request = requestOf(start)
    this.#over.add(request)
    if (this.#over.size > REMEMBERED) this.#over.delete(this.#over.values().next().value!)
    this.#turn = new ZeneTurn(this.#ports, start.turn, request, session)
    if (!this.#stream) {
      this.#silent = true
      this.#ports.open(launch(false, this.#args))
    }
    this.#ports.send(line)
  }

  /** A one-shot has no verb for it once its input has ended: the engine stops the process. */
  #cancel(): void {
    const turn = this.#turn
    if (!turn || turn.cancelled) return
    turn.cancelled = true
    if (!this.#stream) return
    const target = { session_id: turn.session, target_request_id: turn.request }
    this.#ports.send(controlLine('cancel', this.#ports.newId(), target))
  }
}
