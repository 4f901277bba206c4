import { EventEmitter, once } from 'node:events'
import { expect, it } from '@jest/globals'
import type { Fleet, Member } from '../fleet.ts'
import { startKubelet } from '../kubelet.ts'

const probes = { periodMs: 1, failureThreshold: 3, timeoutMs: 1_000 }

/** The process that replaces `p1` after a restart is `p2`. */
function fleetOf(livez: (name: string) => number, readyz = () => 200) {
  const events = new EventEmitter()
  const asked = new Map<string, number>()
  const member = (name: string): Member => ({
    name,
    service: {
      ask: async (path: string) => {
        const status = path === '/livez' ? livez(name) : readyz()
        if (path === '/livez') events.emit(`${name} ${count(name)}`)
        return { status, text: status === 200 ? 'ok' : 'stalled\n' }
      },
    } as Member['service'],
  })
  const count = (name: string): number => {
    asked.set(name, (asked.get(name) ?? 0) + 1)
    return asked.get(name) ?? 0
  }
  let members = [member('p1')]
  const fleet = {
    members: () => members,
    async stop(stopped: Member) {
      members = members.filter(each => each !== stopped)
      return 0
    },
    async start() {
      members = [...members, member('p2')]
      return members.at(-1)
    },
  } as unknown as Fleet
  return { fleet, seen: (name: string, times: number) => once(events, `${name} ${times}`), asked }
}

it('restarts a process that fails its liveness probe three times in a row, and reports the answer', async () => {
  const { fleet, seen, asked } = fleetOf(name => (name === 'p1' ? 503 : 200))
  const kubelet = startKubelet([fleet], probes)
  await seen('p2', 4)
  expect((await kubelet.stop()).restarts).toEqual(['p1: 503 stalled'])
  expect(asked.get('p1')).toBe(3)
})

it('does not restart a process that recovers between two failures', async () => {
  let asked = 0
  const { fleet, seen } = fleetOf(() => (++asked % 3 === 0 ? 200 : 503))
  const kubelet = startKubelet([fleet], probes)
  await seen('p1', 12)
  expect((await kubelet.stop()).restarts).toEqual([])
})

it('names a process that is not ready at the end, and none that became ready again', async () => {
  let status = 503
  const { fleet, seen } = fleetOf(
    () => 200,
    () => status,
  )
  const whileUnready = startKubelet([fleet], probes)
  await seen('p1', 2)
  expect((await whileUnready.stop()).unready).toEqual(['p1: 503 stalled'])
  status = 200
  expect((await startKubelet([fleet], probes).stop()).unready).toEqual([])
})
