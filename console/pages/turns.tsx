import { useEffect, useMemo, useState } from 'preact/hooks'
import { readFilters } from '../logic/filters.ts'
import { count } from '../logic/format.ts'
import { fullBarOf } from '../logic/phases.ts'
import type { Route } from '../logic/route.ts'
import type { TurnRow } from '../logic/types.ts'
import { TurnList } from '../state/turn-list.ts'
import { Problem } from '../view/loaded.tsx'
import { TurnFilters } from '../view/turn-filters.tsx'
import { TURN_COLUMNS, TurnLine } from '../view/turn-line.tsx'
import { Virtual } from '../view/virtual.tsx'

/** The turns of the gateway, live: the newest first, narrowed by the filters of the address. */
export function TurnsPage({ route }: { route: Route }) {
  const filters = readFilters(route.query)
  const list = useTurnList(JSON.stringify(filters))
  const { shown, waiting, hold } = useHeld(list.rows.value)
  const now = useNow(shown.some(({ state }) => state === 'running'))
  const fullBar = fullBarOf(shown, now)
  return (
    <section class="fill">
      <div class="head">
        <h1>Turns</h1>
        <span class={list.live.value ? 'live' : 'live lost'} role="status">
          {list.live.value ? 'live' : 'not connected'}
        </span>
        <span class="muted">
          {count(list.rows.value.length)} shown{list.hasMore.value ? ', older ones below' : ''}
        </span>
        {waiting > 0 && (
          <button type="button" class="fresh" onClick={toTop}>
            {waiting} new
          </button>
        )}
      </div>
      <TurnFilters filters={filters} turns={list.rows.value} />
      {list.problem.value !== undefined && <Problem text={list.problem.value} />}
      {shown.length === 0 ? (
        <Empty list={list} isNarrowed={Object.keys(filters).length > 0} />
      ) : (
        <div class="turns" role="table" aria-label="Turns" aria-rowcount={shown.length + 1}>
          <div class="turn-row heading" role="row" aria-rowindex={1}>
            {TURN_COLUMNS.map(([column, name]) => (
              <span key={column} class={column} role="columnheader">
                {name}
              </span>
            ))}
          </div>
          <Virtual rows={shown} onEnd={() => void list.more()} onAway={hold}>
            {(turn, index) => <TurnLine key={turn.turn} turn={turn} index={index} fullBar={fullBar} now={now} />}
          </Virtual>
        </div>
      )}
    </section>
  )
}

function Empty({ list, isNarrowed }: { list: TurnList; isNarrowed: boolean }) {
  if (list.problem.value !== undefined) return null
  if (!list.loaded.value) {
    return (
      <p class="muted" role="status">
        Loading…
      </p>
    )
  }
  return (
    <p class="empty">
      {isNarrowed
        ? 'No turn passes these filters.'
        : 'No turns yet. Send one from “Try it”, or from any client of the gateway.'}
    </p>
  )
}

/** Shows the newest turns, with those that were held back. */
function toTop(): void {
  document.querySelector('.virtual')?.scrollTo({ top: 0 })
}

/** The list of turns for these filters, as JSON. */
function useTurnList(filters: string): TurnList {
  const list = useMemo(() => new TurnList(JSON.parse(filters)), [filters])
  useEffect(() => () => list.close(), [list])
  return list
}

/** Holds new turns back while the reader looks at older ones, so that nothing moves while they read. */
function useHeld(rows: readonly TurnRow[]) {
  const [held, setHeld] = useState<string | undefined>()
  const waiting = Math.max(
    0,
    rows.findIndex(({ turn }) => turn === held),
  )
  return {
    shown: waiting === 0 ? rows : rows.slice(waiting),
    waiting,
    hold: (isAway: boolean) => {
      if (isAway !== (held !== undefined)) setHeld(isAway ? rows[waiting]?.turn : undefined)
    },
  }
}

/** The time, each second while turns run. */
function useNow(runs: boolean): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (!runs) return
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [runs])
  return runs ? now : Date.now()
}
