import { useState } from 'preact/hooks'
import type { Row } from '../logic/align.ts'
import { textOfEvents } from '../logic/event-text.ts'
import { lossText } from '../logic/losses.ts'
import type { TurnDetail, Wire } from '../logic/types.ts'
import { Text } from './text.tsx'
import { Frames } from './wire-frames.tsx'

/** Lines that are drawn at first, and with each press. */
const STEP = 200

/** The client's wire, the canonical events and the agent's wire, side by side. */
export function SideBySide({ turn, rows, wire }: { turn: TurnDetail; rows: readonly Row[]; wire: Wire | undefined }) {
  const [shown, setShown] = useState(STEP)
  const [isPretty, setPretty] = useState(false)
  return (
    <div class="sides">
      <div class="side-tools">
        <Origin wire={wire} />
        <label>
          <input type="checkbox" checked={isPretty} onChange={(event) => setPretty(event.currentTarget.checked)} /> JSON
          on several lines
        </label>
      </div>
      <div class="side-row side-heading">
        <h2>Client · {wire?.clientProtocol ?? turn.front}</h2>
        <h2>Events</h2>
        <h2>Agent · {wire?.agentProtocol ?? turn.back ?? '?'}</h2>
      </div>
      {rows.slice(0, shown).map((row, at) => (
        <Line key={row.events[0]?.seq ?? `request ${at}`} row={row} turn={turn} isPretty={isPretty} />
      ))}
      {rows.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + STEP)}>
          Show more ({rows.length - shown} lines left)
        </button>
      )}
    </div>
  )
}

/** Says where the wires come from, and how to keep them. */
function Origin({ wire }: { wire: Wire | undefined }) {
  if (wire?.kept) return <p class="muted">Both wires as they were.</p>
  return (
    <p class="note">
      {wire
        ? 'The wires of this turn were not kept: both sides show its events, encoded again. '
        : 'The wires of this turn were not kept. '}
      To keep those of later turns, set <code>journal: wire</code> of their route.
    </p>
  )
}

function Line({ row, turn, isPretty }: { row: Row; turn: TurnDetail; isPretty: boolean }) {
  const [first] = row.events
  return (
    <div class={row.losses.length > 0 ? 'side-row has-loss' : 'side-row'}>
      <Frames frames={row.client} side="client" startedAt={turn.startedAt} isPretty={isPretty} />
      <div class="event">
        <span class="seq">{first ? first.seq : ''}</span>
        <div>
          <b class={`type ${first?.type ?? ''}`}>{first?.type ?? 'before the turn'}</b>
          {row.events.length > 1 && <span class="muted"> × {row.events.length}</span>}
          {first?.lane !== undefined && <span class="muted"> · {first.lane}</span>}
          {first && (
            <div class="said">
              <Text value={textOfEvents(row.events)} limit={1_500} />
            </div>
          )}
          {row.losses.map((loss) => (
            <p key={lossText(loss)} class="loss-mark">
              {lossText(loss)}
            </p>
          ))}
        </div>
      </div>
      <Frames frames={row.agent} side="agent" startedAt={turn.startedAt} isPretty={isPretty} />
    </div>
  )
}
