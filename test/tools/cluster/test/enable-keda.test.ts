import { expect, it } from '@jest/globals'
import type { Installation, Values } from '../installation.ts'
import { enableKeda } from '../scale-on-lag-scenario.ts'

function installation(isReady: boolean) {
  let values: Values = { config: { destinations: [{ id: 'crm' }] } }
  const on = {
    receiver: { slow() {}, url: (id: string) => `http://127.0.0.1/${id}` },
    async upgrade(change: (before: Values) => Values) {
      const before = values
      values = change(values)
      return before
    },
    rolledOut: async () => {},
    async shell(command: string) {
      if (!isReady && command.includes('wait --for=condition=Ready')) throw new Error('not ready')
      return ''
    },
  } as unknown as Installation
  return { on, isEnabled: () => values['keda'] !== undefined }
}

it('turns KEDA on, and resolves with the values before', async () => {
  const { on, isEnabled } = installation(true)
  expect(await enableKeda(on)).toEqual({ config: { destinations: [{ id: 'crm' }] } })
  expect(isEnabled()).toBe(true)
})

it('turns KEDA off again if the ScaledObject does not become ready', async () => {
  const { on, isEnabled } = installation(false)
  await expect(enableKeda(on)).rejects.toThrow('not ready')
  expect(isEnabled()).toBe(false)
})
