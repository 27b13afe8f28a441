import {
  answered,
  endsEvents,
  httpRows,
  isEventStream,
  isJsonAnswer,
  isStreamed,
  ofAnswers,
  ofRefusals,
  recordsIn,
  refused,
} from './endpoint.ts'
import { endsByItself, postsJson, sayings } from './endpoint-clients.ts'
import { areUnique, every, exactly, expectThat, show, skip, waits } from './judges.ts'
import type { AgentRow, ClientRow } from './rules.ts'
import type { AgentRun, JsonRecord, Verdict } from './suite.ts'

/** A row about answers to these scenarios; refusals are skipped. */
export function onAnswers(on: readonly string[], row: Omit<AgentRow, 'on'>): AgentRow {
  return { ...row, on, judge: ofAnswers((run) => row.judge(run, [])) }
}

/** A row about streams of these scenarios, judged where their events can be read. */
export function onStreams(
  on: readonly string[],
  expects: string,
  judge: (run: AgentRun) => Verdict,
  needs: readonly string[] = ['3.events', '3.blank-lines'],
): AgentRow {
  return onAnswers(on, { expects, needs, judge })
}

/** An API of models, as far as the rules of all of them differ. */
export interface ModelAnswers {
  /** The scenarios of questions without tools, and what is in them. */
  plain: readonly string[]
  questions: string
  /** All scenarios with a whole answer, and those with a streamed one. */
  whole: readonly string[]
  streams: readonly string[]
  /** The calls of an answer, the member with the id of one, and the rule about one. */
  callsOf: (run: AgentRun) => JsonRecord[]
  id: string
  call: string
  /** The statuses for a model that there is not. */
  unknownModel: readonly number[]
  /** True for a stream in which the server has begun to answer. */
  hasBegun: (run: AgentRun) => boolean
}

/** The rules for every server of models. The rule `2.object` is that of its API. */
export function modelRows(api: ModelAnswers) {
  const { plain, questions, whole, streams, callsOf, id, call, unknownModel, hasBegun } = api
  return {
    '1.answered': {
      expects: `${questions}, any characters, and 200 KB of text are answered`,
      on: plain,
      judge: answered,
    },
    '1.content-type': onAnswers(whole, { expects: 'a whole answer is application/json', judge: isJsonAnswer }),
    '3.content-type': { expects: 'a stream is text/event-stream', on: streams, judge: isEventStream },
    '3.blank-lines': { expects: 'every event ends with a blank line', on: streams, judge: endsEvents },
    '4.parallel': onAnswers(['parallel'], {
      expects: 'the ids of parallel calls differ',
      needs: [call],
      judge: (run) => {
        const ids = callsOf(run).map((one) => one[id])
        return ids.length < 2 ? skip('the model made no two calls at once') : expectThat(areUnique(ids), show(ids))
      },
    }),
    '4.none': onAnswers(['no-tools'], {
      expects: 'with a tool_choice of `none` no tool is called',
      needs: ['2.object'],
      judge: (run) => exactly(0, callsOf(run), 'calls'),
    }),
    '4.result': {
      expects: 'a conversation that ends with the result of a tool is answered',
      on: ['tool-result'],
      judge: answered,
    },
    '5.unknown-model': {
      expects: `an unknown model is refused with ${unknownModel.join(' or ')}`,
      on: ['unknown-model'],
      lenient: true,
      judge: refused(...unknownModel),
    },
    '5.before-stream': {
      expects: 'a streamed request that is refused has the status and the body of an error, not a stream',
      on: ['unknown-model-stream'],
      judge: (run) => (isStreamed(run) ? expectThat(hasBegun(run), show(run.output)) : ofRefusals(isJsonAnswer)(run)),
    },
    ...httpRows('1'),
  } as const satisfies Readonly<Record<string, AgentRow>>
}

/** A row about an answer that a limit of tokens has cut: what is `seen` of its end is `cut`. */
export function limitRow(
  row: Pick<AgentRow, 'expects' | 'needs'>,
  tokens: (run: AgentRun) => unknown,
  seen: (run: AgentRun) => unknown,
  cut: unknown,
): AgentRow {
  return onAnswers(['limit'], {
    ...row,
    lenient: true,
    judge: (run) => {
      if (!(Number(tokens(run)) >= 16)) return skip('the model did not reach the limit')
      return expectThat(seen(run) === cut, show(seen(run)))
    },
  })
}

/** The requests of clients of an API of models, as far as the rules of all of them differ. */
export interface ModelRequests {
  /** The end of their path, and that of requests which are no questions. */
  path: string
  others?: string
  /** True for a request; what is in it. */
  isRequest: (body: JsonRecord) => boolean
  members: string
  /** True for a declaration of a tool; what it is. */
  isTool: (tool: JsonRecord) => boolean
  tool: string
  /** True for text that is the end of an answer. */
  end: RegExp
}

/** The rules for every client of models. */
export function modelClientRows({ path, others, isRequest, members, isTool, tool, end }: ModelRequests) {
  const isQuestion = (url: string): boolean => others === undefined || !url.includes(others)
  return {
    '1.post': {
      expects: `a request is a POST of application/json to …${path}`,
      judge: ({ visits, ...rest }) =>
        postsJson({ ...rest, visits: visits.filter(({ request }) => isQuestion(request?.path ?? '')) }, path),
    },
    '1.body': {
      expects: `a request is one JSON object with ${members}`,
      judge: (run) => every(sayings(run, path), 'request', isRequest),
    },
    '1.stream': {
      expects: '`stream` is true, false or null',
      needs: ['1.body'],
      judge: (run) =>
        every(sayings(run, path), 'request', ({ stream = null }) => stream === null || typeof stream === 'boolean'),
    },
    '4.tools': {
      expects: `a declared ${tool}`,
      needs: ['1.body'],
      judge: (run) =>
        every(
          sayings(run, path).flatMap((body) => recordsIn(body, 'tools')),
          'tool',
          isTool,
        ),
    },
    '3.waits': {
      expects: 'the client waits for the end of the answer',
      judge: (run) => waits(run, (text) => end.test(text)),
    },
    '1.ends': endsByItself,
  } as const satisfies Readonly<Record<string, ClientRow>>
}
