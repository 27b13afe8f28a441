import { DeltaReader, type ModelAnswer, type ModelCall } from '../../../../src/codec-kit/index.ts'
import type { BackPorts, WireText } from '../../../../src/contract/index.ts'
import {
  type Citation,
  type Fault,
  fault,
  type Id,
  type JsonText,
  type Loss,
  type Part,
  type Stop,
  TextRun,
  type Usage,
} from '../../../../src/model/index.ts'
import { faultOfError } from '../../errors.ts'
import { MESSAGES } from '../../further.ts'
import { entriesExt } from '../../wire.ts'
import { joinedMembers } from '../pieces.ts'
import { cited } from '../read-messages.ts'
import { brokenOff, stopOf } from '../stops.ts'
import type { MessageWriter } from '../write-messages.ts'
import type { CallPiece } from './call-piece.ts'
import type { Said } from './chunks.ts'
import { CHUNKS, type ChunkDelta } from './deltas.ts'

const NO_CHUNK = fault('protocol-violation', 'The model provider sent something that is no chunk of an answer.')

/** A call while its pieces come, with the index and id that the server gave it. */
interface OpenCall {
  index: number | undefined
  id: string | undefined
  call: ModelCall
  /** Its further members, in pieces. */
  further: JsonText[]
}

/** One answer of the model while it streams: emits its text, reasoning and calls as events of the turn. */
export class ChatAnswer implements ModelAnswer {
  readonly #turn: Id
  readonly #ports: BackPorts
  readonly #report: (loss: Loss) => void
  readonly #chunks = new DeltaReader<Said, ChunkDelta>(CHUNKS)
  readonly #writer: MessageWriter
  readonly #calls: OpenCall[] = []
  over = false
  usage: Usage | undefined
  #said: Said = { calls: [] }
  #finish: string | undefined
  #message: Id | undefined
  /** All of its text, reasoning and sources so far, and its further members in pieces. */
  readonly #spoken = { text: '', reasoning: '', citations: [] as Citation[], further: [] as JsonText[] }

  /** `writer` knows the client's tools, and writes the answer for the next request. */
  constructor(turn: Id, ports: BackPorts, report: (loss: Loss) => void, writer: MessageWriter) {
    this.#turn = turn
    this.#ports = ports
    this.#report = report
    this.#writer = writer
  }

  get calls(): readonly ModelCall[] {
    return this.#calls.map(({ call }) => call)
  }

  /** An answer without a finish reason was cut. */
  get ending(): Stop | Fault | undefined {
    if (this.#finish === undefined) return undefined
    const stop = stopOf(this.#finish) ?? 'end'
    return stop === 'error' ? brokenOff(this.#finish) : stop
  }

  take(data: string): Fault | undefined {
    // A server may leave it out.
    if (data.trim() === '[DONE]') {
      this.over = true
      this.#said = { calls: [] }
      return undefined
    }
    const said = this.#chunks.read(data, this.#report)
    if (!said) return NO_CHUNK
    if (said.error !== undefined) return faultOfError(said.error, undefined)
    // Some servers repeat the count so far in every chunk.
    this.usage = said.usage ?? this.usage
    this.#said = said
    return undefined
  }

  write(): readonly JsonText[] {
    return [this.#writer.answer(this.#parts)]
  }

  /** Its text and calls, as the parts of a message. */
  get #parts(): readonly Part[] {
    const { text, further } = this.#spoken
    const calls = this.#calls.map(({ call: { tool, name, args }, further: own }): Part => {
      const ext = entriesExt([['chat', joinedMembers(own)]])
      return { type: 'tool-call', tool, name, args, ...(ext && { ext }) }
    })
    return MESSAGES.chat.begin(
      [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls],
      joinedMembers(further),
    )
  }

  say(): void {
    const { text, reasoning, refusal, citations = [], calls, finish, further } = this.#said
    const turn = this.#turn
    this.#finish ??= finish
    if (reasoning !== undefined) {
      this.#spoken.reasoning += reasoning
      this.#ports.emit({ type: 'reasoning-delta', turn, message: this.#open(), text: reasoning })
    }
    const said = text ?? refusal
    if (said !== undefined) {
      const message = this.#open(text === undefined)
      this.#spoken.text += said
      this.#ports.emit({ type: 'text-delta', turn, message, text: said })
    }
    for (const citation of citations) this.#cite(citation)
    for (const piece of calls) this.#call(piece)
    if (further !== undefined) this.#spoken.further.push(further)
  }

  texts(wire: WireText): TextRun | undefined {
    if (this.#chunks.known?.kind !== 'text') return undefined
    const texts = this.#chunks.textsIn(wire)
    if (texts.length === 0) return undefined
    const run = TextRun.from(this.#turn, this.#open(), texts)
    this.#spoken.text += run.text
    return run
  }

  #cite(citation: Citation): void {
    this.#spoken.citations.push(citation)
    this.#ports.emit({ type: 'citation', turn: this.#turn, message: this.#open(), ...citation })
  }

  end(): void {
    const turn = this.#turn
    const calls = this.calls
    const besides = calls.length + this.#spoken.citations.length + this.#spoken.further.length
    if (this.#message !== undefined || besides > 0) {
      const parts = besides === 0 ? undefined : this.#wholeParts()
      this.#ports.emit({ type: 'message-end', turn, message: this.#open(), ...(parts && { parts }) })
    }
    for (const call of calls) this.#ports.emit({ type: 'tool-call', turn, ...call })
  }

  #wholeParts(): readonly Part[] {
    const reasoning = { type: 'reasoning', text: this.#spoken.reasoning } as const
    const parts = cited(this.#parts, this.#spoken.citations)
    return this.#spoken.reasoning === '' ? parts : [reasoning, ...parts]
  }

  #open(refuses = false): Id {
    if (this.#message !== undefined) return this.#message
    const message = this.#ports.newId()
    this.#message = message
    const phase = refuses ? ({ phase: 'refusal' } as const) : {}
    this.#ports.emit({ type: 'message-start', turn: this.#turn, message, role: 'assistant', ...phase })
    return message
  }

  #call(piece: CallPiece): void {
    const open = this.#known(piece) ?? this.#begin(piece)
    const { call } = open
    if (piece.further !== undefined) open.further.push(piece.further)
    if (piece.args === '') return
    call.args += piece.args
    this.#ports.emit({ type: 'tool-args-delta', turn: this.#turn, tool: call.tool, text: piece.args })
  }

  /** The call that a piece goes on with. Some servers leave the index out, or give the same one to every call. */
  #known({ index, id, name }: CallPiece): OpenCall | undefined {
    const last = this.#calls.findLast((call) => call.index === index)
    if (id === undefined) return index === undefined && name !== undefined ? undefined : last
    if (index !== undefined && last && last.id === undefined) return last
    return this.#calls.find((call) => call.index === index && call.id === id)
  }

  #begin({ index, id, name = '' }: CallPiece): OpenCall {
    const turn = this.#turn
    const executor = this.#writer.executorOf(name)
    const used = this.#calls.some(({ call }) => call.tool === id)
    const tool = id === undefined || used ? `call_${this.#ports.newId()}` : id
    const call = { tool, name, args: '', executor }
    const open = { index, id, call, further: [] }
    this.#calls.push(open)
    this.#ports.emit({ type: 'tool-start', turn, tool, message: this.#open(), name, executor })
    return open
  }
}
