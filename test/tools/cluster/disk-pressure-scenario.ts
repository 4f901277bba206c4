import type { Installation } from './installation.ts'
import type { Done, Scenario } from './run-scenario.ts'
import { latestMs, podsOf, seconds, until } from './scenario-steps.ts'

const namespace = 'greedy'
/** Writes until 95 % of the disk is used. The kubelet's limit is 90 %. */
const program = [
  `const fs = require('node:fs'), chunk = Buffer.alloc(4 << 20, 1)`,
  `const isFull = ({ bavail, blocks }) => bavail < 0.05 * blocks`,
  `setInterval(() => isFull(fs.statfsSync('/data')) || fs.appendFileSync('/data/file', chunk), 100)`,
].join('; ')

const greedyPod = (image: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'greedy', namespace },
  spec: {
    restartPolicy: 'Never',
    containers: [
      {
        ...{ name: 'greedy', image, command: ['/nodejs/bin/node', '-e', program] },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
    volumes: [{ name: 'data', emptyDir: {} }],
  },
})

/**
 * Lets a pod of another application fill the disk of all pod volumes. The kubelet evicts pods, but
 * must not evict one of Hookline.
 */
async function fillDisk(on: Installation): Promise<Done> {
  const { shell } = on
  const names = async (): Promise<string> =>
    (await on.pods())
      .map(({ name }) => name)
      .toSorted()
      .join()
  const before = await names()
  const [{ name }] = await podsOf(on, 'dispatcher')
  const image = await shell(
    `kubectl --namespace hookline get pod ${name} --output jsonpath='{.spec.containers[0].image}'`,
  )
  await shell(`kubectl create namespace ${namespace}`)
  try {
    await shell(`kubectl apply --filename - <<'END'\n${JSON.stringify(greedyPod(image))}\nEND`)
    const pressed = await until('the node reports DiskPressure', () => hasDiskPressure(on))
    const reason = `kubectl --namespace ${namespace} get pod greedy --output jsonpath='{.status.reason}'`
    await until('the kubelet evicts the greedy pod', async () => (await shell(reason)) === 'Evicted')
    const recovered = await until('the node reports no DiskPressure', async () => !(await hasDiskPressure(on)))
    const failures = before === (await names()) ? [] : ['pods of Hookline were replaced']
    return {
      measured: [`DiskPressure after ${seconds(pressed)}; it ended ${seconds(recovered)} after the eviction`],
      failures,
    }
  } finally {
    await shell(`kubectl delete namespace ${namespace}`)
  }
}

async function hasDiskPressure({ shell }: Installation): Promise<boolean> {
  const path = `{.status.conditions[?(@.type=="DiskPressure")].status}`
  return (await shell(`kubectl get node node --output jsonpath='${path}'`)) === 'True'
}

export const nodePressureScenario: Scenario = {
  name: 'node-pressure',
  shows:
    'a pod of another application fills the disk of the node; the kubelet reports DiskPressure and evicts that pod',
  limits: { restarts: 0, refused: 0, latestMs },
  inject: fillDisk,
}
