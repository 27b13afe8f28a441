import { useEffect, useMemo } from 'preact/hooks'
import { align } from '../logic/align.ts'
import { answerOf } from '../logic/answer.ts'
import { hopsOf, timesOf } from '../logic/hops.ts'
import { lossText } from '../logic/losses.ts'
import { writeRoute } from '../logic/route.ts'
import { post } from '../state/api.ts'
import { me } from '../state/me.ts'
import { OpenTurn } from '../state/turn.ts'
import { AskForm } from '../view/ask-form.tsx'
import { Problem } from '../view/loaded.tsx'
import { SideBySide } from '../view/side-by-side.tsx'
import { State } from '../view/state.tsx'
import { TurnCopies } from '../view/turn-copies.tsx'
import { TurnFacts } from '../view/turn-facts.tsx'
import { TurnFailure } from '../view/turn-failure.tsx'
import { Waterfall } from '../view/waterfall.tsx'

/** One turn: its facts, where its time went, and both wires next to its events. */
export function TurnPage({ id }: { id: string }) {
  const turn = useMemo(() => new OpenTurn(id), [id])
  useEffect(() => () => turn.close(), [turn])
  const [detail, events, wire] = [turn.detail.value, turn.events.value, turn.wire.value]
  const rows = useMemo(() => align(events, wire, detail?.losses), [events, wire, detail])
  const hops = detail ? hopsOf(detail, events, timesOf(wire, turn.seen), Date.now()) : []
  const { asks } = answerOf(events)
  // Whoever may look at all turns still answers and cancels only its own.
  const isOwn = detail?.key === me.value?.key
  return (
    <section>
      <div class="head">
        <h1>
          Turn <code>{id}</code>
        </h1>
        {detail && <State turn={detail} />}
        {detail?.state === 'running' && isOwn && (
          <button type="button" onClick={() => void post(`/v1/turns/${encodeURIComponent(id)}/cancel`)}>
            Cancel
          </button>
        )}
      </div>
      {turn.problem.value !== undefined && (
        <>
          <Problem text={turn.problem.value} />
          <a href={writeRoute('turns')}>All turns</a>
        </>
      )}
      {detail && (
        <>
          {detail.fault && <TurnFailure turn={detail} fault={detail.fault} />}
          {isOwn && asks.map((ask) => <AskForm key={ask.ask} turn={id} ask={ask} />)}
          <TurnFacts turn={detail} />
          <Waterfall hops={hops} />
          {detail.losses && (
            <ul class="losses" aria-label="What was lost">
              {detail.losses.map((loss) => (
                <li key={lossText(loss)}>{lossText(loss)}</li>
              ))}
            </ul>
          )}
          <TurnCopies turn={detail} wire={wire} />
          <SideBySide turn={detail} rows={rows} wire={wire} />
        </>
      )}
    </section>
  )
}
