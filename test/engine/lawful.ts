import { Observable } from 'rxjs'
import { type LawContext, TurnLaws } from '../../src/engine/events/laws.ts'
import type { AgentEvent, TurnEvent } from '../../src/model/index.ts'

/** The events of a source under the laws of a turn, whose end leaves the source. */
export function lawful(source: Observable<AgentEvent>, context: LawContext): Observable<TurnEvent> {
  return new Observable((subscriber) => {
    const laws = new TurnLaws(context, subscriber)
    return source.subscribe({ next: (event) => laws.next(event), complete: () => laws.complete() })
  })
}
