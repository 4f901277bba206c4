import { idOf, textOf } from '../message/identifiers.ts'
import { isObject, parseField, parseJson } from '../message/json.ts'
import { maxMessageBytes } from '../message/parts.ts'
import type { JsonText } from '../units.ts'
import { type AudienceKind, parseValue } from './directory.ts'

/** What a line of a list of members says. */
export type MemberLine =
  | { readonly kind: 'member'; readonly userId: string; readonly value: JsonText }
  /** A blank line, or the one that names the fields. */
  | { readonly kind: 'nothing' }
  /** Says what is wrong and what to do; begins with the number of the line. */
  | { readonly kind: 'refused'; readonly message: string }

export type ReadMemberLine = (line: string) => MemberLine

const nothing: MemberLine = { kind: 'nothing' }

/**
 * Reads the lines of a list of members, in their order. A line is a JSON object `{"userId", "value"}`, a JSON string or number that is the
 * id, or else the id itself; or all of it is CSV, when the first line has a field `userId`. Values: `parseValue`.
 */
export function createMemberReader(kind: AudienceKind): ReadMemberLine {
  let number = 0
  let csv: CsvColumns | undefined
  const refused = (reason: string): MemberLine => ({ kind: 'refused', message: `line ${number}: ${reason}` })
  const member = (id: string | undefined, given: unknown): MemberLine => {
    if (id === undefined) return refused("it has no user id: give 'userId' as a text or a number")
    const value = parseValue(kind, given)
    return value.kind === 'value'
      ? { kind: 'member', userId: id, value: value.value }
      : refused(`the value of ${shown(id)} ${value.message}`)
  }
  const fromJson = (text: string): MemberLine => {
    const parsed = parseJson(text)
    if (parsed.kind === 'rejected') return refused(parsed.message)
    if (!isObject(parsed.value)) return refused('a list is no member: give one user a line')
    return member(idOf(parsed.value['userId']), parsed.value['value'])
  }
  const fromCsv = (text: string, { userId, value }: CsvColumns): MemberLine => {
    const fields = csvFields(text)
    if (fields === undefined) return refused('a quoted field is not closed, or goes on after its closing quote')
    const given = value === undefined ? undefined : fields[value]
    return member(textOf(fields[userId]), csvValue(kind, given))
  }

  return line => {
    number++
    const text = (number === 1 ? line.replace(/^\ufeff/, '') : line).trim()
    if (text === '') return nothing
    if (number === 1) csv = csvColumns(text)
    if (number === 1 && csv !== undefined) return nothing
    if (Buffer.byteLength(text) > maxMessageBytes) return refused(`it is longer than ${maxMessageBytes} bytes`)
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

/** CSV knows only text. What JSON reads as a number, a list or null is that, also `true` and `false` of an audience. */
function csvValue(kind: AudienceKind, text: string | undefined): unknown {
  if (text === undefined || text === '') return kind === 'audience' ? undefined : null
  const parsed = parseField(text, 'value')
  if (parsed.kind === 'rejected' || (kind === 'trait' && typeof parsed.value === 'boolean')) return text
  return parsed.value
}

/** Undefined: the text is no JSON string. */
function jsonString(text: string): string | undefined {
  if (!text.startsWith('"')) return undefined
  const parsed = parseField(text, 'userId')
  return parsed.kind === 'parsed' && typeof parsed.value === 'string' ? parsed.value : undefined
}

const shown = (id: string): string => JSON.stringify(id.length > 60 ? `${id.slice(0, 60).toWellFormed()}…` : id)

/** The fields of one line of CSV (RFC 4180); undefined: a quoted field does not end in this line, or goes on after its end. */
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
