import { Observable } from 'rxjs'
import type { BackContext, CallEnd, Dialect, Frame, FrontContext } from '../contract/index.ts'
import type { AgentEvent, Command, TurnEvent, TurnStart } from '../model/index.ts'
import { Exchange, type ExchangeHost } from './exchange.ts'
import { turnLaws } from './laws.ts'
import { LiveView } from './view.ts'

/** What an agent said, and which turn it answered. `end` is how its wire ended (default: exit code 0). */
export interface Recorded<O> {
  context: BackContext<O>
  start: Command & TurnStart
  end?: CallEnd
}

/**
 * The canonical events of one turn from the frames that an agent wrote. Subscribing opens the codec's link; completing
 * the frames ends its wire. The laws of a turn hold: exactly one `turn-end`, last.
 */
export function decode$<O>(dialect: Dialect<O>, frames: Observable<Frame>, of: Recorded<O>): Observable<TurnEvent> {
  const events = new Observable<AgentEvent>((subscriber) => {
    let ids = 0
    const link = dialect.back!.open(of.context, {
      emit: (event) => subscriber.next(event),
      open() {},
      send() {},
      end() {},
      fault: () => subscriber.complete(),
      report() {},
      newId: () => `${++ids}`,
    })
    link.open?.()
    link.encode(of.start)
    return frames.subscribe({
      next: (frame) => link.decode(frame),
      error: (error: unknown) => subscriber.error(error),
      complete: () => {
        link.decodeEnd(of.end ?? { why: 'closed', exitCode: 0 })
        subscriber.complete()
      },
    })
  })
  const unfinished = {
    code: 'protocol-violation',
    message: 'The wire has no end of this turn.',
    retryable: false,
  } as const
  return events.pipe(
    turnLaws({
      turn: of.start.turn,
      link() {},
      missingEnd: () => unfinished,
      cancelled: () => false,
      abortable() {},
    }),
  )
}

/**
 * The frames that a client reads for one turn: `request` is what it wrote, as frames (none for fronts whose request
 * comes with the context). Events go to the last exchange that the request opened.
 */
export function encode$(
  dialect: Dialect,
  events: Observable<TurnEvent>,
  of: { context: FrontContext; request: readonly Frame[]; agent: string },
): Observable<Frame> {
  return new Observable((subscriber) => {
    const front = dialect.front!
    let ids = 0
    let exchange: Exchange | undefined
    const host: ExchangeHost = {
      capabilities: front.capabilities,
      gone: false,
      clogged: false,
      encode: (event, { id }, view) => link.encode(event, id, view),
      encodeFault: (fault, { id }) => link.encodeFault(fault, id),
      encodeLink: (event) => link.encodeLink?.(event),
      exchangeEnded() {},
    }
    const link = front.open(of.context, {
      command: (command, answer) => {
        if (answer) exchange = new Exchange(command, answer, host)
      },
      send: (frame) => subscriber.next(frame),
      warn() {},
      fault: (fault, id) => link.encodeFault(fault, id),
      report: (loss) => exchange?.report(loss),
      losses: () => exchange?.ledger.list ?? [],
      newId: () => `${++ids}`,
      close() {},
    })
    link.open?.()
    for (const frame of of.request) link.decode(frame)
    let view: LiveView | undefined
    return events.subscribe({
      next: (event) => {
        if (!exchange) return
        view ??= new LiveView({ turn: event.turn, session: '', agent: of.agent, at: 0, ledger: exchange.ledger })
        view.apply(event, 0)
        exchange.deliver(event, view)
      },
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    })
  })
}
