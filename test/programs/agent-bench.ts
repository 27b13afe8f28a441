/** An agent as it is installed, in a folder of its own, on a scripted model, behind a gateway. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { ASKING } from '../kit/asking-clients.ts'
import { askHttp, type ClientName, clientOf, type Shown } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'
import { FOLDER, type Program } from './agent-programs.ts'
import { SCRIPTED_MODEL, type ScriptedModel } from './kit.ts'

/** The clients of the table. */
export const DOORS = ['openharness', 'zene', 'native', 'openai'] as const satisfies readonly ClientName[]
export type Door = (typeof DOORS)[number]

/** The clients that are asked themselves; for the others the route answers. */
const ASKED: Readonly<Partial<Record<Door, string>>> = { openharness: 'openharness', native: 'native-stream' }

/** A question of the agent, and what its client answers. */
export interface Asked {
  door: Door
  text: string
  session: string
  kind: 'allow' | 'deny'
}

interface Option {
  id: string
  kind: string
  scope: string
}

/** Such an agent: `it` and others of the same program, under the names that routes need. */
export class AgentBench {
  readonly folder: string
  readonly work: string
  readonly model: ScriptedModel
  readonly gateway: TestGateway

  private constructor(folder: string, model: ScriptedModel, gateway: TestGateway) {
    this.folder = folder
    this.work = join(folder, 'work')
    this.model = model
    this.gateway = gateway
  }

  static async of(program: Program): Promise<AgentBench> {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-agent-'))
    const home = join(folder, 'home')
    mkdirSync(join(folder, 'work'))
    mkdirSync(home)
    const { startModel } = (await import(SCRIPTED_MODEL)) as { startModel(): Promise<ScriptedModel> }
    const model = await startModel()
    for (const [path, text] of Object.entries(program.files?.(model.url) ?? {})) {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), text)
    }
    // Its processes are known by a path in this folder.
    const link = join(folder, basename(program.file))
    symlinkSync(program.file, link)
    const [command, ...args] = program.command.map((word) =>
      word === program.file ? link : word.replace(FOLDER, folder),
    )
    const agent = {
      protocol: program.protocol,
      command,
      args,
      cwd: join(folder, 'work'),
      env: {
        HOME: home,
        XDG_DATA_HOME: join(home, 'data'),
        XDG_CONFIG_HOME: join(home, 'config'),
        XDG_CACHE_HOME: join(home, 'cache'),
        XDG_STATE_HOME: join(home, 'state'),
        ...program.env(model.url, home),
      },
      pool: { max: 4 },
      // They take seconds of a processor to start, which a busy machine does not have.
      limits: { start: '5m', firstEvent: '5m' },
      restore: 'replay',
      ...program.options,
    }
    const agents = {
      it: agent,
      careful: agent,
      mortal: agent,
      ...(program.shares && { shared: { ...agent, pool: { max: 1, sessions: 2 } } }),
    }
    const gateway = await startGateway(
      `agents: ${JSON.stringify(agents)}
default: it
routes:
  - { when: { agent: careful }, agent: careful, approvals: deny }
  - { when: { agent: mortal }, agent: mortal }
  - { when: { agent: shared }, agent: ${program.shares ? 'shared' : 'it'}, approvals: allow }
  - { agent: it, approvals: allow }
`,
    )
    return new AgentBench(folder, model, gateway)
  }

  async close(): Promise<void> {
    await this.gateway.close()
    await this.model.close()
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** A turn in which the agent asks nothing, or the route answers. */
  ask(door: Door, agent: string, text: string, session: string): Promise<Shown> {
    return askHttp(this.gateway.url, door, { text, session, agent, id: crypto.randomUUID() })
  }

  /** Begins a turn in which the agent asks: its client answers, or the route does. Resolves with the turn's end. */
  async decide({ door, text, session, kind }: Asked): Promise<{ ended: Promise<{ ok: boolean }> }> {
    const asking = ASKED[door]
    if (asking === undefined) {
      return { ended: this.ask(door, kind === 'allow' ? 'it' : 'careful', text, session) }
    }
    const client = ASKING[asking]!({ url: this.gateway.url, agent: 'it', name: session, text })
    const { options } = await client.asked()
    const fitting = (options as Option[]).filter((option) => option.kind === kind)
    const { id: option } = fitting.find(({ scope }) => scope === 'once') ?? fitting[0]!
    const answered = client.answer({ option, kind })
    return { ended: answered.then(() => client.ended()).then(({ ending }) => ({ ok: ending === 'completed' })) }
  }

  /** Copies a session. */
  async copy(session: string, as: string): Promise<void> {
    const listed = await fetch(`${this.gateway.url}/v1/sessions?q=${session}`)
    const { sessions } = (await listed.json()) as { sessions: { id: string; session: string }[] }
    const { id } = sessions.find((info) => info.session === session)!
    const body = JSON.stringify({ session: { id: as } })
    await fetch(`${this.gateway.url}/v1/sessions/${id}/fork`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
  }

  /** Cancels whatever runs. */
  async cancel(): Promise<void> {
    for (const turn of this.gateway.engine.turns) turn.cancel()
    await until(() => this.gateway.engine.turns.length === 0)
  }

  /** The code by which an answer tells that its turn failed. */
  failure(door: Door, { raw }: Shown): string | undefined {
    return clientOf(door).failure(raw)
  }

  /** True when one request to the model has all of these texts: some programs ask it for a title, too. */
  wasAsked(...texts: string[]): boolean {
    return this.model.requests.some((request) => texts.every((text) => JSON.stringify(request).includes(text)))
  }
}
