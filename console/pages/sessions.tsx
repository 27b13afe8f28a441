import { useState } from 'preact/hooks'
import { textOfParts } from '../logic/event-text.ts'
import { ago, count, dateTime, exact, moment, zone } from '../logic/format.ts'
import { type Route, writeRoute } from '../logic/route.ts'
import type { SessionDetail, SessionRow, SessionPage as Sessions } from '../logic/types.ts'
import { plain } from '../logic/visible.ts'
import { ask, get, messageOf } from '../state/api.ts'
import { me } from '../state/me.ts'
import { change, go } from '../state/route.ts'
import { Pending, Problem, useLoaded } from '../view/loaded.tsx'
import { Text } from '../view/text.tsx'

const EVERY_MS = 5_000
const COLUMNS = ['Used', 'Agent', 'Session', 'Key', 'Model', 'Process', 'Tokens']

/** The sessions, or one of them. */
export function SessionsPage({ route: { id, query } }: { route: Route }) {
  return id === undefined ? <SessionList query={query} /> : <OneSession id={id} />
}

function SessionList({ query: { q = '', agent = '', before = '' } }: { query: Route['query'] }) {
  const search = new URLSearchParams({
    limit: '100',
    ...(q && { q }),
    ...(agent && { agent }),
    ...(before && { before }),
  })
  const loaded = useLoaded(() => get<Sessions>(`/v1/sessions?${search}`), [search.toString()], EVERY_MS)
  const { sessions = [], next } = loaded.value ?? {}
  return (
    <section>
      <div class="head">
        <h1>Sessions</h1>
        <span class="muted">{count(sessions.length)} shown</span>
      </div>
      <search class="filters">
        <label class="wide">
          <span>Search</span>
          <input
            type="search"
            value={q}
            placeholder="id or title"
            onChange={(event) => change({ q: event.currentTarget.value, before: '' })}
          />
        </label>
        <label>
          <span>Agent</span>
          <input
            value={agent}
            placeholder="any"
            onChange={(event) => change({ agent: event.currentTarget.value, before: '' })}
          />
        </label>
      </search>
      <Pending loaded={loaded} />
      <div class="scroll" tabIndex={0}>
        <table class="list">
          <thead>
            <tr>
              {COLUMNS.filter((name) => name !== 'Key' || seesKeys()).map((name) => (
                <th key={name} scope="col" class={name === 'Tokens' ? 'figure' : undefined}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sessions.map((session) => (
              <Line key={session.id} session={session} />
            ))}
          </tbody>
        </table>
      </div>
      {loaded.value && sessions.length === 0 && <p class="empty">No sessions.</p>}
      {next !== undefined && (
        <a class="more" href={writeRoute('sessions', undefined, { q, agent, before: next })}>
          Older sessions
        </a>
      )}
    </section>
  )
}

/** True for an operator of a gateway with keys, who sees what belongs to all of them. */
function seesKeys(): boolean {
  return me.value?.role === 'admin' && me.value.keys
}

function Line({ session }: { session: SessionRow }) {
  const { id, agent, usedAt, title, model, usage, busy, key } = session
  return (
    <tr>
      <td class="number" title={`${dateTime(usedAt)} ${zone(usedAt)}`}>
        {ago(usedAt, Date.now())}
      </td>
      <td>{agent}</td>
      <td class="name">
        <a href={writeRoute('sessions', id)}>
          <Text value={session.session || id} limit={300} />
        </a>{' '}
        <span class="muted" title={title === undefined ? undefined : plain(title)}>
          <Text value={title ?? ''} limit={120} />
        </span>
      </td>
      {seesKeys() && <td>{key ?? '–'}</td>}
      <td class="short" title={model}>
        {model ?? '–'}
      </td>
      <td>
        <span class={busy ? 'state running' : 'state'}>{busy ? 'works' : (session.process ?? '–')}</span>
      </td>
      <td class="number figure" title={usage && `${exact(usage.input)} tokens in, ${exact(usage.output)} tokens out`}>
        {usage ? `${count(usage.input)} / ${count(usage.output)}` : '–'}
      </td>
    </tr>
  )
}

function OneSession({ id }: { id: string }) {
  const loaded = useLoaded(() => get<SessionDetail>(`/v1/sessions/${encodeURIComponent(id)}`), [id], EVERY_MS)
  const session = loaded.value
  return (
    <section>
      <div class="head">
        <h1>
          Session <Text value={session?.session || id} limit={80} />
        </h1>
        {session && session.key === me.value?.key && <Delete id={id} />}
      </div>
      <Pending loaded={loaded} />
      {session && (
        <>
          <dl class="facts">
            {facts(session).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <Text value={value} limit={200} />
                </dd>
              </div>
            ))}
            <div>
              <dt>Turns</dt>
              <dd>
                <a href={writeRoute('turns', undefined, { session: session.session })}>show them</a>
              </dd>
            </div>
          </dl>
          <Transcript messages={session.messages} />
        </>
      )}
    </section>
  )
}

function facts(session: SessionDetail): [name: string, value: string][] {
  const { agent, model, mode, process, createdAt, usedAt, cwd, key, usage } = session
  const given: [string, string | undefined][] = [
    ['Agent', agent],
    ['Model', model],
    ['Mode', mode],
    ['Process', process],
    ['Begun', dateTime(createdAt)],
    ['Used', dateTime(usedAt)],
    ['Folder', cwd],
    ['Key', key],
    ['Tokens in / out', usage && `${count(usage.input)} / ${count(usage.output)}`],
  ]
  return given.filter((fact): fact is [string, string] => fact[1] !== undefined)
}

function Transcript({ messages }: { messages: SessionDetail['messages'] }) {
  return (
    <ol class="transcript">
      {messages.map(({ role, parts, at }, index) => (
        <li key={`${index} ${role}`} class={role}>
          <span class="muted">
            {role} {at !== undefined && moment(at, Date.now())}
          </span>
          <p class="said">
            <Text value={textOfParts(parts)} />
          </p>
        </li>
      ))}
      {messages.length === 0 && <li class="muted">Nothing has been said yet.</li>}
    </ol>
  )
}

/** Deletes the session after a second press. */
function Delete({ id }: { id: string }) {
  const [isSure, setSure] = useState(false)
  const [problem, setProblem] = useState<string | undefined>()
  const remove = (): void => {
    ask(`/v1/sessions/${encodeURIComponent(id)}`, { method: 'DELETE' }).then(
      () => go('sessions'),
      (error) => setProblem(messageOf(error)),
    )
  }
  return (
    <>
      <button
        type="button"
        class={isSure ? 'deny' : ''}
        onClick={() => (isSure ? remove() : setSure(true))}
        onBlur={() => setSure(false)}
      >
        {isSure ? 'Press again to delete it with its transcript' : 'Delete'}
      </button>
      {problem !== undefined && <Problem text={problem} />}
    </>
  )
}
