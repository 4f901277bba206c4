import { describe, expect, it } from '@jest/globals'
import { prefersOpenMetrics } from '../../../../src/adapters/http/ops-server.ts'

const prometheus2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
const prometheus3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1'

describe('OpenMetrics is for', () => {
  it.each([
    ['Prometheus 2', prometheus2],
    ['Prometheus 3', prometheus3],
    ['a client that accepts only this', 'application/openmetrics-text'],
    ['a client that writes it differently', 'Application/OpenMetrics-Text; version="1.0.0"; q=0.5, text/plain; q=0.4'],
    ['a client that prefers neither', 'text/plain, application/openmetrics-text'],
  ])('%s', (_, accept) => {
    expect(prefersOpenMetrics(accept)).toBe(true)
  })
})

describe('the text format is for', () => {
  it.each([
    ['a client without an Accept header', undefined],
    ['a client with an empty Accept header', ''],
    ['a client that accepts anything', '*/*'],
    ['a browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    [
      'a Prometheus whose scrape_protocols put it first',
      'text/plain;version=0.0.4;q=0.6,application/openmetrics-text;q=0.5',
    ],
    ['a client that refuses OpenMetrics', 'application/openmetrics-text;q=0'],
    ['a client that reads only versions before 1.0', 'application/openmetrics-text;version=0.0.1'],
    ['a client with an invalid quality value', 'application/openmetrics-text;q=high,*/*'],
  ])('%s', (_, accept) => {
    expect(prefersOpenMetrics(accept)).toBe(false)
  })
})
