import * as v from 'valibot'
import { hasFlag, StreamJsonProcess, type StreamJsonProgram } from '../../../src/codec-kit/index.ts'
import { argumentOf, type BackContext, type BackPorts, type CallEnd } from '../../../src/contract/index.ts'
import type { Fault, JsonText, Stop } from '../../../src/model/index.ts'
import { Initialized } from '../schema.ts'
import { UsageMeter } from '../usage.ts'
import { limitOfExit } from './errors.ts'
import { Settings } from './settings.ts'

/** Arguments of a session that has a past; with `--session-id`, those that name a session. */
const RESUMING = ['--resume', '-r', '--continue', '-c', '--fork-session']

const PROGRAM: StreamJsonProgram = {
  name: 'Qwen Code',
  check: 'its arguments, its model and its credentials',
  pinning: ['--session-id', ...RESUMING],
  // The approval mode is always given: its default differs between versions.
  flags: [
    { add: ['--input-format', 'stream-json'] },
    { add: ['--output-format', 'stream-json'], unless: ['-o'] },
    { add: ['--include-partial-messages'] },
    { add: ['--approval-mode', 'default'], unless: ['--yolo', '-y'] },
  ],
  // Else the CLI starts itself again, and killing the outer process leaves the inner one at work.
  env: { QWEN_CODE_NO_RELAUNCH: '1' },
  // `canUseTool`: the CLI's longest time for consent, in milliseconds, because the gateway has limits of its own.
  greeting: { hooks: 'null', timeout: '{"canUseTool":600000}' },
}

/** True when the configured arguments themselves say which session the process works in. */
export function pinsSession(configured: readonly string[] = []): boolean {
  return hasFlag(configured, PROGRAM.pinning)
}

/** The process of an agent, and its settings. */
export class CliProcess extends StreamJsonProcess {
  /** The agent's own reason why it cannot start. */
  refusal: Fault | undefined
  /** It may ignore further requests: the next turn needs another process. */
  suspect = false
  readonly settings: Settings
  readonly meter = new UsageMeter()
  readonly #isResumed: boolean
  readonly #ports: BackPorts

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    super(PROGRAM, context, ports)
    this.settings = new Settings(argumentOf(context, '--model', '-m'))
    this.#isResumed = hasFlag(context.process?.args ?? [], RESUMING)
    this.#ports = ports
  }

  protected began(resumes: boolean): void {
    this.suspect = false
    this.settings.reset(!resumes)
    this.meter.reset(!resumes && !this.#isResumed)
  }

  protected greeted(answer: JsonText): void {
    const known = v.safeParse(Initialized, JSON.parse(answer))
    if (known.success) this.session = known.output.session_id
    this.#ports.emit({ turn: null, type: 'agent-ready', json: answer })
  }

  /** True also when the process is not to be trusted any more. */
  override isElsewhere(bound: string | undefined): boolean {
    return super.isElsewhere(bound) || (this.suspect && !this.recorded)
  }

  override stopOf(end: CallEnd): Stop | undefined {
    return limitOfExit(end) && 'max-turns'
  }

  override reasonOf(end: CallEnd): Fault {
    const isRefusal = !this.handshake.done && end.why === 'closed' && !end.fault
    return (isRefusal ? this.refusal : undefined) ?? limitOfExit(end) ?? super.reasonOf(end)
  }
}
