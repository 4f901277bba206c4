import { expect, it } from '@jest/globals'
import { stopCluster } from '../cluster.ts'

it('stops every part in reverse order, also after an error', async () => {
  const stopped: string[] = []
  const part = (name: string) => async () => void stopped.push(name)
  const broken = async () => {
    throw new Error('the node is busy')
  }
  await expect(stopCluster([part('files'), part('network'), broken])).rejects.toThrow('the node is busy')
  expect(stopped).toEqual(['network', 'files'])
})
