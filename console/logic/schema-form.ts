import { isObject, parsed } from './json.ts'

/** Forms for the inputs that agents ask for, from their JSON Schema. */

/** A value that can be chosen, as JSON text. */
export interface Choice {
  json: string
  label: string
}

/** One field of a form. */
export interface Field {
  /** The name of the property. */
  name: string
  label: string
  /** `many`: several of the choices. */
  kind: 'text' | 'number' | 'flag' | 'choice' | 'many' | 'json'
  required: boolean
  /** Of a choice, and of texts that the agent suggests. */
  choices: readonly Choice[]
  /** The choices are suggestions: any text will do. */
  open: boolean
  description?: string
  /** The default: the entries with which the form begins. */
  initial: readonly string[]
  /** The checks of the browser on an entry, by the names of its attributes. */
  checks: Readonly<Record<string, string | number>>
}

type Json = Record<string, unknown>

const KINDS: Readonly<Record<string, Field['kind']>> = {
  string: 'text',
  number: 'number',
  integer: 'number',
  boolean: 'flag',
}

/** The fields of an object's schema. Undefined for a schema that is none, which is answered as JSON. */
export function fieldsOf(schema: unknown): Field[] | undefined {
  const value = typeof schema === 'string' ? parsed(schema) : schema
  if (!isObject(value) || !isObject(value['properties'])) return undefined
  const required = Array.isArray(value['required']) ? value['required'] : []
  return Object.entries(value['properties']).map(([name, property]) =>
    fieldOf(name, isObject(property) ? property : {}, required.includes(name)),
  )
}

function fieldOf(name: string, property: Json, required: boolean): Field {
  const { title, description, type, default: initial } = property
  const many = type === 'array' && isObject(property['items'])
  const given = choicesOf(many ? (property['items'] as Json) : property)
  const choices = given?.choices ?? []
  const kind = given ? (many ? 'many' : 'choice') : (KINDS[String(type)] ?? 'json')
  return {
    name,
    label: typeof title === 'string' && title !== '' ? title : name,
    kind,
    required,
    choices,
    open: given?.open ?? false,
    ...(typeof description === 'string' && { description }),
    initial: initial === undefined ? [] : initialOf(kind, initial),
    checks: kind === 'text' || kind === 'number' ? checksOf(property) : {},
  }
}

function initialOf(kind: Field['kind'], value: unknown): string[] {
  if (kind === 'many') return Array.isArray(value) ? value.map(written) : []
  return [kind === 'choice' ? written(value) : shown(value)]
}

/** The choices of a schema: by `enum`, by constants with titles, or as examples of a text. */
function choicesOf(schema: Json): { choices: Choice[]; open: boolean } | undefined {
  const { enum: values, enumNames, examples } = schema
  if (Array.isArray(values)) {
    const names = Array.isArray(enumNames) ? enumNames : []
    return { choices: values.map((value, at) => choiceOf(value, names[at])), open: false }
  }
  const variants = [schema['oneOf'], schema['anyOf']].find(Array.isArray)
  const constants = (variants ?? []).filter((one): one is Json => isObject(one) && 'const' in one)
  if (constants.length > 0 && constants.length === variants!.length) {
    return { choices: constants.map(({ const: value, title }) => choiceOf(value, title)), open: false }
  }
  if (schema['type'] !== 'string' || !Array.isArray(examples)) return undefined
  return { choices: examples.map((value) => choiceOf(value)), open: true }
}

function choiceOf(value: unknown, title: unknown = shown(value)): Choice {
  return { json: written(value), label: String(title) }
}

/** A value as people read it. */
function shown(value: unknown): string {
  return typeof value === 'string' ? value : written(value)
}

function written(value: unknown): string {
  return JSON.stringify(value)
}

/** The types of entries that browsers have for formats of texts. */
const TYPES: Readonly<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' }

function checksOf(property: Json): Field['checks'] {
  const { format, type } = property
  const named: Readonly<Record<string, unknown>> = {
    minlength: property['minLength'],
    maxlength: property['maxLength'],
    min: property['minimum'],
    max: property['maximum'],
    step: type === 'integer' ? 1 : type === 'number' ? 'any' : undefined,
    type: type === 'string' ? TYPES[String(format)] : 'number',
    // A pattern of a schema may match anywhere, one of a form matches all of the entry.
    pattern: typeof property['pattern'] === 'string' ? `.*(?:${property['pattern']}).*` : undefined,
  }
  const isCheck = (check: [string, unknown]): check is [string, string | number] =>
    typeof check[1] === 'string' || typeof check[1] === 'number'
  return Object.fromEntries(Object.entries(named).filter(isCheck))
}

/** The entries of a form by the names of their fields; of choices as JSON. */
export type Entries = Readonly<Record<string, readonly string[]>>

/** The values of a filled form, or the reason why they are none. Empty fields that may be absent are. */
export function valuesOf(fields: readonly Field[], given: Entries): Json | string {
  const values: [name: string, value: unknown][] = []
  for (const field of fields) {
    const texts = (given[field.name] ?? []).filter((text) => text !== '')
    if (field.kind === 'flag') values.push([field.name, texts.includes('true')])
    else if (texts.length > 0 || field.required) {
      const value = readValue(field, texts)
      if (value === undefined) return `${field.label}: ${EXPECTED[field.kind]}`
      values.push([field.name, value])
    }
  }
  // Any name may be that of a property, `__proto__` too.
  return Object.fromEntries(values)
}

const EXPECTED: Readonly<Record<string, string>> = {
  number: 'write a number',
  choice: 'choose one',
  many: 'choose at least one',
  json: 'write JSON',
}

function readValue({ kind, choices, open }: Field, texts: readonly string[]): unknown {
  const text = texts.at(-1) ?? ''
  if (kind === 'text') return text
  if (kind === 'number') return Number.isNaN(Number(text)) ? undefined : parsed(text)
  if (kind === 'json') return parsed(text)
  const chosen = texts.filter((json) => open || choices.some((choice) => choice.json === json)).map(parsed)
  return kind === 'many' && chosen.length > 0 ? chosen : chosen.at(-1)
}
