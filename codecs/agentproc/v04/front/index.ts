import {
  type Frame,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
} from '../../../../src/contract/index.ts'
import {
  type Fault,
  fault,
  type Id,
  type Loss,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../../src/model/index.ts'
import { exitCodeOf } from '../../errors.ts'
import { refusedTurn, type TypedVersion } from '../../versions.ts'
import { EventWriter } from './answer.ts'
import { Asks } from './asks.ts'
import { errorLine, partialLine } from './lines.ts'
import { inputOf, readTurn, sessionOf, turnExt } from './request.ts'

const HEADERS = { 'content-type': 'application/x-ndjson; charset=utf-8' }

/** The agent of a wire of JSON lines: one turn object, then the answers to its own requests; events out. */
export class TypedFront implements FrontLink {
  readonly #version: TypedVersion
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  /** Set by the first line, as the writer is by the turn in it. */
  #asks: Asks | undefined
  #writer: EventWriter | undefined
  /** The client's session id, for an error before the turn is accepted. */
  #session: string | undefined

  constructor(version: TypedVersion, context: FrontContext, ports: FrontPorts) {
    this.#version = version
    this.#context = context
    this.#ports = ports
  }

  decode(frame: Frame): void {
    if (this.#asks) this.#asks.answer(frameText(frame))
    else this.#start(frameText(frame))
  }

  decodeEnd(): void {
    if (!this.#asks) this.#refuse('There is no turn on stdin; write one {"type":"turn",…} line.')
  }

  encode(event: TurnEvent, _exchange: Id, view: TurnView): void {
    this.#writer?.write(event, view)
    if (event.type === 'turn-end') this.#ports.close(event.outcome === 'completed' ? 0 : exitCodeOf(event.fault))
  }

  encodeTexts(run: TextRun, _exchange: Id, view: TurnView): void {
    this.#writer!.texts(run, view)
  }

  /** A partial without a text shows nothing; an empty line would be malformed. */
  keepAlive(): void {
    if (this.#context.transport !== 'http') return
    this.#ports.send(partialLine('', undefined, { session: undefined, ext: undefined }))
  }

  encodeFault(found: Fault): void {
    const session = this.#version === '0.4' ? this.#session : undefined
    this.#ports.send(errorLine(found.message, undefined, { session, ext: undefined }))
    this.#ports.close(exitCodeOf(found))
  }

  #start(line: string): void {
    const exchange = this.#ports.newId()
    this.#asks = new Asks(this.#ports, exchange)
    const turn = readTurn(line)
    if (!turn) {
      this.#refuse('The first line is no turn; write one {"type":"turn",…} line.')
      return
    }
    this.#session = turn.session_id || undefined
    const refused = refusedTurn(turn.protocol_version)
    if (refused) {
      this.#ports.fault(refused, 'ends')
      return
    }
    const losses: Loss[] = []
    const input = inputOf(turn, line, (loss) => losses.push(loss))
    if (input.length === 0) {
      this.#refuse('turn.message is required, or turn.attachments; send one of them.')
      return
    }
    this.#writer = new EventWriter(this.#version, this.#ports, exchange, this.#asks)
    const ext = turnExt(line)
    // Over HTTP the body is all that the client ever says.
    const asks = turn.permission && this.#context.transport !== 'http' ? 'inline' : 'never'
    this.#ports.command(
      {
        exchange,
        type: 'turn-start',
        turn: this.#ports.newId(),
        task: 'prompt',
        input,
        options: {},
        session: sessionOf(turn),
        ...(ext && { ext }),
      },
      { form: 'stream', framing: 'ndjson', headers: HEADERS, onDisconnect: 'cancel', asks },
    )
    for (const loss of losses) this.#ports.report(loss, exchange)
  }

  #refuse(message: string): void {
    this.#ports.fault(fault('invalid-request', message), 'ends')
  }
}
