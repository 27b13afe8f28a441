import { isRecord } from '../../../src/model/index.ts'
import { isEnd } from './session-events.ts'

/** The number of ended turns whose late lines are known by their id. */
const REMEMBERED = 100

/** The turns that have ended: lines of theirs may still come. */
export class EndedTurns {
  readonly #prompts = new Set<string>()
  /** A turn may have ended before the last line that its agent wrote for it. */
  tail = false
  /** The prompt id of the turn that the agent runs by itself, if it says one. */
  unasked: unknown

  /** Remembers that the turn with this prompt id has ended. */
  add(prompt: string): void {
    this.#prompts.add(prompt)
    if (this.#prompts.size > REMEMBERED) this.#prompts.delete(this.#prompts.values().next().value!)
  }

  /** Forgets a prompt id that is used again. */
  delete(prompt: string): void {
    this.#prompts.delete(prompt)
  }

  has(prompt: string): boolean {
    return this.#prompts.has(prompt)
  }

  /**
   * True for a line of an ended turn, while another one runs that has `begun` or not: by its prompt id, or because it
   * can only be the end of the turn before.
   */
  isLate(value: Record<string, unknown>, begun: boolean): boolean {
    const prompt = value['prompt_id']
    if (typeof prompt === 'string') return this.has(prompt)
    if (!this.tail || begun) return false
    const ends = isEnd(value) || isLastChunk(value)
    // A completion that continues belongs to the running turn, so the next end is its own.
    if (ends || value['choices'] !== undefined) this.tail = false
    return ends
  }
}

/** True for a chunk that only marks the end. */
export function isLastChunk({ choices }: Record<string, unknown>): boolean {
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isRecord(choice) && typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== 'tool_calls'
}
