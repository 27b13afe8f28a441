import { breakerText } from '../logic/concerns.ts'
import { count, duration, moment } from '../logic/format.ts'
import { writeRoute } from '../logic/route.ts'
import type { AgentError, AgentRow, AgentsAnswer, Latency } from '../logic/types.ts'
import { get } from '../state/api.ts'
import { FiguresOf } from '../view/figures-of.tsx'
import { Pending, useLoaded } from '../view/loaded.tsx'
import { Text } from '../view/text.tsx'

const EVERY_MS = 5_000

/** The agents with the figures of their last hour. */
export function AgentsPage() {
  const loaded = useLoaded(() => get<AgentsAnswer>('/v1/agents'), [], EVERY_MS)
  return (
    <section>
      <div class="head">
        <h1>Agents</h1>
        <FiguresOf when="figures of the last hour" replicas={loaded.value?.replicas} />
      </div>
      <Pending loaded={loaded} />
      <div class="cards">
        {loaded.value?.agents.map((agent) => (
          <Card key={agent.name} agent={agent} />
        ))}
      </div>
    </section>
  )
}

function Card({ agent }: { agent: AgentRow }) {
  const { name, protocol, version, model, pool, queued, turns, failures, errors = [] } = agent
  const breaker = breakerText(agent)
  return (
    <article class="card">
      <h2>
        {name} <span class="muted">{protocol}</span>
      </h2>
      {breaker !== undefined && <p class="breaker">{breaker[0]!.toUpperCase() + breaker.slice(1)}</p>}
      <dl class="facts">
        <Fact name="Turns" value={count(turns)} />
        <Fact name="Failed" value={count(failures)} />
        <Fact name="Waiting" value={count(queued)} />
        {pool && (
          <Fact
            name="Processes"
            value={`${pool.running} busy`}
            more={`${pool.idle} idle${pool.max === undefined ? '' : `, at most ${pool.max}`}`}
          />
        )}
        <Fact name="First event" value={duration(agent.firstEvent?.p50)} more={slowest(agent.firstEvent)} />
        <Fact name="Whole turn" value={duration(agent.total?.p50)} more={slowest(agent.total)} />
        {version !== undefined && <Fact name="Version" value={version} />}
        {model !== undefined && <Fact name="Model" value={model} />}
      </dl>
      <p class="links">
        <a href={writeRoute('turns', undefined, { agent: name })}>Its turns</a>{' '}
        <a href={writeRoute('try', undefined, { agent: name })}>Try it</a>
      </p>
      {errors.length > 0 && (
        <div class="failures">
          <ul class="errors">
            <Failure error={errors[0]!} />
          </ul>
          {errors.length > 1 && (
            <details>
              <summary>Earlier failures ({errors.length - 1})</summary>
              <ul class="errors">
                {errors.slice(1).map((error) => (
                  <Failure key={`${error.at} ${error.turn}`} error={error} />
                ))}
              </ul>
            </details>
          )}
        </div>
      )}
    </article>
  )
}

function Failure({ error: { at, turn, times = 1, code, message, stderr } }: { error: AgentError }) {
  return (
    <li>
      <a href={writeRoute('turns', turn)}>{moment(at, Date.now())}</a> <b class="failed">{code}</b>{' '}
      {message !== undefined && <Text value={message} limit={500} />}
      {times > 1 && <span class="muted"> {count(times)} times</span>}
      {stderr !== undefined && (
        <pre>
          <Text value={stderr} limit={2_000} />
        </pre>
      )}
    </li>
  )
}

function Fact({ name, value, more }: { name: string; value: string; more?: string | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Text value={value} limit={200} />
        {more !== undefined && <small>{more}</small>}
      </dd>
    </div>
  )
}

/** The time that one turn in twenty exceeds. */
function slowest(latency: Latency | undefined): string | undefined {
  return latency?.p95 === undefined ? undefined : `95 %: ${duration(latency.p95)}`
}
