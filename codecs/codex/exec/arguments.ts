import { hasFlag } from '../../../src/codec-kit/index.ts'
import type { TurnOptions } from '../../../src/model/index.ts'

const MODEL = ['--model', '-m']

/**
 * The arguments of the process of a turn: the configured ones, with the model and effort of the turn, and the thread to
 * go on with. The prompt comes on standard input.
 */
export function argumentsOf(
  configured: readonly string[],
  { model, effort }: TurnOptions,
  thread: string | undefined,
): string[] {
  const args = configured.includes('exec') ? [...configured] : [...configured, 'exec']
  if (!hasFlag(args, ['--json', '--experimental-json'])) args.push('--json')
  return [
    ...(model === undefined ? args : [...without(args, MODEL), '--model', model]),
    ...(effort === undefined ? [] : ['-c', `model_reasoning_effort=${JSON.stringify(effort)}`]),
    ...(thread === undefined ? [] : ['resume', thread]),
    '-',
  ]
}

/** The arguments without an option that takes a value: given twice, it is refused. */
function without(args: readonly string[], names: readonly string[]): string[] {
  return args.filter((arg, at) => {
    const isValue = at > 0 && names.includes(args[at - 1]!)
    return !isValue && !names.includes(arg.split('=', 1)[0]!)
  })
}
