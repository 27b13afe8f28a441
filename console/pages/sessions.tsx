import { ago, count, dateTime, exact, zone } from '../logic/format.ts'
import { type Route, writeRoute } from '../logic/route.ts'
import type { SessionRow, SessionPage as Sessions } from '../logic/types.ts'
import { plain } from '../logic/visible.ts'
import { get } from '../state/api.ts'
import { me } from '../state/me.ts'
import { change } from '../state/route.ts'
import { Pending, useLoaded } from '../view/loaded.tsx'
import { Text } from '../view/text.tsx'
import { OneSession } from './session.tsx'

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
