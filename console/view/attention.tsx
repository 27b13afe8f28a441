import {
  type AgentConcern,
  agentConcerns,
  askingTurns,
  breakerText,
  type Concern,
  replicaConcern,
  storeConcern,
  tailOf,
} from '../logic/concerns.ts'
import { ago, count } from '../logic/format.ts'
import { writeRoute } from '../logic/route.ts'
import type { AgentError, AgentRow, OverviewAnswer, TurnRow } from '../logic/types.ts'
import { Text } from './text.tsx'

/** The failing agents that are shown; the others have their own page. */
const MOST_AGENTS = 5

interface AttentionProps {
  overview: OverviewAnswer
  agents: readonly AgentRow[]
  running: readonly TurnRow[]
}

/** Things that need somebody, with the cause in words: the store, replicas, agents that fail, turns that wait for an answer. */
export function Attention({ overview, agents, running }: AttentionProps) {
  const now = Date.now()
  const concerns = [storeConcern(overview.store), replicaConcern(overview.replicas)].filter((one) => one !== undefined)
  const [failing, asking] = [agentConcerns(agents, now), askingTurns(running)]
  if (concerns.length === 0 && failing.length === 0 && asking.length === 0) {
    return <p class="attention well">Nothing needs attention: no turn has failed in the last hour.</p>
  }
  return (
    <section class="attention" aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <ul>
        {concerns.map((concern) => (
          <Trouble key={concern.title} concern={concern} />
        ))}
        {asking.map(({ turn, agent, session }) => (
          <li key={turn} class="asks">
            <a href={writeRoute('turns', turn)}>
              <b>{agent}</b> waits for an answer
            </a>{' '}
            <span class="muted">
              in <Text value={session} limit={80} />
            </span>
          </li>
        ))}
        {failing.slice(0, MOST_AGENTS).map((concern) => (
          <Failing key={concern.agent.name} concern={concern} now={now} />
        ))}
      </ul>
      {failing.length > MOST_AGENTS && (
        <a href={writeRoute('agents')}>{failing.length - MOST_AGENTS} more agents with failures</a>
      )}
    </section>
  )
}

function Trouble({ concern: { title, text } }: { concern: Concern }) {
  return (
    <li class="bad">
      <b>{title}</b>
      <p>
        <Text value={text} />
      </p>
    </li>
  )
}

function Failing({ concern: { agent, errors }, now }: { concern: AgentConcern; now: number }) {
  const { name, turns, failures } = agent
  const breaker = breakerText(agent)
  const failed = { agent: name, state: 'failed' }
  return (
    <li class="bad">
      <a href={writeRoute('turns', undefined, failed)}>
        <b>{name}</b> {count(failures)} of {count(turns)} turns failed
      </a>
      {breaker !== undefined && <span class="breaker">{breaker}</span>}
      {errors.map((error) => (
        <Cause key={error.turn} error={error} now={now} />
      ))}
    </li>
  )
}

function Cause({ error: { at, turn, times = 1, code, message, stderr }, now }: { error: AgentError; now: number }) {
  return (
    <div class="cause">
      <a href={writeRoute('turns', turn)} title="The newest of these turns">
        {ago(at, now)}
      </a>
      <p>
        <b class="failed">{code}</b> {message !== undefined && <Text value={message} limit={400} />}
        {times > 1 && <span class="muted"> {count(times)} times</span>}
      </p>
      {stderr !== undefined && (
        <pre>
          <Text value={tailOf(stderr, 3)} limit={600} />
        </pre>
      )}
    </div>
  )
}
