import { useState } from 'preact/hooks'
import { textOfParts } from '../logic/event-text.ts'
import { count, dateTime, moment } from '../logic/format.ts'
import { writeRoute } from '../logic/route.ts'
import type { SessionDetail } from '../logic/types.ts'
import { ask, get, messageOf } from '../state/api.ts'
import { me } from '../state/me.ts'
import { go } from '../state/route.ts'
import { Pending, Problem, useLoaded } from '../view/loaded.tsx'
import { Text } from '../view/text.tsx'

const EVERY_MS = 5_000

/** One session: its facts and its transcript. */
export function OneSession({ id }: { id: string }) {
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
