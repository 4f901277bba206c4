import { setTimeout as delay } from 'node:timers/promises'
import type { LinkState } from '../../support/network/tcp-proxy.ts'
import { allPartitions, now, onPartitions } from './recovery-condition.ts'
import type { Fault } from './scenario.ts'

export const impairLink = (state: LinkState, seconds: number): Fault => ({
  name: `link ${state.kind} ${seconds} s`,
  async inject({ proxies }) {
    if (proxies.length === 0) throw new Error('the scenario has no proxies')
    const at = now()
    for (const proxy of proxies) proxy.set(state)
    await delay(seconds * 1_000)
    for (const proxy of proxies) proxy.set({ kind: 'open' })
    return { what: 'every broker', at, recovery: onPartitions(allPartitions, now()) }
  },
})
