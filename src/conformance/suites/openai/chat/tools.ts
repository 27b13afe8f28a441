import {
  type AgentRow,
  answered,
  areUnique,
  every,
  exactly,
  expectThat,
  isObject,
  isText,
  refused,
  show,
  skip,
} from '../../../kit/index.ts'
import { argumentsOf, callsOf, choiceOf, functionOf, onAnswers } from './read.ts'
import { TOOL } from './scenarios.ts'

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
  '4.parallel': onAnswers(['parallel'], {
    expects: 'the ids of parallel calls differ',
    needs: ['4.call'],
    judge: (run) => {
      const ids = callsOf(run).map(({ id }) => id)
      return ids.length < 2 ? skip('the model made no two calls at once') : expectThat(areUnique(ids), show(ids))
    },
  }),
  '4.none': onAnswers(['no-tools'], {
    expects: 'with `tool_choice: none` no tool is called',
    needs: ['2.choice'],
    judge: (run) => exactly(0, callsOf(run), 'calls'),
  }),
  '4.result': {
    expects: 'a conversation that ends with the result of a tool is answered',
    on: ['tool-result'],
    judge: answered,
  },
  '4.unknown-result': {
    expects: 'the result of a call that the messages do not have is refused',
    on: ['unknown-result'],
    lenient: true,
    judge: refused(),
  },
} as const satisfies Readonly<Record<string, AgentRow>>
