import { describe, expect, it } from '@jest/globals'
import { type ConfigurationEvidence, judgeConfiguration, markOf, parseMark } from '../configuration-verdict.ts'
import type { Answer, Call } from '../message-ledger.ts'

const call = (id: string, mark: string | undefined, answer: Answer = 200, destination = 'crm'): Call => ({
  ...{ id, destination, process: 'p1', at: 1, answer, mark },
})
const changed: ConfigurationEvidence = {
  ...{ destination: 'crm', calls: [call('a', '1 1'), call('b', '1 2'), call('c', '2 2')], secrets: 2, editions: 2 },
}

interface Case {
  readonly name: string
  readonly evidence: Partial<ConfigurationEvidence>
  readonly measured: RegExp
  readonly failures: readonly RegExp[]
}

const cases: readonly Case[] = [
  {
    name: 'holds when all requests are accepted, with each secret and edition',
    evidence: {},
    measured: /^3 requests, which used 2 secrets and 2 versions of the configuration file\. The endpoint rejected 0$/,
    failures: [],
  },
  {
    name: 'fails a rejected request',
    evidence: { calls: [...changed.calls, call('d', '1 2', 401)] },
    measured: /The endpoint rejected 1$/,
    failures: [/^rejected requests: 1 \(d, signed by 1 2: 401\)$/],
  },
  {
    name: 'fails a secret that no request used',
    evidence: { secrets: 3 },
    measured: /2 secrets/,
    failures: [/^requests used 2 secrets, not 3$/],
  },
  {
    name: 'fails an unknown secret and edition',
    evidence: { calls: [...changed.calls, call('d', undefined)] },
    measured: /3 secrets and 3 versions/,
    failures: [/^requests used 3 secrets, not 2$/, /^requests used 3 versions of the configuration file, not 2$/],
  },
  {
    name: 'ignores other destinations',
    evidence: { calls: [...changed.calls, call('a', '9 9', 401, 'erp')] },
    measured: /^3 requests/,
    failures: [],
  },
]

describe('the verdict on a changed configuration', () => {
  it.each(cases)('$name', ({ evidence, measured, failures }) => {
    const examined = judgeConfiguration({ ...changed, ...evidence })
    expect(examined.measured).toEqual([expect.stringMatching(measured)])
    expect(examined.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })

  it('reads a mark as it was written', () => {
    expect(parseMark(markOf({ secret: 'nobody', edition: '7' }))).toEqual({ secret: 'nobody', edition: '7' })
  })
})
