import { dropped, type Entry, messageLine, weakened } from '../../../src/codec-kit/index.ts'
import type { FrontPorts } from '../../../src/contract/index.ts'
import { type Ext, type Id, type Item, type Loss, type Members, quote } from '../../../src/model/index.ts'
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

  /** Something has no place on this wire. */
  drop(item: Item, field?: string): void {
    this.report(dropped(item, field))
  }

  /** Reports an item that has no place of its own. */
  weaken(item: Item): void {
    this.report(weakened(item))
  }

  report(loss: Loss): void {
    this.#ports.report(loss, this.#exchange)
  }
}

/** A notice as `ext_display` when an agent's extension said it so, else as `ext_notify`. */
export function noticeLine(notice: { severity: keyof typeof LEVELS; code: string; text: string; ext?: Ext }): string {
  const extension: Entry = ['extension', '"turnpike"']
  if (notice.code === 'ext-display') {
    return messageLine(
      [['type', '"ext_display"'], extension, ['text', quote(notice.text)]],
      ownExt(notice.ext),
      NOTIFIED,
    )
  }
  const level: Entry = ['level', quote(LEVELS[notice.severity])]
  return messageLine(
    [['type', '"ext_notify"'], extension, level, ['message', quote(notice.text)]],
    ownExt(notice.ext),
    NOTIFIED,
  )
}
