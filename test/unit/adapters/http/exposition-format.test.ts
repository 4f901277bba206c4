import { describe, expect, it } from '@jest/globals'
import { prefersOpenMetrics } from '../../../../src/adapters/http/ops.ts'

const prometheus2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
const prometheus3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1'

describe('OpenMetrics is for', () => {
  it.each([
    ['Prometheus 2', prometheus2],
    ['Prometheus 3', prometheus3],
    ['whoever asks for nothing else', 'application/openmetrics-text'],
    ['whoever writes it in another way', 'Application/OpenMetrics-Text; version="1.0.0"; q=0.5, text/plain; q=0.4'],
    ['whoever likes both the same', 'text/plain, application/openmetrics-text'],
  ])('%s', (_, accept) => {
    expect(prefersOpenMetrics(accept)).toBe(true)
  })
})

describe('the text format is for', () => {
  it.each([
    ['whoever says nothing', undefined],
    ['whoever says an empty thing', ''],
    ['whoever takes anything', '*/*'],
    ['a browser', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
    [
      'a Prometheus whose scrape_protocols put it first',
      'text/plain;version=0.0.4;q=0.6,application/openmetrics-text;q=0.5',
    ],
    ['whoever refuses OpenMetrics', 'application/openmetrics-text;q=0'],
    ['whoever only reads what came before 1.0', 'application/openmetrics-text;version=0.0.1'],
    ['whoever writes a weight that is none', 'application/openmetrics-text;q=high,*/*'],
  ])('%s', (_, accept) => {
    expect(prefersOpenMetrics(accept)).toBe(false)
  })
})
