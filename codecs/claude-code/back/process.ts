import { hasFlag, StreamJsonProcess, type StreamJsonProgram } from '../../../src/codec-kit/index.ts'
import { argumentOf, type BackContext, type BackPorts } from '../../../src/contract/index.ts'
import type { JsonText } from '../../../src/model/index.ts'
import { ProcessUsage } from './usage.ts'

const PROGRAM: StreamJsonProgram = {
  name: 'Claude Code',
  check: 'its arguments and its login',
  pinning: ['--session-id', '--resume', '-r', '--continue', '-c', '--from-pr'],
  flags: [
    { add: ['-p'], unless: ['--print'] },
    { add: ['--input-format', 'stream-json'] },
    { add: ['--output-format', 'stream-json'] },
    { add: ['--verbose'] },
    { add: ['--include-partial-messages'] },
    { add: ['--permission-prompt-tool', 'stdio'] },
  ],
  greeting: { hooks: 'null' },
}

/** True when the configured arguments themselves say which session the process works in. */
export function pinsSession(configured: readonly string[] = []): boolean {
  return hasFlag(configured, PROGRAM.pinning)
}

/** The process of an agent, and what is known of its conversation. */
export class ClaudeProcess extends StreamJsonProcess {
  /** The system prompt that the conversation holds already. */
  instructions: string | undefined
  /** The agent's answer to the handshake. */
  greeting: JsonText = '{}'
  /** The model that the process is set to, and the one that it began with. */
  readonly model: { own: string | undefined; now: string | undefined } = { own: undefined, now: undefined }
  /** The permission mode that it was set to. */
  mode: string | undefined
  /** True once it has reported the state of a message (`command_lifecycle`). */
  reportsLifecycle = false
  readonly usage = new ProcessUsage()
  readonly #configuredModel: string | undefined
  readonly #ports: BackPorts

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    super(PROGRAM, context, ports)
    this.#configuredModel = argumentOf(context, '--model')
    this.#ports = ports
  }

  protected began(): void {
    this.usage.reset()
    this.model.own = this.#configuredModel
    this.model.now = this.#configuredModel
    this.mode = undefined
    this.reportsLifecycle = false
  }

  protected greeted(answer: JsonText): void {
    this.greeting = answer
    this.#ports.emit({ turn: null, type: 'agent-ready' })
  }
}
