import { useState } from 'preact/hooks'
import type { AskOption, Question } from '../../src/model/index.ts'
import { isObject, jsonText, parsed } from '../logic/json.ts'
import { Problem } from './loaded.tsx'
import type { Answer } from './one-field.tsx'
import { Text } from './text.tsx'

type Approval = Extract<Question, { kind: 'approval' }>

const SCOPES: Readonly<Record<AskOption['scope'], string>> = {
  once: 'once',
  session: 'for this session',
  always: 'from now on',
}

/** Asks for consent, with the options of the agent, and with other arguments where the agent takes them. */
export function ApprovalForm({ question, answer }: { question: Approval; answer: Answer }) {
  const { name, description, args, options, editable } = question
  const [edit, setEdit] = useState<string | undefined>()
  const [problem, setProblem] = useState<string | undefined>()
  const choose = ({ id, kind }: AskOption): void => {
    if (edit === undefined || kind === 'deny') {
      answer({ option: id })
      return
    }
    const edited = parsed(edit)
    if (isObject(edited)) answer({ reply: { kind: 'approval', option: id, edited } })
    else setProblem('The arguments are no JSON object. Mend them, or take the agent’s own.')
  }
  return (
    <>
      <p>
        May the agent use <b>{name}</b>? {description && <Text value={description} />}
      </p>
      {edit === undefined ? (
        <pre>
          <Text value={jsonText(args)} />
        </pre>
      ) : (
        <label class="edited">
          <span>Arguments, as they are to run</span>
          <textarea
            rows={Math.min(16, edit.split('\n').length + 1)}
            spellcheck={false}
            value={edit}
            onInput={(event) => setEdit(event.currentTarget.value)}
          />
        </label>
      )}
      {problem !== undefined && <Problem text={problem} />}
      <p class="options">
        {options.map((option) => (
          <button type="button" key={option.id} class={option.kind} onClick={() => choose(option)}>
            <Option option={option} isEdited={edit !== undefined} />
          </button>
        ))}
        {editable && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              setProblem(undefined)
              setEdit(edit === undefined ? jsonText(args) : undefined)
            }}
          >
            {edit === undefined ? 'Change the arguments' : 'Take the agent’s own'}
          </button>
        )}
      </p>
    </>
  )
}

/** An option under the agent's name, with its scope where that is more than this one call. */
function Option({ option: { label, kind, scope }, isEdited }: { option: AskOption; isEdited: boolean }) {
  const own = kind === 'allow' ? 'Allow' : 'Deny'
  return (
    <>
      {label === undefined ? `${own}${scope === 'once' ? '' : ` ${SCOPES[scope]}`}` : <Text value={label} limit={80} />}
      {label !== undefined && scope !== 'once' && <small> {SCOPES[scope]}</small>}
      {isEdited && kind === 'allow' && <small> with these arguments</small>}
    </>
  )
}
