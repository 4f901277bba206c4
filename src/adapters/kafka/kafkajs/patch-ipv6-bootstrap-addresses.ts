import { internal, replaceInternal } from './private-api.ts'

interface PoolBuilder {
  /** Without `place`, connects to the next bootstrap broker. */
  build(place?: { readonly host: string; readonly port: number }): Promise<unknown>
}

const builderFile = 'cluster/connectionPoolBuilder'

/**
 * Defect: kafkajs splits a bootstrap broker at each colon (cluster/connectionPoolBuilder.js:95), so
 * it cannot connect to an IPv6 address such as `[::1]:9092`.
 * Patch: splits at the last colon, and removes the brackets.
 * Remove when: kafkajs accepts IPv6 addresses in brackets.
 */
export function patchIpv6BootstrapAddresses(): void {
  const original = internal<(options: { readonly brokers: readonly string[] }) => PoolBuilder>(builderFile)
  replaceInternal<typeof original>(builderFile, options => {
    const builder = original(options)
    const { brokers } = options
    let turn = 0
    return {
      build(place) {
        if (place !== undefined) return builder.build(place)
        const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(brokers[turn++ % brokers.length] ?? '') ?? []
        return builder.build({ host, port: Number(port) })
      },
    }
  })
}
