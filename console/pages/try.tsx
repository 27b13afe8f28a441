import { useEffect, useRef, useState } from 'preact/hooks'
import { DOORS } from '../logic/doors.ts'
import type { Route } from '../logic/route.ts'
import type { AgentRow, Door } from '../logic/types.ts'
import { get } from '../state/api.ts'
import { change } from '../state/route.ts'
import { Trial } from '../state/trial.ts'
import { Copy } from '../view/copy.tsx'
import { Pending, useLoaded } from '../view/loaded.tsx'
import { TrialView } from '../view/trial.tsx'

/** The most turns that run at once: each holds two of the few connections that a browser opens to a server. */
const MOST_RUNNING = 2

/** Sends turns to an agent through a door of the gateway, and shows both the answer and the wire of the client. */
export function TryPage({ route }: { route: Route }) {
  const loaded = useLoaded(choices, [])
  const [session, setSession] = useState(newId)
  const [trials, setTrials] = useState<readonly Trial[]>([])
  const open = useRef(trials)
  open.current = trials
  useEffect(() => () => closeAll(open.current), [])
  const agents = loaded.value?.agents ?? []
  const doors = loaded.value?.doors ?? []
  const agent = route.query['agent'] ?? (agents.find((one) => one.default) ?? agents[0])?.name ?? ''
  const door = doors.find((one) => nameOf(one) === route.query['door']) ?? doors[0]
  const send = (text: string): void => {
    const before = trials.flatMap((trial) => [
      { role: 'user' as const, text: trial.text },
      { role: 'assistant' as const, text: trial.answer },
    ])
    setTrials([...trials, new Trial(door!, nameOf(door!), { text, session, request: newId(), agent, before })])
  }
  const running = trials.filter((trial) => trial.runs).length
  const renew = (): void => {
    closeAll(trials)
    setTrials([])
    setSession(newId())
  }
  return (
    <section class="try">
      <div class="head">
        <h1>Try it</h1>
        <span class="muted">
          session <code>{session}</code>
        </span>
        <button type="button" class="quiet" onClick={renew}>
          New session
        </button>
      </div>
      <Pending loaded={loaded} />
      <div class="filters">
        <Select label="Agent" value={agent} values={agents.map(({ name }) => name)} name="agent" />
        <Select label="Through" value={door ? nameOf(door) : ''} values={doors.map(nameOf)} name="door" />
      </div>
      {trials.length === 0 && (
        <p class="muted">
          Sends a prompt as a client of the chosen protocol does, and shows the answer, the questions of the agent, and
          what that client sent and got.
        </p>
      )}
      {trials.map((trial) => (
        <TrialView key={trial.sent} trial={trial} />
      ))}
      {door?.over === 'stdio' && <Program door={door} agent={agent} />}
      <Prompt ready={door !== undefined && running < MOST_RUNNING} onSend={send} />
    </section>
  )
}

function closeAll(trials: readonly Trial[]): void {
  for (const trial of trials) trial.close()
}

/** The agents, and the doors that this page has a client of, or can show the wire of. */
async function choices(): Promise<{ agents: readonly AgentRow[]; doors: readonly Door[] }> {
  const [{ agents }, { doors }] = await Promise.all([
    get<{ agents: readonly AgentRow[] }>('/v1/agents'),
    get<{ doors: readonly Door[] }>('/v1/doors'),
  ])
  return { agents, doors: doors.filter(isUsable) }
}

function isUsable({ over, method, path }: Door): boolean {
  return over === 'stdio' || (method === 'POST' && DOORS.includes(path!))
}

function nameOf({ protocol, over, path }: Door): string {
  return over === 'http' ? `${protocol} · POST ${path}` : `${protocol} · a program on stdio`
}

/** A name that no other session or request has. */
function newId(): string {
  return `console-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`
}

function Select({
  label,
  name,
  value,
  values,
}: {
  label: string
  name: string
  value: string
  values: readonly string[]
}) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => change({ [name]: event.currentTarget.value })}>
        {[...new Set(values)].map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  )
}

function Prompt({ ready, onSend }: { ready: boolean; onSend(text: string): void }) {
  const [text, setText] = useState('')
  const send = (): void => {
    if (text.trim() === '' || !ready) return
    onSend(text)
    setText('')
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    send()
  }
  return (
    <form class="prompt" onSubmit={submit}>
      <label>
        <span>Prompt</span>
        <textarea
          rows={3}
          value={text}
          placeholder="Ask the agent something"
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && send()}
        />
      </label>
      <button type="submit" class="primary" disabled={!ready}>
        Send
      </button>
      <span class="muted">or Ctrl+Enter</span>
    </form>
  )
}

function Program({ door, agent }: { door: Door; agent: string }) {
  const command = `${door.command} --agent ${agent}`
  return (
    <div class="program">
      <p>Clients of this protocol start a program in place of their agent:</p>
      <pre>{command}</pre>
      <Copy label="Copy the command" text={() => command} />
      <p class="muted">
        A prompt here runs as a turn of the native API, and is shown as that client writes and reads it.
      </p>
    </div>
  )
}
