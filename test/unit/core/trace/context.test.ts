import { describe, expect, it } from '@jest/globals'
import {
  parseTraceparent,
  sampledTraceIdOf,
  traceContextIn,
  traceHeaders,
  traceIdOf,
} from '../../../../src/core/trace/context.ts'
import { traceparent } from '../../../support/telemetry/traceparent.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const good = `00-${traceId}-${spanId}-01`

describe('traceparent (W3C Trace Context, 3.2)', () => {
  it.each([
    ['sampled by its first process', good, { traceId, spanId, isSampled: true }],
    ['not sampled', `00-${traceId}-${spanId}-00`, { traceId, spanId, isSampled: false }],
    ['sampled, with flags of later versions', `00-${traceId}-${spanId}-03`, { traceId, spanId, isSampled: true }],
    ['only flags of later versions', `00-${traceId}-${spanId}-fe`, { traceId, spanId, isSampled: false }],
    ['a later version', `01-${traceId}-${spanId}-01`, { traceId, spanId, isSampled: true }],
    ['a later version with additional fields', `cc-${traceId}-${spanId}-01-what`, { traceId, spanId, isSampled: true }],
  ])('%s', (_, text, expected) => expect(parseTraceparent(text)).toEqual(expected))

  it.each([
    ['none', undefined],
    ['nothing', ''],
    ['the invalid version ff', `ff-${traceId}-${spanId}-01`],
    ['version 00 with additional fields', `${good}-what`],
    ['a later version without a dash before its additional fields', `01-${traceId}-${spanId}-01what`],
    ['no trace', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['no span', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['capitals', good.toUpperCase()],
    ['a short trace', `00-${traceId.slice(1)}-${spanId}-01`],
    ['no flags', `00-${traceId}-${spanId}`],
    ['no digits', `00-${'g'.repeat(32)}-${spanId}-01`],
    ['two headers, as Node joins them', `${good}, ${good}`],
    ['white space', ` ${good}`],
    ['a line feed after it', `${good}\n`],
  ])('is ignored: %s', (_, text) => expect(parseTraceparent(text)).toBeUndefined())
})

describe('the trace context of headers', () => {
  const other = { baggage: 'user=somebody', b3: `${traceId}-${spanId}-1`, cookie: 'a=b' }

  it.each<[string, Record<string, string | string[]>, object | undefined]>([
    [
      'only traceparent and tracestate',
      { ...other, traceparent: good, tracestate: 'v=1' },
      { traceparent: good, tracestate: 'v=1' },
    ],
    ['without a tracestate', { traceparent: good }, { traceparent: good }],
    ['a tracestate alone is ignored', { ...other, tracestate: 'v=1' }, undefined],
    ['the tracestate of an invalid traceparent is ignored', { traceparent: 'x', tracestate: 'v=1' }, undefined],
    [
      'a tracestate that is too long is removed',
      { traceparent: good, tracestate: `v=${'1'.repeat(511)}` },
      { traceparent: good },
    ],
    [
      'a tracestate of the maximum length',
      { traceparent: good, tracestate: `v=${'1'.repeat(253)}, w@x=${'1'.repeat(251)}` },
      { traceparent: good, tracestate: `v=${'1'.repeat(253)}, w@x=${'1'.repeat(251)}` },
    ],
    [
      'a tracestate with too many members',
      { traceparent: good, tracestate: `v=1${',v=1'.repeat(32)}` },
      { traceparent: good },
    ],
    [
      'a tracestate that is no list of members',
      { traceparent: good, tracestate: 'v=1, any text' },
      { traceparent: good },
    ],
    [
      'a tracestate with an empty member',
      { traceparent: good, tracestate: 'v=1,, w=2' },
      { traceparent: good, tracestate: 'v=1,, w=2' },
    ],
    [
      'a tracestate with spaces and tabs around its members',
      { traceparent: good, tracestate: 'v=1 \t, \t w=2\t,\t' },
      { traceparent: good, tracestate: 'v=1 \t, \t w=2\t,\t' },
    ],
    ['a tracestate with an empty value', { traceparent: good, tracestate: 'v= , w=2' }, { traceparent: good }],
    ['a tracestate with a tab in a value', { traceparent: good, tracestate: 'v=1\t2' }, { traceparent: good }],
    ['a tracestate with empty members only', { traceparent: good, tracestate: ' ,' }, { traceparent: good }],
    ['a tracestate with two values of a member', { traceparent: good, tracestate: 'v=1=2' }, { traceparent: good }],
    ['a tracestate with a line break', { traceparent: good, tracestate: 'v=1\r\nX-Evil: 1' }, { traceparent: good }],
    ['a tracestate beyond ASCII', { traceparent: good, tracestate: 'v=ü' }, { traceparent: good }],
    ['an empty tracestate', { traceparent: good, tracestate: '' }, { traceparent: good }],
    ['a list', { traceparent: [good, good] }, undefined],
    ['of a later version, as version 00', { traceparent: `cc-${traceId}-${spanId}-01-more` }, { traceparent: good }],
    ['none', other, undefined],
  ])('%s', (_, headers, expected) => {
    const context = traceContextIn(headers)
    expect(context).toEqual(expected)
    if (context !== undefined) expect(traceHeaders(context)).toStrictEqual(expected)
  })

  it('has the id that the log shows', () => {
    expect(traceIdOf({ traceparent: good })).toBe(traceId)
    expect(traceIdOf({ traceparent: traceparent('0') })).toBeUndefined()
  })

  it.each([
    ['is sampled', '01', 'a'.repeat(32)],
    ['is sampled, and has flags of later versions', '03', 'a'.repeat(32)],
    ['is not sampled', '00', undefined],
    ['has other flags, but is not sampled', '02', undefined],
  ])('an exemplar has the id of a trace that %s', (_, flags, id) => {
    expect(sampledTraceIdOf({ traceparent: traceparent('a', flags) })).toBe(id)
  })
})
