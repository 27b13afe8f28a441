import { useMemo, useState } from 'preact/hooks'
import type { Question } from '../../src/model/index.ts'
import { jsonOf } from '../logic/json.ts'
import { type Field, fieldsOf, valuesOf } from '../logic/schema-form.ts'
import { Problem } from './loaded.tsx'
import { type Answer, OneField } from './one-field.tsx'
import { Text } from './text.tsx'

/** Asks for values by a form of their schema; without one, as JSON. */
export function InputForm({ question, answer }: { question: Extract<Question, { kind: 'input' }>; answer: Answer }) {
  const { message, schema } = question
  const [problem, setProblem] = useState<string | undefined>()
  const fields = useMemo(() => fieldsOf(schema), [schema])
  const reply = (values: unknown): void => answer({ reply: { kind: 'input', values } })
  if (!fields) {
    return (
      <OneField label="Values, as JSON" answer={(value) => reply(jsonOf(value))}>
        <Text value={message} />
      </OneField>
    )
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const values = valuesOf(fields, Object.fromEntries(fields.map(({ name }, at) => [name, entriesOf(form, at)])))
    if (typeof values === 'string') setProblem(values)
    else reply(values)
  }
  return (
    <form onSubmit={submit}>
      <p>
        <Text value={message} />
      </p>
      {fields.map((field, at) => (
        <Row key={field.name} field={field} name={`field-${at}`} />
      ))}
      {problem !== undefined && <Problem text={problem} />}
      <p class="options">
        <button type="submit" class="primary">
          Answer
        </button>
        <button type="button" onClick={() => reply({})}>
          Decline
        </button>
      </p>
    </form>
  )
}

/** The entry or choice for the field at this place, and the text besides the choices, as JSON as they are. */
function entriesOf(form: FormData, at: number): string[] {
  const own = String(form.get(`field-${at}-own`) ?? '')
  return [...form.getAll(`field-${at}`).map(String), ...(own === '' ? [] : [JSON.stringify(own)])]
}

interface EntryProps {
  field: Field
  /** The name of its entries in the form: a property may have any name. */
  name: string
}

function Row({ field, name }: EntryProps) {
  const label = (
    <>
      <Text value={field.label} limit={80} />
      {field.required && ' *'}
    </>
  )
  const hint = field.description !== undefined && (
    <small>
      <Text value={field.description} limit={300} />
    </small>
  )
  if (field.kind === 'many' || (field.kind === 'choice' && field.open)) {
    return (
      <fieldset class="choices">
        <legend>{label}</legend>
        {hint}
        <Choices field={field} name={name} />
      </fieldset>
    )
  }
  return (
    <label class={field.kind}>
      <span>{label}</span>
      <Entry field={field} name={name} />
      {hint}
    </label>
  )
}

/** Choices that are all visible: several may be chosen, or any other text is allowed. */
function Choices({ field: { kind, choices, open, initial }, name }: EntryProps) {
  return (
    <>
      {choices.map(({ json, label }) => (
        <label key={json}>
          <input
            type={kind === 'many' ? 'checkbox' : 'radio'}
            name={name}
            value={json}
            defaultChecked={initial.includes(json)}
          />
          <span>
            <Text value={label} limit={200} />
          </span>
        </label>
      ))}
      {open && <input name={`${name}-own`} placeholder="or something else" aria-label="Something else" />}
    </>
  )
}

function Entry({ field: { kind, required, choices, initial, checks }, name }: EntryProps) {
  const [first = ''] = initial
  if (kind === 'flag') return <input type="checkbox" name={name} value="true" defaultChecked={first === 'true'} />
  if (kind === 'json') return <textarea name={name} rows={2} required={required} defaultValue={first} />
  if (kind !== 'choice') return <input name={name} required={required} defaultValue={first} {...checks} />
  return (
    <select name={name} required={required}>
      {(!required || first === '') && <option value="" />}
      {choices.map(({ json, label }) => (
        <option key={json} value={json} selected={json === first}>
          {label}
        </option>
      ))}
    </select>
  )
}
