import type * as v from 'valibot'
import { type GatewayCalls, RPC_CODES, readTrace, untraced, wordTable } from '../../../src/codec-kit/index.ts'
import type { AgentReply, JsonText } from '../../../src/model/index.ts'
import { elements, fault, member } from '../../../src/model/index.ts'
import { readBlock } from '../content.ts'
import { unknownExt } from '../wire.ts'
import type { Client } from './client.ts'
import { dataOf } from './gateway.ts'
import { initialized, showsOf } from './initialize.ts'
import { readOffers } from './offers.ts'
import type { Prompts } from './prompts.ts'
import type { Request, Requests } from './requests.ts'
import * as schemas from './schema.ts'
import type { Session } from './session.ts'
import type { Sessions } from './sessions.ts'
import { changeOffers, MODEL, mistakeIn, optionsJson, setValue } from './settings.ts'

/** The members of a prompt's parameters that are read. */
const PROMPT: ReadonlySet<string> = new Set(['sessionId', 'prompt'])

/** Parameters of a request: their value, and the JSON text of it. */
interface Params {
  readonly value: unknown
  readonly json: JsonText
}

/** The parts of a connection that its requests are for. */
export interface Parts {
  readonly client: Client
  readonly requests: Requests
  readonly gateway: GatewayCalls
  readonly sessions: Sessions
  readonly prompts: Prompts
}

/** The requests and notifications of a client, each read and given to the part that serves it. */
export class Methods {
  readonly #parts: Parts

  static readonly #requests = wordTable<(methods: Methods, request: Request, params: Params) => void>({
    initialize: (methods, request, { value }) => methods.#initialize(request, value),
    authenticate: (methods, request) =>
      methods.#parts.requests.refuse(request, 'There is no way to log in, and no need to.'),
    'session/new': (methods, request, { value }) => methods.#new(request, value),
    'session/load': (methods, request, { value }) => methods.#reopen(request, value, true),
    'session/resume': (methods, request, { value }) => methods.#reopen(request, value, false),
    'session/fork': (methods, request, { value }) => methods.#fork(request, value),
    'session/list': (methods, request, { value }) => methods.#list(request, value),
    'session/close': (methods, request, { value }) => methods.#close(request, value),
    'session/delete': (methods, request, { value }) => methods.#delete(request, value),
    'session/set_mode': (methods, request, { value }) => methods.#setMode(request, value),
    'session/set_config_option': (methods, request, { value }) => methods.#setOption(request, value),
    'session/prompt': (methods, request, params) => methods.#prompt(request, params),
  })

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Serves a request; `json` are its parameters, raw. */
  request(request: Request, value: unknown, json: JsonText): void {
    const { requests, client } = this.#parts
    const serve = Methods.#requests.get(request.method)
    if (!serve) requests.refuse(request, `There is no method "${request.method}".`, RPC_CODES.methodNotFound)
    else if (client.shows === undefined && request.method !== 'initialize') {
      requests.refuse(request, `Send initialize before "${request.method}".`, RPC_CODES.invalidRequest)
    } else serve(this, request, { value, json })
  }

  /** Takes a notification. One that is unknown, or names something that does not exist, is ignored. */
  notified(method: string, value: unknown): void {
    const { client, requests, prompts } = this.#parts
    if (method === 'session/cancel') {
      const params = schemas.read(schemas.OfSession, value)
      const session = 'wrong' in params ? undefined : client.sessions.get(params.sessionId)
      if (session) prompts.cancel(session)
    } else if (method === '$/cancel_request') {
      const params = schemas.read(schemas.CancelRequest, value)
      if ('requestId' in params) requests.cancel(params.requestId)
    }
  }

  #initialize(request: Request, value: unknown): void {
    const { client, requests, gateway } = this.#parts
    const params = this.#read(request, schemas.Initialize, value)
    if (!params) return
    client.shows = showsOf(params)
    gateway.ask({ type: 'query', what: 'agent' }, undefined, (reply) => {
      const agent = dataOf<AgentReply>(reply)
      client.agent = agent?.name
      if (agent?.carries) client.carries = new Set(agent.carries)
      requests.answer(request, initialized(client))
    })
  }

  #new(request: Request, value: unknown): void {
    const work = this.#read(request, schemas.NewSession, value)
    if (work) this.#parts.sessions.create(request, work)
  }

  #reopen(request: Request, value: unknown, replays: boolean): void {
    const work = this.#read(request, schemas.OldSession, value)
    if (work) this.#parts.sessions.reopen(request, work.sessionId, work, replays)
  }

  #fork(request: Request, value: unknown): void {
    const work = this.#read(request, schemas.OldSession, value)
    if (work) this.#parts.sessions.fork(request, work.sessionId, work)
  }

  #list(request: Request, value: unknown): void {
    const params = this.#read(request, schemas.ListSessions, value)
    if (params) this.#parts.sessions.list(request, params.cwd ?? undefined)
  }

  #close(request: Request, value: unknown): void {
    const { sessions, prompts } = this.#parts
    this.#ofSession(request, schemas.OfSession, value, (_, session) =>
      prompts.stop(session, () => sessions.close(request, session)),
    )
  }

  #delete(request: Request, value: unknown): void {
    const { client, sessions, prompts } = this.#parts
    const params = this.#read(request, schemas.OfSession, value)
    if (!params) return
    const session = client.sessions.get(params.sessionId)
    const del = (): void => sessions.delete(request, params.sessionId)
    if (session) prompts.stop(session, del)
    else del()
  }

  #setMode(request: Request, value: unknown): void {
    this.#ofSession(request, schemas.SetMode, value, ({ modeId: mode }, session) => {
      if (!session.offers.modes?.some(({ id }) => id === mode)) {
        this.#parts.requests.refuse(request, `There is no mode "${mode}" in this session.`)
        return
      }
      const set = (): void => changeOffers(session, { mode })
      this.#set(request, session, { mode }, set, () => '{}')
    })
  }

  #setOption(request: Request, given: unknown): void {
    this.#ofSession(request, schemas.SetOption, given, ({ configId: id, value }, session) => {
      const wrong = mistakeIn(session, id, value)
      if (wrong !== undefined) {
        this.#parts.requests.refuse(request, wrong)
        return
      }
      const isModel = session.hasModels && id === MODEL
      const setting = isModel ? { model: String(value) } : { option: { id, value } }
      const set = (): void => setValue(session, id, value)
      this.#set(request, session, setting, set, () => `{"configOptions":${optionsJson(session, this.#parts.client)}}`)
    })
  }

  #set(
    request: Request,
    session: Session,
    setting: { mode?: string; model?: string; option?: { id: string; value: string | boolean } },
    set: () => void,
    answer: () => JsonText,
  ): void {
    const { gateway, requests } = this.#parts
    gateway.ask({ type: 'config-set', ...setting }, session.id, (reply) => {
      if ('fault' in reply) {
        requests.fail(request, reply.fault)
        return
      }
      set()
      // One setting may change what others there are.
      changeOffers(session, readOffers(dataOf(reply)))
      requests.answer(request, answer())
    })
  }

  #prompt(request: Request, { value, json }: Params): void {
    this.#ofSession(request, schemas.Prompt, value, (params, session) => {
      const input = elements(member(json, 'prompt')!).map(readBlock)
      const wrong = input.findIndex(({ type }) => type === 'data')
      if (wrong >= 0) this.#parts.requests.refuse(request, `prompt.${wrong} is no content block of a known type.`)
      else {
        const ext = unknownExt(json, params, PROMPT)
        const trace = readTrace(params['_meta'])
        this.#parts.prompts.start(request, session, trace ? { input, ext: untraced(ext), trace } : { input, ext })
      }
    })
  }

  /** Reads parameters that name an open session, and serves the request in it. */
  #ofSession<S extends v.GenericSchema<unknown, { sessionId: string }>>(
    request: Request,
    schema: S,
    value: unknown,
    serve: (params: v.InferOutput<S>, session: Session) => void,
  ): void {
    const { client, requests } = this.#parts
    const params = this.#read(request, schema, value)
    if (!params) return
    const session = client.sessions.get(params.sessionId)
    if (session) serve(params, session)
    else {
      const text = 'This session is not open here: open it with session/new, session/load or session/resume first.'
      requests.fail(request, fault('session-not-found', text))
    }
  }

  /** Reads parameters; otherwise refuses the request. */
  #read<S extends v.GenericSchema>(request: Request, schema: S, value: unknown): v.InferOutput<S> | undefined {
    const params = schemas.read(schema, value)
    if (!('wrong' in (params as object))) return params as v.InferOutput<S>
    this.#parts.requests.refuse(request, `The parameters are wrong: ${(params as { wrong: string }).wrong}.`)
    return undefined
  }
}
