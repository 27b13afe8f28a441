/** The recorded wires of the CLI. */
import { type Recording, recordings } from '../../kit/recordings.ts'

export type Scenario = Recording

/** The recordings of this dialect; those named `acp-` are of another protocol. */
export function scenarios(): Scenario[] {
  return recordings('qwen-code').filter(({ file }) => !file.startsWith('acp-'))
}

/** The recording of this name, without its ending. */
export function scenarioOf(name: string): Scenario {
  return scenarios().find(({ file }) => file === `${name}.jsonl`)!
}

/** The arguments that the program was started with. */
export function argsOf(scenario: Scenario): readonly string[] {
  return scenario.args.length > 0 ? scenario.args : (scenario.wires[0]?.argv ?? [])
}

/** The lines of a recording with their direction; notes are left out but for the end of the input. */
export function recordedLines({ rows }: Scenario): { dir: string; line: string }[] {
  return rows.filter(({ line }) => !line.startsWith('⟨') || line === '⟨EOF⟩')
}
