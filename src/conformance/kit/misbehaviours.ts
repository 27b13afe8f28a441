/**
 * The misbehaviours of hostile programs on either side. A new one is a name here and a row in a table of
 * `src/conformance`.
 */
export const BEHAVIOURS = [
  'answers-well',
  'says-nothing',
  'banner',
  'log-lines-everywhere',
  'garbage-line',
  'lost-boundary',
  'lines-that-are-no-objects',
  'blank-lines-and-crlf',
  'byte-order-mark',
  'ansi-colours',
  'raw-nul',
  'nul-in-text',
  'invalid-utf-8',
  'split-characters',
  'raw-separators',
  'lone-surrogate',
  'line-of-1-mib',
  'line-of-4-mib',
  'prompt-of-1-mib',
  'no-newline-at-the-end',
  'half-a-line-then-stalls',
  'half-a-line-then-ends',
  'odd-numbers-and-keys',
  'deep-json',
  'duplicate-keys',
  'unknown-messages-and-fields',
  'ids-are-0',
  'ids-are-empty',
  'ids-are-equal',
  'foreign-ids',
  'cancels-nothing',
  'answers-twice',
  'frames-after-the-end',
  'exits-0-in-the-answer',
  'exits-1-without-answer',
  'dies-at-start',
  'stderr-before-stdout',
  'slow-first-byte',
  'cut-in-the-body',
  'closes-without-answer',
  'wrong-content-type',
  'status-200-without-envelope',
  'status-500-without-envelope',
] as const

/** The name of a behaviour. */
export type Behaviour = (typeof BEHAVIOURS)[number]

/**
 * The demand on a program under test. In every case it ends in time and never reports a wrong answer. `answer`: the
 * wire is valid, so the answer must come. `advised`: the wire is invalid but clear; a program that fails gets a
 * warning. `honest`: the answer or an error. `error`: an error. `untried`: it does not apply to this protocol.
 */
export type Demand = 'answer' | 'advised' | 'honest' | 'error' | 'untried'

/** The form of a wire: one JSON object per line, lines of text, or one JSON object. */
export type WireForm = 'objects' | 'text' | 'body'
