import { cost, count, dateTime, exact, moment, zone } from '../logic/format.ts'
import { lossCount, lossText } from '../logic/losses.ts'
import { writeRoute } from '../logic/route.ts'
import type { TurnRow } from '../logic/types.ts'
import { plain } from '../logic/visible.ts'
import { DurationBar } from './duration-bar.tsx'
import { State } from './state.tsx'
import { Text } from './text.tsx'

/** The columns of the list of turns: the class of each, and its heading. */
export const TURN_COLUMNS = [
  ['started', 'Started'],
  ['condition', 'State'],
  ['agent', 'Agent'],
  ['pair', 'Client → agent'],
  ['time', 'Duration'],
  ['tokens', 'Tokens'],
  ['cost', 'Cost'],
  ['lost', 'Lost'],
  ['about', 'Session, or why it failed'],
] as const

interface TurnLineProps {
  turn: TurnRow
  index: number
  fullBar: number
  now: number
}

/** One turn of the list; all of it leads to its page. */
export function TurnLine({ turn, index, fullBar, now }: TurnLineProps) {
  const { usage, losses, code, error, startedAt } = turn
  // The reason of a failure takes the room of columns that such a turn does not fill.
  const isBare = code !== undefined && usage === undefined && losses === undefined
  return (
    <div class="turn-row" role="row" aria-rowindex={index + 2}>
      <span role="cell" class="started number">
        <a
          class="cover"
          href={writeRoute('turns', turn.turn)}
          title={`${dateTime(startedAt)} ${zone(startedAt)}`}
          aria-label={`${moment(startedAt, now)}, turn ${plain(turn.turn)}`}
        >
          {moment(startedAt, now)}
        </a>
      </span>
      <span role="cell" class="condition">
        <State turn={turn} />
      </span>
      <span role="cell" class="agent" title={turn.agent}>
        {turn.agent}
      </span>
      <span role="cell" class="pair">
        {turn.front} <span class="muted">→</span> {turn.back ?? '?'}
      </span>
      <span role="cell" class="time">
        <DurationBar turn={turn} fullBar={fullBar} now={now} />
      </span>
      {!isBare && <Figures turn={turn} />}
      <span
        role="cell"
        class={isBare ? 'about wide' : 'about'}
        aria-colspan={isBare ? 4 : undefined}
        title={error === undefined ? undefined : plain(error)}
      >
        {code === undefined ? <Ids turn={turn} /> : <Failure code={code} error={error} />}
      </span>
    </div>
  )
}

function Figures({ turn: { usage, losses } }: { turn: TurnRow }) {
  const output = usage?.output ?? usage?.total
  return (
    <>
      <span
        role="cell"
        class="number tokens"
        title={usage && `${exact(usage.input)} tokens in, ${exact(output)} tokens out`}
      >
        {usage ? `${count(usage.input)} / ${count(output)}` : '–'}
      </span>
      <span role="cell" class="number cost">
        {cost(usage?.costUsd)}
      </span>
      <span role="cell" class="number lost" title={losses?.map(lossText).join('\n')}>
        {losses ? <b class="loss">{count(lossCount(losses))}</b> : '–'}
      </span>
    </>
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
