import { type GatewayCalls, type GatewayReply, messageLine } from '../../../src/codec-kit/index.ts'
import {
  type Fault,
  type Members,
  object,
  quote,
  type SessionInfo,
  type SessionReply,
  type SessionsReply,
  type StateReply,
} from '../../../src/model/index.ts'
import { type Client, carries } from './client.ts'
import { dataOf } from './gateway.ts'
import { readModels, readOffers } from './offers.ts'
import { replay } from './replay.ts'
import type { Request, Requests } from './requests.ts'
import type { NewSession } from './schema.ts'
import { newSession, type Session } from './session.ts'
import { addModels, changeOffers, commandsJson, settingEntries } from './settings.ts'
import { Updates } from './updates.ts'

/** Opens, lists, copies and ends the sessions of one client. */
export class Sessions {
  readonly #client: Client
  readonly #requests: Requests
  readonly #gateway: GatewayCalls

  constructor(client: Client, requests: Requests, gateway: GatewayCalls) {
    this.#client = client
    this.#requests = requests
    this.#gateway = gateway
  }

  /** `session/new`. The store knows the session from its first prompt on. */
  create(request: Request, work: NewSession): void {
    const session = newSession(this.#client.ports.newId(), work)
    this.#open(request, session, { sessionId: quote(session.id) })
  }

  /** `session/load`: the transcript is replayed before the answer. `session/resume` does without. */
  reopen(request: Request, id: string, work: NewSession, replays: boolean): void {
    this.#find(request, id, (found) => {
      if (replays) replay(found?.messages ?? [], new Updates(this.#client.ports.send, id))
      const { sessions, ports } = this.#client
      const numbers = sessions.get(id)?.numbers ?? { prefix: `${ports.newId()}.`, count: 0 }
      this.#open(request, newSession(id, work, numbers), {})
    })
  }

  /** `session/fork`: a copy under an id of its own. Of a session without a prompt there is nothing to copy. */
  fork(request: Request, id: string, work: NewSession): void {
    this.#find(request, id, (found) => {
      const copy = newSession(this.#client.ports.newId(), work)
      const open = (): void => this.#open(request, copy, { sessionId: quote(copy.id) })
      if (!found) open()
      else {
        this.#gateway.ask({ type: 'session-fork', id: found.id }, copy.id, (reply) => {
          if ('fault' in reply) this.#requests.fail(request, reply.fault)
          else open()
        })
      }
    })
  }

  /** `session/list`: those that the client's agent has had, the newest first, all at once. */
  list(request: Request, cwd: string | undefined): void {
    this.#gateway.ask({ type: 'query', what: 'sessions' }, undefined, (reply) => {
      if ('fault' in reply) this.#requests.fail(request, reply.fault)
      else this.#requests.answer(request, `{"sessions":[${this.#listed(reply, cwd).join(',')}]}`)
    })
  }

  /** `session/close`: its process may end. */
  close(request: Request, { id }: Session): void {
    this.#gateway.ask({ type: 'session-close' }, id, () => {
      this.#client.sessions.delete(id)
      this.#requests.answer(request, '{}')
    })
  }

  /** `session/delete`: everything that is kept of it. A missing one counts as deleted (Session Delete, Semantics). */
  delete(request: Request, id: string): void {
    this.#gateway.ask({ type: 'query', what: 'session' }, id, (reply) => {
      const found = dataOf<SessionReply>(reply)
      const deleted = (done: GatewayReply): void => this.#deleted(request, id, done)
      if (found) this.#gateway.ask({ type: 'session-delete', id: found.id }, undefined, deleted)
      else deleted(reply)
    })
  }

  #deleted(request: Request, id: string, reply: GatewayReply): void {
    if ('fault' in reply && !isUnknown(reply.fault)) {
      this.#requests.fail(request, reply.fault)
      return
    }
    this.#client.sessions.delete(id)
    this.#requests.answer(request, '{}')
  }

  /** Looks a session up in the store. One that is open here and has had no prompt is not there. */
  #find(request: Request, id: string, then: (found: SessionReply | undefined) => void): void {
    this.#gateway.ask({ type: 'query', what: 'session' }, id, (reply) => {
      if ('fault' in reply && !(isUnknown(reply.fault) && this.#client.sessions.has(id))) {
        this.#requests.fail(request, reply.fault)
      } else then(dataOf<SessionReply>(reply))
    })
  }

  /** Answers when the agent's offers are known. No update of a new session comes before that. */
  #open(request: Request, session: Session, entries: Members): void {
    this.#offers(session, () => {
      this.#client.sessions.set(session.id, session)
      this.#requests.answer(request, messageLine({ ...entries, ...settingEntries(session, this.#client) }))
      if (session.offers.commands === undefined) return
      const updates = new Updates(this.#client.ports.send, session.id)
      updates.write('available_commands_update', { availableCommands: commandsJson(session) })
    })
  }

  /** Asks for what the session's agent offers, and for its models. */
  #offers(session: Session, then: () => void): void {
    this.#query('offers', session, (offers) => {
      changeOffers(session, readOffers(offers))
      if (carries(this.#client, 'option.model')) this.#models(session, then)
      else then()
    })
  }

  #models(session: Session, then: () => void): void {
    this.#query('models', session, (listed) => {
      const models = readModels(listed)
      if (models.length === 0) then()
      else {
        this.#query('state', session, (state) => {
          addModels(session, models, (state as Partial<StateReply> | undefined)?.model)
          then()
        })
      }
    })
  }

  /** Asks about a session; undefined where its agent cannot be asked this, or has no answer. */
  #query(what: 'offers' | 'models' | 'state', { id }: Session, take: (data: unknown) => void): void {
    if (!carries(this.#client, `query.${what}`) && what !== 'state') take(undefined)
    else this.#gateway.ask({ type: 'query', what }, id, (reply) => take(dataOf(reply)))
  }

  /** The sessions that can be opened again under one id, in a folder if one is asked for. */
  #listed(reply: GatewayReply, cwd: string | undefined): string[] {
    const { agent } = this.#client
    const sessions = dataOf<Partial<SessionsReply>>(reply)?.sessions ?? []
    const fits = (info: SessionInfo): boolean =>
      info.conversation === '' && (agent === undefined || info.agent === agent) && (cwd == null || info.cwd === cwd)
    return sessions.filter(fits).map(listed)
  }
}

/** A session as it is listed; one of a client without a folder is at the root. */
function listed({ session, cwd = '/', title, usedAt }: SessionInfo): string {
  return object({
    sessionId: quote(session),
    cwd: quote(cwd),
    title: quote(title),
    updatedAt: quote(new Date(usedAt).toISOString()),
  })
}

function isUnknown({ code }: Fault): boolean {
  return code === 'session-not-found'
}
