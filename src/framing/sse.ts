import type { Frame, FrameRun, WireText } from '../contract/index.ts'
import { hasLineEnd } from '../model/index.ts'
import { BOM, type FrameDecoder, type FrameSink, tooLarge } from './decoder.ts'
import { Pieces } from './pieces.ts'

/** Room for the longest field name with its colon and space, `event: `, in addition to the value that is limited. */
const NAME_ROOM = 7

const SPACE = 32
const COLON = 58
const LETTER_D = 100
const LETTER_E = 101

/**
 * Reads server-sent events by the WHATWG rules (HTML, section 9.2.6): lines end with CR, LF or CRLF, `data` lines are
 * joined by LF, comments and unknown fields are ignored, a blank line dispatches, an unfinished event is dropped. A
 * frame has the `id` of its own event only, so that forwarding it neither adds nor loses an id.
 */
class SseDecoder implements FrameDecoder {
  readonly #limit: number
  readonly #sink: FrameSink
  readonly #pending = new Pieces()
  #started = false
  #done = false
  /** The last chunk ended with a CR: a following LF belongs to it. */
  #afterCr = false
  #data: string | undefined
  #event = ''
  #id: string | undefined
  /** The text before the data of the frame that was given last; undefined when no frame has just been given. */
  #before: string | undefined

  constructor(limit: number, sink: FrameSink) {
    this.#limit = limit
    this.#sink = sink
  }

  push(text: string): void {
    if (this.#done || text === '') return
    let from = this.#skip(text)
    // Each is searched for again only after it is passed, so that a chunk without one of them is scanned for it once.
    let cr = text.indexOf('\r', from)
    let lf = text.indexOf('\n', from)
    while (cr >= 0 || lf >= 0) {
      const end = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr
      this.#line(text, from, end)
      if (this.#done) return
      from = end === cr && lf === end + 1 ? end + 2 : end + 1
      if (end === cr && from === text.length && lf !== end + 1) this.#afterCr = true
      if (this.#before !== undefined) from = this.#texts(text, from, this.#before)
      if (cr >= 0 && cr < from) cr = text.indexOf('\r', from)
      if (lf >= 0 && lf < from) lf = text.indexOf('\n', from)
    }
    this.#pending.add(text.slice(from))
    if (this.#pending.length > this.#limit + NAME_ROOM) this.#fail()
  }

  end(): void {
    this.#done = true
    this.#release()
  }

  /** Has the sink read frames like the last one. Returns where they end. A frame in a text within the limit is within it. */
  #texts(text: string, at: number, before: string): number {
    this.#before = undefined
    if (text.length > this.#limit) return at
    const wire: WireText = { text, at, before, after: '\n\n', call: undefined }
    this.#sink.texts!(wire)
    return wire.at
  }

  /** The number of units at the start of a chunk that are not part of a line. */
  #skip(text: string): number {
    const first = text.charCodeAt(0)
    const skipped = (!this.#started && first === BOM) || (this.#afterCr && first === 10) ? 1 : 0
    this.#started = true
    this.#afterCr = false
    return skipped
  }

  /** Reads the line from `from` to `end`, which completes the pending one. Only its value is copied. */
  #line(text: string, from: number, end: number): void {
    if (this.#pending.length > 0) {
      this.#pending.add(text.slice(from, end))
      const line = this.#pending.take()
      this.#line(line, 0, line.length)
    } else if (from === end) this.#dispatch()
    else if (end - from > this.#limit + NAME_ROOM) this.#fail()
    else this.#field(text, from, end)
  }

  #field(text: string, from: number, end: number): void {
    // Their names begin with different letters.
    const first = text.charCodeAt(from)
    if (first === LETTER_D) {
      const data = fieldValue('data', text, from, end)
      if (data !== undefined) this.#data = this.#data === undefined ? data : `${this.#data}\n${data}`
    } else if (first === LETTER_E) this.#event = fieldValue('event', text, from, end) ?? this.#event
    else {
      const id = fieldValue('id', text, from, end)
      if (id !== undefined && !id.includes('\0')) this.#id = id
    }
    if ((this.#data?.length ?? 0) + this.#event.length + (this.#id?.length ?? 0) > this.#limit) this.#fail()
  }

  #dispatch(): void {
    const event = this.#event
    if (this.#data !== undefined) {
      this.#sink.frame(frameOf(this.#data, event, this.#id))
      if (this.#sink.texts) this.#before = event === '' ? 'data: ' : `${eventLine(event)}data: `
    }
    this.#release()
  }

  #release(): void {
    this.#pending.clear()
    this.#data = undefined
    this.#event = ''
    this.#id = undefined
  }

  #fail(): void {
    this.#done = true
    this.#release()
    this.#sink.fault(tooLarge('server-sent event', this.#limit, 'limits.line'))
  }
}

/** A frame with the members that it has: V8 keeps those that are added later apart from the object. */
function frameOf(data: string, event: string, id: string | undefined): Frame {
  if (id === undefined) return event === '' ? { data } : { data, event }
  return event === '' ? { data, id } : { data, event, id }
}

/** The value of a field of this name, in the line from `from` to `end`; undefined when the line has another field. */
function fieldValue(name: string, text: string, from: number, end: number): string | undefined {
  const colon = from + name.length
  if (!text.startsWith(name, from)) return undefined
  if (colon === end) return ''
  if (text.charCodeAt(colon) !== COLON) return undefined
  return text.slice(text.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1, end)
}

/** Server-sent events. `limit` is the length of data, name and id of one event together, in UTF-16 units. */
export function sseDecoder(limit: number, sink: FrameSink): FrameDecoder {
  return new SseDecoder(limit, sink)
}

/**
 * A frame as one event; a plain string is the data of an event without a name. Every kind of line end inside the data
 * starts a new `data` line, so that a reader sees it as LF; in a name or an id, which hold none, it becomes a space.
 */
export function encodeSse(frame: Frame): string {
  if (typeof frame === 'string') return withData('', frame)
  if (frame.comment) return `: ${oneLine(frame.data)}\n\n`
  const { data, event, id } = frame
  let head = event ? eventLine(event) : ''
  if (id !== undefined) head += `id: ${oneLine(id)}\n`
  return withData(head, data)
}

/** The frames of a run as events. */
export function encodeSseRun({ event, before, count, pieces, after, id }: FrameRun): string {
  const head = event === undefined ? '' : eventLine(event)
  const begin = id === undefined ? `${head}data: ${before}` : `${head}id: `
  const next = `${after}\n\n${begin}`
  if (id === undefined && !count) return `${begin}${pieces.join(next)}${after}\n\n`
  const data = `\ndata: ${before}`
  let text = begin
  for (let at = 0; at < pieces.length; at += 1) {
    if (at > 0) text += next
    if (id !== undefined) text = text + (id + at) + data
    if (count) text = text + (count.first + at) + count.after
    text += pieces[at]
  }
  return `${text}${after}\n\n`
}

/** The name that was written last, and its line: events of one name follow each other. */
let lastName = ''
let lastLine = ''

function eventLine(name: string): string {
  if (name !== lastName) {
    lastLine = `event: ${oneLine(name)}\n`
    lastName = name
  }
  return lastLine
}

function withData(head: string, data: string): string {
  const lines = hasLineEnd(data) ? data.replace(/\r\n|\r|\n/g, '\ndata: ') : data
  return `${head}data: ${lines}\n\n`
}

function oneLine(value: string): string {
  return hasLineEnd(value) ? value.replace(/[\r\n]/g, ' ') : value
}
