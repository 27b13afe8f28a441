import { messageLine } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import {
  type Ext,
  type Fault,
  type Id,
  type JsonText,
  type Loss,
  type Members,
  quote,
  type TextRun,
} from '../../../src/model/index.ts'
import { ownExt } from '../wire.ts'

const LEVELS = { info: 'info', warning: 'warn', error: 'error' } as const
const NOTIFIED = new Set(['extension', 'level'])

/** The messages and the losses of one exchange. */
export class Lines {
  readonly #ports: FrontPorts
  readonly #exchange: Id

  constructor(ports: FrontPorts, exchange: Id) {
    this.#ports = ports
    this.#exchange = exchange
  }

  /** Writes a message of this type. */
  write(type: string, entries: Members, ext?: Ext, replaceable?: ReadonlySet<string>): void {
    this.#ports.send(messageLine({ type: quote(type), ...entries }, ownExt(ext), replaceable))
  }

  /** Writes a whole line. */
  send(line: string): void {
    this.#ports.send(line)
  }

  /** Writes pieces of the answer. */
  deltas({ inner }: TextRun): void {
    this.#ports.sendRun({ before: '{"type":"text_delta","delta":"', pieces: inner, after: '"}' })
  }

  report(loss: Loss): void {
    this.#ports.report(loss, this.#exchange)
  }
}

/** A notice as `ext_display` when an agent's extension said it so, else as `ext_notify`. */
export function noticeLine(notice: { severity: keyof typeof LEVELS; code: string; text: string; ext?: Ext }): string {
  const [extension, text] = ['"turnpike"', quote(notice.text)]
  const line: Members =
    notice.code === 'ext-display'
      ? { type: '"ext_display"', extension, text }
      : { type: '"ext_notify"', extension, level: quote(LEVELS[notice.severity]), message: text }
  return messageLine(line, ownExt(notice.ext), NOTIFIED)
}

/** The members that a response repeats: the client's command and its id. */
export interface Request {
  command: string
  id?: string | undefined
}

function head({ command, id }: Request): Members {
  return { type: '"response"', id: quote(id), command: quote(command) }
}

/** A response that the command was done. */
export function success(request: Request, data: JsonText | undefined): string {
  return messageLine({ ...head(request), success: 'true', data })
}

/** A response that it was not. */
export function refusal(request: Request, reason: Fault): string {
  // A client that only asks for models reads the list without looking at the success.
  const data = request.command === 'get_models' ? '{"models":[]}' : undefined
  return messageLine({ ...head(request), success: 'false', error: quote(reason.message), data })
}
