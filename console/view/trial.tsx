import { useState } from 'preact/hooks'
import { answerOf, type Said } from '../logic/answer.ts'
import { writeRoute } from '../logic/route.ts'
import { messageOf, post } from '../state/api.ts'
import type { Trial } from '../state/trial.ts'
import { AskForm } from './ask-form.tsx'
import { Problem } from './loaded.tsx'
import { State } from './state.tsx'
import { Text } from './text.tsx'
import { Frames } from './wire-frames.tsx'

/** One question and its answer, with the questions of the agent and the wire of the client. */
export function TrialView({ trial }: { trial: Trial }) {
  const turn = trial.turn.value
  const { said, asks, end } = answerOf(turn?.events.value ?? [])
  const startedAt = turn?.detail.value?.startedAt ?? 0
  const problem = trial.problem.value ?? turn?.problem.value
  return (
    <article class="trial">
      <p class="asked">
        <Text value={trial.text} />
      </p>
      <div class="answer" aria-live="polite">
        {said.map((one) => (
          <Line key={one.id} one={one} />
        ))}
        {asks.map((ask) => (
          <AskForm key={ask.ask} turn={trial.turnId.value!} ask={ask} />
        ))}
        {end !== undefined && <p class="end muted">{end}</p>}
      </div>
      {problem !== undefined && <Problem text={problem} />}
      <Tools trial={trial} />
      <details>
        <summary>{wireTitle(trial)}</summary>
        {trial.client === undefined ? (
          <>
            <pre class="in">
              <Text value={trial.sent} />
            </pre>
            <pre class="out">
              <Text value={trial.got.value} />
            </pre>
          </>
        ) : (
          <Frames frames={turn?.wire.value?.client ?? []} side="client" startedAt={startedAt} />
        )}
      </details>
      {turn?.wire.value && (
        <details>
          <summary>What the agent was told and said ({turn.wire.value.agentProtocol ?? 'no agent yet'})</summary>
          {!turn.wire.value.kept && <p class="muted">The events of the turn, written again in its protocol.</p>}
          <Frames frames={turn.wire.value.agent} side="agent" startedAt={startedAt} />
        </details>
      )}
    </article>
  )
}

/** For a door without an endpoint the wire is the one that its client would have. */
function wireTitle({ client, door }: Trial): string {
  return client === undefined ? `What the client of ${door} sent and got` : `What a client of ${door} sends and gets`
}

function Tools({ trial: { turn, turnId, problem } }: { trial: Trial }) {
  const [refused, setRefused] = useState<string | undefined>()
  const id = turnId.value
  const detail = turn.value?.detail.value
  if (id === undefined)
    return problem.value === undefined ? <p class="muted">Sent; the agent is being started…</p> : null
  const cancel = (): void => {
    post(`/v1/turns/${encodeURIComponent(id)}/cancel`).catch((error) => setRefused(messageOf(error)))
  }
  return (
    <p class="trial-tools">
      {detail && <State turn={detail} />} <a href={writeRoute('turns', id)}>Look into the turn</a>{' '}
      {detail?.state === 'running' && (
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      )}
      {refused !== undefined && <Problem text={refused} />}
    </p>
  )
}

function Line({ one }: { one: Said }) {
  if (one.kind === 'reasoning') {
    return (
      <details>
        <summary>Reasoning</summary>
        <p class="said">
          <Text value={one.text} />
        </p>
      </details>
    )
  }
  if (one.kind === 'tool') {
    return (
      <details class="tool">
        <summary>
          <b>{one.name}</b> <span class="muted">{one.status ?? 'runs'}</span>
        </summary>
        <pre>
          <Text value={`${one.args}\n${one.text}`.trim()} />
        </pre>
      </details>
    )
  }
  return (
    <p class={one.kind === 'notice' ? 'said muted' : 'said'}>
      <Text value={one.text} />
    </p>
  )
}
