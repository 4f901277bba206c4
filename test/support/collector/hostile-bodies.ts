import type { Chance } from '../../tools/chaos/seeded-random.ts'

/** Creates a body of about `size` characters that costs the parser much more than the client. */
export type HostileBody = (size: number, chance: Chance) => string | Buffer

const filled = (size: number, unit: string): string => unit.repeat(Math.max(1, Math.floor(size / unit.length)))
const numbered = (size: number, unit: (index: number) => string): string =>
  Array.from({ length: Math.max(1, Math.floor(size / unit(10_000).length)) }, (_, index) => unit(index)).join('')

const units = [
  ...['{},', '[],', '1,', '"",', '{"":0},', '{"a":[]},', '[[]],', '1e5,', '-0.0,', 'null,', '"\\ud800",'],
  '{"__proto__":{}},',
]
const ids = ['1', '12345678901234567890', '1e400', '-0.0', '"u"']

const message = (inner: string, id = '"u"'): string => `{"type":"track","userId":${id},"event":"e",${inner}}`

/** A batch of at most `size` characters: copies of the message `each`, after the text `beside`. */
const batchOf = (size: number, each: string, beside = ''): string => {
  const count = Math.max(1, Math.floor((size - beside.length) / (each.length + 1)))
  return `{${beside}"batch":[${Array(count).fill(each).join()}]}`
}

const tree = (size: number, chance: Chance): string => `[${filled(size, chance.pick(units))}0]`

/** Hostile bodies by name. The name appears in failures. */
export const hostileBodies: Readonly<Record<string, HostileBody>> = {
  'a tree beside a numeric id': (size, chance) => message(`"x":${tree(size, chance)}`, chance.pick(ids)),
  'a batch with one tree beside a numeric id': (size, chance) =>
    batchOf(size, message(`"x":${tree(size - 80, chance)}`, '1')),
  'a batch of trees at the limit of a message': (size, chance) =>
    batchOf(size, message(`"properties":{"a":${tree(32_600, chance)}}`, chance.pick(ids))),
  'a batch of trees at the limit of a text': (size, chance) =>
    batchOf(size, message(`"x":${tree(261_000, chance)}`, '1')),
  'a batch of trees that are no JSON': (size, chance) =>
    batchOf(size, message(`"x":[${tree(30_000, chance)}NaN]`, '1')),
  'elements of nothing': (size, chance) => `[${filled(size, chance.pick(units))}0]`,
  'elements of nothing without an end': (size, chance) => `{"batch":[${filled(size, chance.pick(units))}`,
  'brackets that only open': (size, chance) =>
    filled(size, chance.pick(['[', '{"a":', '[{"a":', '[[],', '{"batch":['])),
  'brackets that only open, in a batch': (size, chance) =>
    `{"batch":[${filled(size, chance.pick(['[', '{"a":', '[{', '[}']))}`,
  'brackets that close as many': (size, chance) =>
    `{"batch":[${'['.repeat(size / 2)}${chance.pick([']', '}']).repeat(size / 2)}]}`,
  'brackets that only close': (size, chance) => `[${filled(size, chance.pick([']', '}', '}]', ',}']))}`,
  'names that are all different': size =>
    `{"userId":1,${numbered(size, index => `"${index.toString(36)}":1,`)}"type":"page"}`,
  'names that are numbers': size =>
    `{"userId":1,${numbered(size, index => `"${(index * 7_919) % 1_000_003}":{},`)}"type":"page"}`,
  'one name again and again': (size, chance) =>
    `{${filled(size, chance.pick(['"batch":[1],', '"writeKey":{},', '"a":1,', '"userId":1,', '"__proto__":{},']))}"type":"page"}`,
  'names with escapes': size => `{${filled(size, '"writeK\\u0065y":[],')}"b\\u0061tch":[1]}`,
  'messages of different names': size =>
    batchOf(size, message(`"properties":{${numbered(30_000, index => `"${index.toString(36)}":1,`)}"z":1}`)),
  'one long string': (size, chance) =>
    `{"type":"page","userId":"${filled(size, chance.pick(['a', '\\\\', '\\"', '\\u0061', 'é', '😀', '\\ud800']))}"}`,
  'a string without an end': (size, chance) =>
    `{"type":"page","userId":"${filled(size, chance.pick(['a', '\\\\', '\\"', '","']))}`,
  'one long number': (size, chance) => `{"type":"page","userId":${filled(size, chance.pick(['1', '0', '1e', '-']))}}`,
  'white space': (size, chance) =>
    `${filled(size / 2, chance.pick([' ', '\n', '\t\r']))}{"type":"page","userId":1${filled(size / 2, ' ')}}`,
  'messages that are all broken': (size, chance) =>
    batchOf(Math.min(size, 300_000), chance.pick(['NaN', '{"a":NaN}', '{,}', '"\\x"', '{"userId":1,}'])),
  'more messages than are taken': size => batchOf(Math.min(size, 250_000), '{"type":"page","userId":1}'),
  'a context for every message': (size, chance) =>
    batchOf(
      Math.min(size, 60_000) + 32_000,
      '{"type":"page","userId":1,"context":{"b":1}}',
      `"context":{"a":${tree(32_000, chance)}},`,
    ),
  'a context of many names for every message': size =>
    batchOf(
      Math.min(size, 60_000) + 30_000,
      '{"type":"page","userId":1,"context":{"b":1}}',
      `"context":{${numbered(30_000, index => `"${index.toString(36)}":1,`)}"z":1},`,
    ),
  'what stands beside the list is a tree': (size, chance) =>
    `{"${chance.pick(['context', 'integrations', 'sentAt', 'writeKey', 'x', 'type'])}":${tree(size, chance)},"batch":[{"type":"page","userId":1}]}`,
  'bytes that are no UTF-8': (size, chance) => {
    const bytes = Buffer.from(message(`"x":"${filled(size, 'a中')}"`, '1'))
    const bad = chance.pick([0xff, 0xc0, 0xed, 0xf8, 0x80])
    for (let at = 60; at < bytes.length; at += chance.pick([1, 2, 7, 100])) bytes[at] = bad
    return bytes
  },
  noise: (size, chance) => Buffer.from(Array.from({ length: Math.min(size, 100_000) }, () => chance.between(0, 255))),
}
