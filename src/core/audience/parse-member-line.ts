import { canonicalJson } from '../message/canonical-json.ts'
import type { JsonText } from '../message/canonical-json-text.ts'
import { isObject } from '../message/json.ts'
import { idOf, textOf } from '../message/message-ids-and-required-identifiers.ts'
import { maxMessageBytes } from '../message/message-size-limits.ts'
import { parseField, parseMessageText } from '../message/parse-message-json.ts'
import { type AudienceKind, absentValue } from './configured-audiences.ts'

/** The content of one line of a member list. */
export type MemberLine =
  | { readonly kind: 'member'; readonly userId: string; readonly value: JsonText }
  /** A blank line, or the CSV header. */
  | { readonly kind: 'nothing' }
  /** The message starts with the line number. It has no user id, because it is logged. */
  | { readonly kind: 'refused'; readonly message: string }

/** Reads one line of a member list. `line` is `undefined` when the line is not UTF-8 text. */
export type ReadMemberLine = (line: string | undefined) => MemberLine

const nothing: MemberLine = { kind: 'nothing' }

/**
 * Reads the lines of one member list in order. The list is CSV if its first line that is not blank
 * has a field `userId`.
 */
export function createMemberReader(kind: AudienceKind): ReadMemberLine {
  let number = 0
  /** Whether an earlier line was not blank. */
  let hasBegun = false
  let csv: CsvColumns | undefined
  const refused = (reason: string): MemberLine => ({ kind: 'refused', message: `line ${number}: ${reason}` })
  const member = (id: string | undefined, given: unknown): MemberLine => {
    if (id === undefined) return refused("there is no user id: set 'userId' to a string or a number")
    const value = parseValue(kind, given)
    return value.kind === 'value'
      ? { kind: 'member', userId: id, value: value.value }
      : refused(`the value ${value.message}`)
  }
  const header = ({ value, otherValue }: CsvColumns): MemberLine => {
    if (otherValue !== undefined) return refused(misspelledValueColumn(otherValue))
    return kind === 'trait' && value === undefined ? refused(noValueColumn) : nothing
  }
  const fromJson = (text: string): MemberLine => {
    const parsed = parseMessageText(text)
    if (parsed.kind === 'rejected') return refused(parsed.message)
    if (!isObject(parsed.value)) return refused('a JSON array is not a member: write one user per line')
    const { userId, value } = parsed.value
    if (value === undefined && Object.keys(parsed.value).some(isMisspelledValue)) return refused(misspelledValueKey)
    return member(idOf(userId), value)
  }
  const fromCsv = (text: string, { userId, value, count }: CsvColumns): MemberLine => {
    const fields = csvFields(text)
    if (fields === undefined)
      return refused('a quoted field is not closed on this line, or text follows its closing quote')
    if (fields.slice(count).some(field => field !== '')) return refused(tooManyFields)
    const given = value === undefined ? undefined : fields[value]
    return member(textOf(fields[userId]), csvValue(kind, given))
  }

  return line => {
    number++
    if (line === undefined) return refused(notUtf8)
    const text = (number === 1 ? line.replace(/^\ufeff/, '') : line).trim()
    // Measures `line`, not `text`: the caller cuts long lines after `maxMessageBytes` + 1 bytes.
    // `trim` can remove spaces at the cut, and the line would then seem short enough.
    const isTooLong = Buffer.byteLength(line) > maxMessageBytes
    if (text === '' && !isTooLong) return nothing
    if (text.includes('\r')) return refused(carriageReturn)
    const isJson = text.startsWith('{') || text.startsWith('[')
    const mayBeHeader = !hasBegun && !isJson
    hasBegun = true
    if (isTooLong) return refused(`the line is longer than ${maxMessageBytes} bytes`)
    if (mayBeHeader) csv = csvColumns(text)
    if (mayBeHeader && isSeparatorLine(text)) return refused(separatorLine)
    if (mayBeHeader && csv === undefined && hasColumnOfIds(text)) return refused(otherHeader)
    if (mayBeHeader && csv !== undefined) return header(csv)
    if (csv !== undefined) return fromCsv(text, csv)
    if (isJson) return fromJson(text)
    const quotedId = jsonString(text)
    if (quotedId === undefined && isLateHeader(text)) return refused(lateHeader)
    return member(textOf(quotedId ?? text), undefined)
  }
}

const notUtf8 = 'the line is not UTF-8 text: export the list as UTF-8, or convert it, for example with iconv'

const carriageReturn =
  'the line has a carriage return between other characters: end each line of the list with a line feed (LF), or with CR and LF'

const separatorLine =
  "the line 'sep=' is only for Excel and is not a user: remove it, so that the list begins with the names of the columns, separated by commas"

const lateHeader =
  'the line seems to name the columns of a CSV list, but is not the first line of the list: remove the lines before it'

const otherHeader =
  "the line seems to name the columns of a CSV list, but no column has the name 'userId': give this name to the column with the user ids, and separate columns with commas"

const tooManyFields = 'the line has more fields than the header: put each field that contains a comma in double quotes'

const noValueColumn =
  "a computed trait needs a value for each user, but the CSV list has no column 'value': add this column (an empty value removes the trait)"

const isMisspelledValue = (name: string): boolean => name !== 'value' && name.trim().toLowerCase() === 'value'

const misspelledValueKey = "a key is misspelt: write 'value' in lower case and without spaces"

const misspelledValueColumn = (name: string): string =>
  `the CSV list has a column '${name}', but no column 'value': if the column has the values, rename it to 'value'; if it has other data, give it another name`

interface CsvColumns {
  /** The number of columns. */
  readonly count: number
  readonly userId: number
  readonly value: number | undefined
  /** The name of a column that is probably meant to be `value`, for example `Value`. */
  readonly otherValue: string | undefined
}

function csvColumns(line: string): CsvColumns | undefined {
  const names = csvFields(line) ?? []
  const [userId, value] = [names.indexOf('userId'), names.indexOf('value')]
  if (userId < 0) return undefined
  const otherValue = names.find(isMisspelledValue)
  return {
    ...{ count: names.length, userId, value: value < 0 ? undefined : value },
    otherValue: value < 0 ? otherValue : undefined,
  }
}

/**
 * Whether a line is the header of an unknown format. Without this check, all lines would be read as
 * user ids, and a full sync would remove all real members.
 */
const hasColumnOfIds = (line: string): boolean =>
  line.split(/[,;\t]/).some(name => /^(user[ _-]?)?id$/i.test(name.replaceAll('"', '').trim()))

/** Whether the line names the separator of the fields for Excel, for example `sep=,`. */
const isSeparatorLine = (line: string): boolean => /^"?sep=[^\p{L}\p{N}]?"?$/iu.test(line)

/**
 * Whether a line after the first one looks like the header of a CSV list. A column `id` is not
 * enough: a user id may have a comma and end with `ID`, for example `acme,ID`.
 */
const isLateHeader = (line: string): boolean =>
  /[,;\t]/.test(line) && /(^|[,;\t])[ "]*user[ _-]?id[ "]*([,;\t]|$)/i.test(line)

/**
 * Returns the value of a CSV field, parsed if it is valid JSON. Two kinds of JSON values stay text:
 * `true` and `false` in a computed trait, and whole numbers that would lose digits.
 */
function csvValue(kind: AudienceKind, text: string | undefined): unknown {
  if (text === undefined) return undefined
  if (text === '') return kind === 'audience' ? undefined : null
  const parsed = parseField(text, 'value')
  if (parsed.kind === 'rejected' || (kind === 'trait' && typeof parsed.value === 'boolean')) return text
  return typeof parsed.value === 'number' && /^-?\d+$/.test(text) && !Number.isSafeInteger(parsed.value)
    ? text
    : parsed.value
}

function jsonString(text: string): string | undefined {
  if (!text.startsWith('"')) return undefined
  const parsed = parseField(text, 'userId')
  return parsed.kind === 'parsed' && typeof parsed.value === 'string' ? parsed.value : undefined
}

/**
 * Splits a line of CSV (RFC 4180). `undefined` if a quote is not closed, or text follows a closing
 * quote.
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

type ValueResult =
  | { readonly kind: 'value'; readonly value: JsonText }
  /** `message` continues a sentence that starts with `the value`. */
  | { readonly kind: 'refused'; readonly message: string }

/**
 * Parses a user's value to canonical JSON, so that equal values have equal texts. `null` becomes
 * the absent value.
 */
export function parseValue(kind: AudienceKind, given: unknown): ValueResult {
  if (given === null) return acceptedValue(absentValue(kind))
  if (kind === 'audience') {
    if (given === undefined) return acceptedValue('true' as JsonText)
    return typeof given === 'boolean' ? acceptedValue(String(given) as JsonText) : refusedValue('must be true or false')
  }
  if (given === undefined) return refusedValue('is missing: a computed trait needs a value for each user')
  if (!isScalar(given) && !(Array.isArray(given) && given.every(isScalar)))
    return refusedValue('must be a number, a string, a list of numbers and strings, or null')
  const canonical = canonicalJson(given)
  return canonical.kind === 'canonical'
    ? acceptedValue(canonical.text)
    : refusedValue('contains a number beyond ±1.8e308: send a string instead')
}

const isScalar = (value: unknown): boolean => typeof value === 'number' || typeof value === 'string'
const acceptedValue = (value: JsonText): ValueResult => ({ kind: 'value', value })
const refusedValue = (message: string): ValueResult => ({ kind: 'refused', message })
