import type { Awaitable, HeardBy, SessionKey, SessionRecord, SessionSettings, Store } from '../../contract/index.ts'
import type { Id } from '../../model/index.ts'
import { type AgentSettings, newId } from '../common/index.ts'
import type { Recorder, StoreWatch } from '../record/index.ts'
import type { LiveSession, Sessions } from '../session/index.ts'
import type { Turn } from '../turn/index.ts'
import type { Forwarding } from './forwarding.ts'

/** The record, as sessions are opened in it. */
export interface OpenerRecord {
  recorder: Recorder
  watch: StoreWatch
  /** Present where there are other replicas. Each session belongs to one of them. */
  forwarding?: Forwarding | undefined
}

/** Opens sessions for turns: their records, then the sessions in memory. */
export class SessionOpener {
  readonly #store: Store
  readonly #recorder: Recorder
  readonly #watch: StoreWatch
  readonly #sessions: Sessions
  readonly forwarding: Forwarding | undefined

  constructor(store: Store, { recorder, watch, forwarding }: OpenerRecord, sessions: Sessions) {
    this.#store = store
    this.forwarding = forwarding
    this.#recorder = recorder
    this.#watch = watch
    this.#sessions = sessions
  }

  /** The record of a session; when nothing can be written, one that is only in memory. */
  record(key: SessionKey, at: number): Awaitable<SessionRecord> {
    if (!this.#watch.writable) return this.#unwritten(key, at)
    if (this.forwarding) return this.forwarding.take(key).catch((error: unknown) => this.#failed(error, key, at))
    try {
      const record = this.#remembered(key, at) ?? this.#read(key, at)
      return record instanceof Promise ? record.catch((error: unknown) => this.#failed(error, key, at)) : record
    } catch (error) {
      return this.#failed(error, key, at)
    }
  }

  /**
   * The record of a session in memory, in a store that can tell whether another process has changed it: then it is read
   * again first.
   */
  #remembered(key: SessionKey, at: number): SessionRecord | undefined {
    const live = this.#sessions.live.find(key)
    const version = live && this.#store.version?.()
    if (version === undefined) return undefined
    if (live!.asOf !== version) {
      const known = this.#store.findSession(key)
      if (!known || known instanceof Promise || known.id !== live!.record.id) return undefined
      live!.adopt(known)
      live!.asOf = version
    }
    this.#recorder.touch(live!.record.id, at)
    return live!.record
  }

  #read(key: SessionKey, at: number): Awaitable<SessionRecord> {
    const known = this.#store.findSession(key)
    return known instanceof Promise ? known.then((found) => this.#use(found, key, at)) : this.#use(known, key, at)
  }

  /** A known session is used again; another one is created. */
  #use(known: SessionRecord | undefined, key: SessionKey, at: number): Awaitable<SessionRecord> {
    if (!known) return this.#store.openSession(key, newId(), at)
    this.#recorder.touch(known.id, at)
    return known
  }

  #failed(error: unknown, key: SessionKey, at: number): Promise<SessionRecord> {
    this.#watch.unavailable(error)
    return this.#unwritten(key, at)
  }

  async #unwritten(key: SessionKey, at: number): Promise<SessionRecord> {
    const known = this.#sessions.live.find(key)?.record ?? (await this.#store.findSession(key))
    return known ?? { ...key, id: newId(), createdAt: at, usedAt: at }
  }

  /** The agent that has taken part in the conversation; sessions in memory know that themselves. */
  heardBy({ id, createdAt, settings }: SessionRecord, at: number): Awaitable<HeardBy | undefined> {
    const isNew = createdAt === at && settings?.fork == null
    return isNew || this.#sessions.live.get(id) ? undefined : this.#store.heardBy(id)
  }

  /** The turn that runs in a session here. */
  running(session: Id): Turn | undefined {
    return this.#sessions.live.get(session)?.running
  }

  /** The session of a record on its agent; `heard` is the agent that has taken part in it, if one has. */
  open(record: SessionRecord, agent: AgentSettings, heard: HeardBy | undefined): LiveSession {
    return this.#sessions.open(record, agent, heard)
  }

  /**
   * The session of another agent that takes over a turn from this one. A mode that was set for the first agent holds for
   * it too, so that no turn runs in a weaker one. Each of the two agents gets the turns of the other one.
   */
  async openInstead(key: SessionKey, agent: AgentSettings, at: number, from: SessionRecord): Promise<LiveSession> {
    const before = this.#sessions.live.get(from.id)?.memory
    const isUsed = before ? before.used : (await this.#store.heardBy(from.id)) !== undefined
    const record = await this.record(key, at)
    const session = this.#sessions.open(record, agent, await this.heardBy(record, at))
    const mode = from.settings?.mode
    if (mode !== undefined) await this.inherit(session.record, { mode })
    session.memory.goesOnIn([...(isUsed ? [from.id] : []), ...(before?.detours ?? [])])
    before?.goesOnIn([session.record.id])
    return session
  }

  /** A session goes on from another one, with the settings that the client has made for that one. */
  async inherit(record: SessionRecord, { model, effort, mode }: SessionSettings): Promise<void> {
    const settings = {
      ...(model !== undefined && { model }),
      ...(effort !== undefined && { effort }),
      ...(mode !== undefined && { mode }),
    }
    const known = record.settings ?? {}
    if (Object.entries(settings).some(([key, value]) => known[key as keyof SessionSettings] !== value)) {
      await this.#set(record, settings)
    }
  }

  /** Records the folder that a client works in, with the beginning of its first prompt; an empty one is none. */
  async describe(record: SessionRecord, cwd: string, prompt: string): Promise<void> {
    if (record.settings?.cwd === cwd) return
    const title = record.settings?.title ?? titleOf(prompt)
    await this.#set(record, { cwd, ...(title && { title }) })
  }

  async #set(record: SessionRecord, settings: SessionSettings): Promise<void> {
    record.settings = { ...record.settings, ...settings }
    if (!this.#watch.writable) return
    try {
      await this.#store.setSession(record.id, settings, record.owner)
    } catch (error) {
      this.#watch.unavailable(error)
    }
  }
}

/** The longest title of a session, in UTF-16 units. */
const TITLE_LIMIT = 80

/** The first line of a prompt, as a title. */
function titleOf(text: string): string {
  const line = text.trimStart().split('\n', 1)[0]!.trimEnd()
  return line.length <= TITLE_LIMIT ? line : `${line.slice(0, TITLE_LIMIT - 1).toWellFormed()}…`
}
