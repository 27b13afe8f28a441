import { clock, cost, count } from '../logic/format.ts'
import { lossCount, lossText } from '../logic/losses.ts'
import { writeRoute } from '../logic/route.ts'
import type { TurnRow } from '../logic/types.ts'
import { plain } from '../logic/visible.ts'
import { DurationBar } from './duration-bar.tsx'
import { State } from './state.tsx'
import { Text } from './text.tsx'

/** The headings of the list of turns. */
export const TURN_COLUMNS = [
  'Started',
  'State',
  'Agent',
  'Client → agent',
  'Duration',
  'Tokens',
  'Cost',
  'Lost',
  'Session, or why it failed',
]

/** One turn of the list; all of it leads to its page. */
export function TurnLine({
  turn,
  index,
  fullBar,
  now,
}: {
  turn: TurnRow
  index: number
  fullBar: number
  now: number
}) {
  const { usage, losses, code, error } = turn
  return (
    <div class="turn-row" role="row" aria-rowindex={index + 2}>
      <span role="cell" class="number">
        <a
          class="cover"
          href={writeRoute('turns', turn.turn)}
          aria-label={`${clock(turn.startedAt)}, turn ${plain(turn.turn)}`}
        >
          {clock(turn.startedAt)}
        </a>
      </span>
      <span role="cell">
        <State turn={turn} />
      </span>
      <span role="cell" class="agent">
        {turn.agent}
      </span>
      <span role="cell" class="pair">
        {turn.front} <span class="muted">→</span> {turn.back ?? '?'}
      </span>
      <span role="cell" class="time">
        <DurationBar turn={turn} fullBar={fullBar} now={now} />
      </span>
      <span role="cell" class="number tokens" title="input / output">
        {usage ? `${count(usage.input)} / ${count(usage.output ?? usage.total)}` : '–'}
      </span>
      <span role="cell" class="number cost">
        {cost(usage?.costUsd)}
      </span>
      <span role="cell" class="number lost" title={losses?.map(lossText).join('\n')}>
        {losses ? <b class="loss">{count(lossCount(losses))}</b> : '–'}
      </span>
      <span role="cell" class="about">
        {code === undefined ? <Ids turn={turn} /> : <Failure code={code} error={error} />}
      </span>
    </div>
  )
}

function Ids({ turn: { turn, session, key } }: { turn: TurnRow }) {
  return (
    <>
      <Text value={session} limit={80} />
      {key !== undefined && ` · ${key}`} <code class="muted">{turn}</code>
    </>
  )
}

function Failure({ code, error }: { code: string; error: string | undefined }) {
  return (
    <>
      <b class="failed">{code}</b> {error !== undefined && <Text value={error} limit={300} />}
    </>
  )
}
