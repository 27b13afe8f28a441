import {
  type AgentRow,
  every,
  expectThat,
  isObject,
  isText,
  onAnswers,
  refused,
  show,
  skip,
  TOOL,
} from '../../../kit/index.ts'
import { argumentsOf, callsOf, choiceOf, functionOf } from './read.ts'
/** The rules about calls of functions in whole answers. */
export const toolRows = {
  '4.call': onAnswers(['tool', 'parallel'], {
    expects: 'a call has an id, the type `function`, the name of a declared function, and a JSON object as arguments',
    needs: ['2.choice'],
    judge: (run) =>
      every(
        callsOf(run),
        'call',
        (call) =>
          isText(call['id']) &&
          call['type'] === 'function' &&
          functionOf(call)['name'] === TOOL.name &&
          isObject(argumentsOf(functionOf(call)['arguments'])),
      ),
  }),
  '4.finish': onAnswers(['tool', 'parallel'], {
    expects: 'an answer with calls has the finish reason `tool_calls`',
    needs: ['2.choice'],
    judge: (run) =>
      callsOf(run).length === 0
        ? skip('the model called no tool')
        : expectThat(choiceOf(run)['finish_reason'] === 'tool_calls', show(choiceOf(run)['finish_reason'])),
  }),
  '4.unknown-result': {
    expects: 'the result of a call that the messages do not have is refused',
    on: ['unknown-result'],
    lenient: true,
    judge: refused(),
  },
} as const satisfies Readonly<Record<string, AgentRow>>
