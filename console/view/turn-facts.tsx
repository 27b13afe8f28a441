import type { ComponentChildren } from 'preact'
import { cost, count, dateTime, duration, exact, zone } from '../logic/format.ts'
import { totalOf } from '../logic/phases.ts'
import { writeRoute } from '../logic/route.ts'
import type { TurnDetail } from '../logic/types.ts'
import { settings } from '../state/me.ts'
import { Text } from './text.tsx'

/** The facts of a turn, each with its name. */
export function TurnFacts({ turn }: { turn: TurnDetail }) {
  const { agent, front, back, session, request, route, key, usage, startedAt } = turn
  return (
    <dl class="facts">
      <Fact name="Agent">
        <a href={writeRoute('turns', undefined, { agent })}>{agent}</a>
      </Fact>
      <Fact name="Client → agent">
        {front} → {back ?? '?'}
      </Fact>
      <Fact name="Started">
        {dateTime(startedAt)} <small class="muted">{zone(startedAt)}</small>
      </Fact>
      <Fact name="Took">{duration(totalOf(turn, Date.now()))}</Fact>
      {usage && (
        <Fact name="Tokens in / out">
          <span title={`${exact(usage.input)} in, ${exact(usage.output)} out`}>
            {count(usage.input)} / {count(usage.output)}
          </span>
        </Fact>
      )}
      {usage?.costUsd !== undefined && <Fact name="Cost">{cost(usage.costUsd)}</Fact>}
      <Fact name="Session">
        <a href={writeRoute('turns', undefined, { session })}>
          <Text value={session} limit={200} />
        </a>
      </Fact>
      {request !== undefined && (
        <Fact name="Request">
          <Text value={request} limit={200} />
        </Fact>
      )}
      {route !== undefined && <Fact name="Route">{route}</Fact>}
      {key !== undefined && <Fact name="Key">{key}</Fact>}
      {turn.stop !== undefined && <Fact name="Stopped by">{turn.stop}</Fact>}
      <TraceFact trace={turn.trace} />
    </dl>
  )
}

function TraceFact({ trace }: { trace: string | undefined }) {
  const { traces } = settings.value
  if (trace === undefined) return null
  return (
    <Fact name="Trace">
      {traces === undefined ? (
        <code>{trace}</code>
      ) : (
        <a href={traces.replace('{trace}', encodeURIComponent(trace))} target="_blank" rel="noreferrer">
          <code>{trace}</code>
        </a>
      )}
    </Fact>
  )
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
