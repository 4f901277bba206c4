import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { configFolder } from '../support/config/config-folder.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation } from '../support/process/test-installation.ts'

const closing = closingAfterEach()
const [oldKey, newKey] = ['old-operator-key-1', 'new-operator-key-2']

it('the operator API is only on its own listener, its keys rotate at runtime, and every change is audited', async () => {
  const folder = await configFolder({ 'ada.key': `${oldKey}\n`, 'ada-next.key': `${oldKey}\n` })
  const keyFile = [join(folder, 'ada.key'), join(folder, 'ada-next.key')]
  const installation = closing(
    await startInstallation({
      log: { level: 'error' },
      operator: { listen: '127.0.0.1:0', keys: [{ name: 'ada', role: 'operate', keyFile }] },
    }),
  )
  const service = await installation.run()
  const deleteUser = async (url: string | undefined, key: string): Promise<number> => {
    const response = await fetch(`${url}/v1/regulations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: '{"userIds":["ada"]}',
    })
    await response.text()
    return response.status
  }
  expect(await deleteUser(service.collector, oldKey)).toBe(404)
  expect(await deleteUser(service.operator, oldKey)).toBe(202)

  await writeFile(keyFile[1] as string, newKey)
  const reloads = 'hookline_config_reloads_total{result="applied"}'
  await until(async () => ((await service.metrics()).get(reloads) === 1 ? true : undefined))
  expect(await deleteUser(service.operator, newKey)).toBe(202)
  expect(await deleteUser(service.operator, oldKey)).toBe(202)
  expect(await deleteUser(service.operator, 'neither')).toBe(401)
  expect((await service.metrics()).get('hookline_operator_answers_total{code="invalid_operator_key"}')).toBe(1)

  expect(await service.stop()).toBe(0)
  const lines = (await installation.log()).filter(({ audit }) => audit === true)
  const line = { key: 'ada', role: 'operate', action: 'delete_users', users: 1, result: 'ok', level: 'info' }
  expect(lines).toMatchObject([line, line, line])
})
