import {
  commandText,
  dropped,
  messageLine,
  type Report,
  weakened,
  withInstruction,
} from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type CommandOf, fault, member, quote, type TurnOptions, type TurnStart } from '../../../src/model/index.ts'
import { CONTINUE, ownExt } from '../wire.ts'
import type { CliProcess } from './process.ts'
import { SUBTYPES } from './settings.ts'
import type { TurnDecoder } from './turn.ts'

/** A turn on its way; `sent`: it was written. */
export interface Work {
  readonly decoder: TurnDecoder
  readonly start: CommandOf<'turn-start'>
  sent: boolean
  interrupting: boolean
}

/**
 * Writes a turn's prompt. A message cannot name a model or an effort: others than the agent's are set first, and the
 * session's own again.
 */
export function startWork(work: Work, process: CliProcess, ports: BackPorts): void {
  const { decoder, start } = work
  const { dead, settings, controls } = process
  if (decoder.ended) return
  if (dead) {
    decoder.fail(dead)
    return
  }
  if (settings.missing) {
    restore(work, settings.missing, process, ports)
    return
  }
  // In a recording they were set, or did not need to be.
  const wanted: TurnOptions = process.recorded ? {} : { model: settings.ownModel, ...start.options }
  const name = (['model', 'effort'] as const).find(
    (one) => wanted[one] !== undefined && wanted[one] !== settings.now[one],
  )
  if (name) {
    settings.send(controls, name, wanted[name]!, (reply) => {
      // Refused or not, it is not asked for again in this turn.
      if (reply) settings.now[name] = wanted[name]!
      if (reply?.success === false) ports.report(dropped(`option.${name}`, undefined, 'unknown'), decoder.turn)
      startWork(work, process, ports)
    })
  } else if (member(ownExt(start.ext) ?? '{}', CONTINUE) === 'true') proceed(work, process)
  else prompt(work, process, ports)
}

/** Applies a client's setting to a process that replaced another one; the turn does not run without it. */
function restore(
  work: Work,
  { name, value }: NonNullable<CliProcess['settings']['missing']>,
  process: CliProcess,
  ports: BackPorts,
): void {
  const { settings, controls } = process
  settings.send(controls, name, value, (reply) => {
    if (reply?.success) settings.restored(name)
    if (!reply || work.decoder.ended) return
    if (reply.success) startWork(work, process, ports)
    else {
      const text = `The agent had to be started again and refuses what its client has set (${SUBTYPES[name]}: ${reply.error}); set something else.`
      work.decoder.fail(fault('invalid-request', text))
    }
  })
}

function prompt(work: Work, process: CliProcess, ports: BackPorts): void {
  const { decoder, start } = work
  const report: Report = (loss) => ports.report(loss, decoder.turn)
  const { text, system } = promptOf(start, process.settings.system, report)
  if (text.trim() === '') {
    decoder.fail(fault('invalid-request', 'The prompt has no text, and the agent would not answer it.'))
    return
  }
  const extra = ownExt(start.ext)
  if (start.ext && extra === undefined) report(dropped('ext', start.ext.protocol))
  process.settings.system = system
  work.sent = true
  const message = `{"role":"user","content":${quote(text)}}`
  const session = quote(process.session ?? '')
  ports.send(messageLine({ type: '"user"', session_id: session, message, parent_tool_use_id: 'null' }, extra))
}

/** A command of the CLI: only as the first word is it one. */
const COMMAND = /^\s*\/([a-z][\w:-]*)(?=\s|$)/i
/** The commands that surely clear the conversation. */
const FORGETTING: ReadonlySet<string> = new Set(['clear', 'reset', 'new', 'compress', 'compress-fast', 'summarize'])

/**
 * The prompt of a turn's input, and the system prompt that its conversation knows then; `report` gets what it cannot
 * hold. A command without text is written as a user types it. A system prompt that the conversation does not know (`known`) is put before the text, but not before a command,
 * which would not work then: the next prompt brings it.
 */
function promptOf(
  start: TurnStart,
  known: string | undefined,
  report: Report,
): { text: string; system: string | undefined } {
  const text = textOf(start, report)
  const { systemPrompt: wished = known } = start.options
  const [, command] = COMMAND.exec(text) ?? []
  if (command !== undefined) {
    if (wished !== known) report(dropped('option.systemPrompt', undefined, 'policy'))
    return { text, system: FORGETTING.has(command.toLowerCase()) ? undefined : known }
  }
  if (wished === undefined || wished === known || text.trim() === '') return { text, system: known }
  report(weakened('option.systemPrompt'))
  return { text: withInstruction(wished, text), system: wished }
}

function textOf(start: TurnStart, report: Report): string {
  const lines: string[] = []
  for (const part of start.input) {
    if (part.type === 'text') lines.push(part.text)
    else if (part.type === 'data') {
      report(weakened('part.data'))
      lines.push(part.json)
    } else if (part.type === 'reasoning') report(dropped('part.reasoning'))
  }
  const typed = lines.join('\n')
  return typed === '' && start.invocation ? commandText(start.invocation) : typed
}

/** Continues a turn that was interrupted: the CLI has a request for it, and no prompt. */
function proceed(work: Work, { controls }: CliProcess): void {
  work.sent = true
  controls.send(CONTINUE, {}, (reply) => {
    if (!reply || work.decoder.ended || (reply.success && member(reply.raw, 'accepted') === 'true')) return
    const why = reply.success ? 'it has nothing to go on with' : reply.error
    work.decoder.fail(fault('invalid-request', `The agent does not continue its last turn: ${why}.`))
  })
}

/** Cancels a turn that was written. */
export function interrupt(work: Work, process: CliProcess): void {
  work.interrupting = true
  process.controls.send('interrupt', {}, (reply) => {
    // An interrupt that comes when the turn is over makes 0.15 ignore every later message.
    if (reply && work.decoder.ended) process.suspect = true
  })
}
