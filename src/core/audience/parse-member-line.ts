import { idOf, textOf } from '../message/identifiers.ts'
import { isObject, parseField, parseJson } from '../message/json.ts'
import { maxMessageBytes } from '../message/message-parts.ts'
import type { JsonText } from '../units.ts'
import { type AudienceKind, parseValue } from './directory.ts'

/** The content of one line of a member list. */
export type MemberLine =
  | { readonly kind: 'member'; readonly userId: string; readonly value: JsonText }
  /** A blank line, or the CSV header. */
  | { readonly kind: 'nothing' }
  /** `message` starts with the line number and says what is wrong and how to fix it. */
  | { readonly kind: 'refused'; readonly message: string }

export type ReadMemberLine = (line: string) => MemberLine

const nothing: MemberLine = { kind: 'nothing' }

/**
 * Creates a reader for the lines of one member list; call it with each line in order. A line is a
 * JSON object `{"userId", "value"}`, a JSON string or number with the id, or the plain id. The
 * whole list is CSV when its first line has a field `userId`. For the values see `parseValue`.
 */
export function createMemberReader(kind: AudienceKind): ReadMemberLine {
  let number = 0
  let csv: CsvColumns | undefined
  const refused = (reason: string): MemberLine => ({ kind: 'refused', message: `line ${number}: ${reason}` })
  const member = (id: string | undefined, given: unknown): MemberLine => {
    if (id === undefined) return refused("there is no user id: set 'userId' to a string or a number")
    const value = parseValue(kind, given)
    return value.kind === 'value'
      ? { kind: 'member', userId: id, value: value.value }
      : refused(`the value of ${shown(id)} ${value.message}`)
  }
  const fromJson = (text: string): MemberLine => {
    const parsed = parseJson(text)
    if (parsed.kind === 'rejected') return refused(parsed.message)
    if (!isObject(parsed.value)) return refused('a JSON array is not a member: write one user per line')
    return member(idOf(parsed.value['userId']), parsed.value['value'])
  }
  const fromCsv = (text: string, { userId, value }: CsvColumns): MemberLine => {
    const fields = csvFields(text)
    if (fields === undefined) return refused('a quoted field is not closed, or text follows its closing quote')
    const given = value === undefined ? undefined : fields[value]
    return member(textOf(fields[userId]), csvValue(kind, given))
  }

  return line => {
    number++
    const text = (number === 1 ? line.replace(/^\ufeff/, '') : line).trim()
    if (text === '') return nothing
    if (number === 1) csv = csvColumns(text)
    if (number === 1 && csv !== undefined) return nothing
    if (Buffer.byteLength(text) > maxMessageBytes) return refused(`the line is longer than ${maxMessageBytes} bytes`)
    if (csv !== undefined) return fromCsv(text, csv)
    if (text.startsWith('{') || text.startsWith('[')) return fromJson(text)
    return member(textOf(jsonString(text) ?? text), undefined)
  }
}

interface CsvColumns {
  readonly userId: number
  readonly value: number | undefined
}

function csvColumns(line: string): CsvColumns | undefined {
  const names = csvFields(line) ?? []
  const [userId, value] = [names.indexOf('userId'), names.indexOf('value')]
  return userId < 0 ? undefined : { userId, value: value < 0 ? undefined : value }
}

/**
 * Converts a CSV field, which is always text, to a value. A field that is valid JSON for a number,
 * a list or `null` becomes that value, and so do `true` and `false` in an audience.
 */
function csvValue(kind: AudienceKind, text: string | undefined): unknown {
  if (text === undefined || text === '') return kind === 'audience' ? undefined : null
  const parsed = parseField(text, 'value')
  if (parsed.kind === 'rejected' || (kind === 'trait' && typeof parsed.value === 'boolean')) return text
  return parsed.value
}

/** Returns the content of a JSON string, or `undefined` when the text is not a JSON string. */
function jsonString(text: string): string | undefined {
  if (!text.startsWith('"')) return undefined
  const parsed = parseField(text, 'userId')
  return parsed.kind === 'parsed' && typeof parsed.value === 'string' ? parsed.value : undefined
}

const shown = (id: string): string => JSON.stringify(id.length > 60 ? `${id.slice(0, 60).toWellFormed()}…` : id)

/**
 * Splits one line of CSV (RFC 4180). `undefined` when a quoted field is not closed on this line, or
 * when text follows its closing quote.
 */
function csvFields(line: string): readonly string[] | undefined {
  const fields: string[] = []
  let at = 0
  for (;;) {
    const field = line[at] === '"' ? quoted.exec(line.slice(at)) : plain.exec(line.slice(at))
    if (field === null) return undefined
    const [whole, text = ''] = field
    fields.push(line[at] === '"' ? text.replaceAll('""', '"') : text.trim())
    at += whole.length
    if (at === line.length) return fields
    if (line[at] !== ',') return undefined
    at++
  }
}

const quoted = /^"((?:[^"]|"")*)"/
const plain = /^([^,]*)/
