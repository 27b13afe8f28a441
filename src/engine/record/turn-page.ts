import type { DaySpent, LeaseRef, TurnAdditions, TurnRecord } from '../../contract/index.ts'
import type { Id, Part, TextRun, TurnEvent } from '../../model/index.ts'
import { elapsed } from '../common/index.ts'
import {
  appendLine,
  appendTexts,
  type EventLines,
  type Numbered,
  newLines,
  shapeOf,
  takeLines,
} from '../events/index.ts'
import { keepsContent, type Turn } from '../turn/index.ts'
import { conversationDigest, knownAs, type Told } from './conversation.ts'
import { earlierMessages, messagesOf, type Steered } from './transcript.ts'

/** The characters of an error's message that are kept for lists; its events have all of it. */
const LONGEST_ERROR = 1000

/** The record of a running turn, as far as it is not in the store yet. */
export interface TurnPage {
  readonly turn: Turn
  /** The time when it began, as `elapsed` counts. */
  readonly since: number
  /** All events, for those who join it, when the record has their shape alone. */
  readonly unkept: Numbered[] | undefined
  /** The conversation before it, where its client may send it again. */
  readonly told: Told | undefined
  /** The record of the turn as a running one. */
  record: TurnRecord
  /** The events that wait. */
  readonly lines: EventLines
  /** Input of its client meanwhile; absent while there is none. */
  steered?: Steered[]
  /** Its beginning is in the store. */
  begun: boolean
  /** The writes of it that are not done; false when one has failed. */
  writing: Promise<boolean> | undefined
  /** Its place among the pages that have something to write; -1 when it is not among them. */
  place: number
  /** The time since which it has something to write, as `elapsed` counts. */
  waitsSince: number
  /** The size of its content, which is in memory until its end, in UTF-16 units. */
  held: number
}

/** The page of a turn that begins. */
export function newPage(turn: Turn, record: TurnRecord, told?: Told): TurnPage {
  const unkept = keepsContent(turn) ? undefined : []
  const lines = newLines(turn.id)
  return {
    turn,
    since: elapsed(),
    unkept,
    told,
    record,
    lines,
    begun: false,
    writing: undefined,
    place: -1,
    waitsSince: 0,
    held: 0,
  }
}

/** Adds the newest event of the turn. Gives the number of UTF-16 units that wait with it and did not before. */
export function addEvent(page: TurnPage, event: TurnEvent): number {
  const { unkept, lines, turn } = page
  const { seq } = turn.view
  unkept?.push({ seq, event })
  const before = lines.text.length
  appendLine(lines, seq, unkept ? shapeOf(event) : event)
  return lines.text.length - before
}

/** The same for pieces of text. */
export function addTexts(page: TurnPage, run: TextRun): number {
  const { unkept, lines, turn } = page
  const before = lines.text.length
  const first = turn.view.seq - run.length + 1
  if (unkept) {
    for (const [at, event] of run.events.entries()) {
      unkept.push({ seq: first + at, event })
      appendLine(lines, first + at, shapeOf(event))
    }
  } else appendTexts(lines, first, run)
  return lines.text.length - before
}

/** Adds input of the client during the turn. */
export function addSteered(page: TurnPage, parts: readonly Part[]): void {
  page.steered ??= []
  page.steered.push({ after: page.turn.view.messages.length, parts })
}

/** Puts the turn under a lease. Gives its record. */
export function runUnder(page: TurnPage, lease: LeaseRef): TurnRecord {
  page.record = { ...page.record, ...lease }
  return page.record
}

/** Another agent takes the turn, in another session. */
export function movePage(page: TurnPage, session: string): void {
  page.record = { ...page.record, session, agent: page.turn.agent.name }
}

/** The record of the turn with its end and its further effects; `spent` counts for its tenant. */
export function endOf(page: TurnPage, spent?: DaySpent): [TurnRecord, TurnAdditions] {
  const { view, scope, recordedLosses } = page.turn
  const { outcome, fault } = view.end!
  const told = page.unkept ? [] : earlierMessages(page.turn)
  const { measures } = scope
  if (page.unkept) measures.shape = true
  else if (fault) measures.error = errorText(fault.message)
  if (told.length > 0) measures.told = told.length
  const record: TurnRecord = {
    ...page.record,
    endedAt: view.at,
    outcome,
    losses: recordedLosses,
    measures,
  }
  if (fault) record.code = fault.code
  const additions: TurnAdditions = {}
  const events = takeLines(page.lines)
  if (events) additions.events = events
  if (!page.unkept) additions.messages = [...told, ...messagesOf(page.turn, page.steered)]
  const { wire } = page.turn
  if (wire) additions.wire = JSON.stringify(wire)
  if (outcome === 'completed' && page.told) additions.known = knownOf(page, page.told)
  if (spent) additions.spent = spent
  return [record, additions]
}

/**
 * The message of an error as it is kept for lists: of bounded length, and of characters that every store can search.
 */
function errorText(message: string): string {
  return message.slice(0, LONGEST_ERROR).toWellFormed().replaceAll('\0', '')
}

/** The conversation that a turn leaves its session with, as its client knows it. */
function knownOf({ turn, steered, record }: TurnPage, { named, digest }: Told): string {
  const isOfClient = (tool: Id): boolean => turn.view.tool(tool)?.executor === 'client'
  return knownAs({ named, digest: conversationDigest(messagesOf(turn, steered), digest, isOfClient) }, record)
}
