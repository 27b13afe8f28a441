import { Observable } from 'rxjs'
import type { BackContext, BackDialect, CallEnd, Frame, FrontContext, FrontDialect } from '../../contract/index.ts'
import type { Command, Fault, Loss, TurnEvent, TurnStart } from '../../model/index.ts'
import { BackHost } from '../agent/index.ts'
import type { Exchange } from '../client/index.ts'
import { NO_CALLS } from './recorded-agent.ts'
import { RecordedClient } from './recorded-client.ts'

export { dropped } from '../carry/index.ts'
export { type Exchange, frontsOf, type Started, stdioContext, takenBy } from '../client/index.ts'
export { acceptedTurn } from '../events/index.ts'
export { type AgentListener, RecordedAgent } from './recorded-agent.ts'
export { type ClientListener, RecordedClient } from './recorded-client.ts'

/** Listener for losses, and for frames that cannot be read. */
export interface Listener {
  loss?(loss: Loss): void
  fault?(fault: Fault): void
}

/** The frames of an agent, and the turn that they answer. `end` is the end of its wire (default: exit code 0). */
export interface Recorded<O> extends Listener {
  context: BackContext<O>
  start: Command & TurnStart
  end?: CallEnd
}

/**
 * The canonical events of one turn from the frames that an agent wrote: `BackHost.run`, as in a gateway. Subscribing
 * opens the codec's link; completing the frames ends its wire. The laws of a turn hold: exactly one `turn-end`, last.
 */
export function decode$<O>(dialect: BackDialect<O>, frames: Observable<Frame>, of: Recorded<O>): Observable<TurnEvent> {
  return new Observable((subscriber) => {
    const host = new BackHost(dialect, of.context, NO_CALLS, {
      link() {},
      loss: (loss) => of.loss?.(loss),
      fault: (fault) => of.fault?.(fault),
      idle() {},
    })
    host.open()
    host.run(of.start).subscribe(subscriber)
    if (subscriber.closed) return
    return frames.subscribe({
      next: (frame) => host.decode(frame),
      error: (error: unknown) => subscriber.error(error),
      complete: () => {
        host.callEnded(of.end ?? { why: 'closed', exitCode: 0 })
        host.close()
      },
    })
  })
}

/** A client that reads a turn: its codec's context and its frames (none where its request comes with the context). */
export interface Reading extends Listener {
  context: FrontContext
  request: readonly Frame[]
  agent: string
}

/**
 * The frames that a client reads for one turn: `FrontHost.encode`, as in a gateway. Events go to the last exchange that
 * its request opened.
 */
export function encode$(dialect: FrontDialect, events: Observable<TurnEvent>, of: Reading): Observable<Frame> {
  return new Observable((subscriber) => {
    let exchange: Exchange | undefined
    const client = new RecordedClient(
      { dialect, context: of.context, agent: of.agent },
      {
        command: (_command, opened) => {
          exchange = opened ?? exchange
        },
        send: (frame) => subscriber.next(frame),
        loss: (loss) => of.loss?.(loss),
        fault: (fault) => of.fault?.(fault),
      },
    )
    client.open()
    for (const frame of of.request) client.decode(frame)
    return events.subscribe({
      next: (event) => exchange && client.deliver(event, exchange),
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    })
  })
}
