import { existsSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type DashboardJson, dashboards } from '../support/dashboards.ts'
import startInfrastructure from '../support/start-infrastructure.ts'
import stopInfrastructure from '../support/stop-infrastructure.ts'
import { photograph } from './browser.ts'
import { startGrafana } from './grafana.ts'
import { startPrometheus } from './prometheus.ts'
import { openScene } from './scene.ts'

/* `npm run pictures`: docs/how-to/monitor.md says what it needs. */

const folder = join(import.meta.dirname, '../../docs/pictures')
/** Pixels: of a picture, of a unit of `gridPos` with the gap below it, and of what stands above the panels. */
const width = 1_600
const unitHeight = 38
const above = 24
/** The part of the load that one process takes alone; then the partitions move. */
const alone = 0.2

interface Request {
  readonly grafanaHome: string
  readonly chromium: string
  /** Of load before the pictures are taken. */
  readonly minutes: number
}

/** GRAFANA_HOME, CHROMIUM and MINUTES out of the environment. @throws Error with what is missing or wrong */
function requested(env = process.env): Request {
  const grafanaHome = env['GRAFANA_HOME'] ?? ''
  const minutes = Number(env['MINUTES'] || 6)
  if (!existsSync(join(grafanaHome, 'bin/grafana')))
    throw new Error('GRAFANA_HOME has to name the folder into which an archive of Grafana was unpacked')
  if (!(minutes > 0)) throw new Error(`MINUTES is ${env['MINUTES']}; it has to be a number above 0`)
  return { grafanaHome, chromium: env['CHROMIUM'] || 'chromium', minutes }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Runs a service through what its dashboards are for, and takes a picture of each of them. */
async function takePictures({ grafanaHome, chromium, minutes }: Request): Promise<void> {
  const ends: (() => Promise<unknown>)[] = [stopInfrastructure]
  try {
    await startInfrastructure()
    const scene = await openScene()
    ends.push(scene.close)
    const prometheus = await startPrometheus()
    ends.push(prometheus.close)
    const grafana = await startGrafana(grafanaHome, prometheus.url)
    ends.push(grafana.close)

    const from = Date.now()
    const seconds = minutes * 60
    say(`Grafana ${grafana.version}; ${minutes} minutes of load`)
    await prometheus.scrape('hookline-0', await scene.join())
    await Promise.all([
      scene.play(seconds),
      pause(seconds * alone * 1_000).then(async () => prometheus.scrape('hookline-1', await scene.join())),
    ])
    await mkdir(folder, { recursive: true })
    const range = new URLSearchParams({ from: String(from), to: String(Date.now()) })
    for (const dashboard of dashboards) {
      const file = join(folder, `${dashboard.uid}.png`)
      const url = `${grafana.url}/d/${dashboard.uid}?kiosk&${range}`
      await photograph({ url, panels: dashboard.panels, file, width, height: heightOf(dashboard) }, chromium)
      say(`${file}: ${Math.round((await stat(file)).size / 1_000)} kB`)
    }
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

const heightOf = ({ panels }: DashboardJson): number =>
  above + unitHeight * Math.max(...panels.map(({ gridPos }) => gridPos.y + gridPos.h))

await takePictures(requested())
