import { describe, expect, it } from '@jest/globals'
import { secretKeys } from '../../../deploy/tools/chart/secret-configuration-keys.ts'
import { rendered } from '../../support/deploy/manifests/renderings.ts'

/*
 * The chart must reject secrets as text in the value `config`, because it writes this value into a
 * ConfigMap.
 */

const text = 'secret-as-text'
const destination = (keys: object): object => ({
  destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: 'https://crm.example.com/hooks' }], ...keys }],
})
const operatorWith = (key: unknown): object => ({ operator: { keys: [{ name: 'ada', role: 'operate', key }] } })
const oauth2With = (clientSecret: unknown): object =>
  destination({ auth: { oauth2: { tokenUrl: 'https://a.example.com', clientId: 'ada', clientSecret } } })

/** Each row: the path of a secret, and a configuration with this secret. */
const rows: readonly [string, (value: unknown) => object][] = [
  ['config.kafka.sasl.password', password => ({ kafka: { sasl: { mechanism: 'plain', username: 'ada', password } } })],
  ['config.registry.password', password => ({ registry: { username: 'ada', password } })],
  ['config.collector.operatorKey', operatorKey => ({ collector: { operatorKey } })],
  ['config.operator.keys[0].key', operatorWith],
  ['config.sources[0].writeKey', writeKey => ({ sources: [{ id: 'web', writeKey }] })],
  ['config.destinations[0].sharedSecret', sharedSecret => destination({ sharedSecret })],
  ['config.destinations[0].signingKey', signingKey => destination({ signingKey })],
  ['config.destinations[0].auth.oauth2.clientSecret', oauth2With],
  ['config.destinations[0].tls.clientKey', clientKey => destination({ tls: { clientCert: 'public', clientKey } })],
]

/** `undefined` when the chart renders. */
const errorWith = (config: object): Promise<string | undefined> =>
  rendered({ config }).then(
    () => undefined,
    error => String(error),
  )

describe('a secret as text', () => {
  it.each(rows)('%s is rejected, and the error names the key for a file', async (key, configWith) => {
    const error = await errorWith(configWith(text))
    expect(error).toContain(`${key} is a secret`)
    expect(error).toContain(`${key}File`)
    expect(error).not.toContain(text)
  })

  it.each(rows)('%s may be an environment variable', async (_, configWith) => {
    expect(await errorWith(configWith(`\${NAME}`))).toBeUndefined()
  })

  it.each([
    ['in a list', [`\${NAME}`, text]],
    ['as the default of a variable', `\${NAME:-${text}}`],
    ['beside a variable', `${text}\${NAME}`],
    ['with an escaped variable', `$\${NAME}`],
  ])('is rejected %s', async (_, key) => {
    expect(await errorWith(operatorWith(key))).toContain('config.operator.keys[0].key is a secret')
  })

  it('may be the value of a header, which the chart does not know', async () => {
    const webhooks = [{ url: 'https://crm.example.com/hooks', headers: { password: text, key: text } }]
    expect(await errorWith(destination({ webhooks }))).toBeUndefined()
  })

  it('has a row for each key of the configuration that is a secret', () => {
    expect(rows.map(([key]) => key.replace(/^config\./, '').replaceAll(/\[\d+\]/g, '')).toSorted()).toEqual(
      secretKeys.toSorted(),
    )
  })
})
