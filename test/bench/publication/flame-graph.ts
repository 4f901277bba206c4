import { type Frame, type Kind, timeOf } from '../stacks.ts'
import { box, document, round, spoken, text } from './svg-elements.ts'

/* Own code: the packages for it draw into a browser's page, are played with by script, or do not read what V8 writes today. */

/** A frame in its place; both as shares of all time, 0 to 1. */
export interface Placed {
  readonly frame: Frame
  /** How many have called it. */
  readonly level: number
  readonly from: number
  readonly share: number
}

const kinds: Readonly<Record<Kind, { readonly meaning: string; readonly fill: string }>> = {
  own: { meaning: 'this project', fill: '#6cc3a0' },
  http: { meaning: 'undici, got', fill: '#f4a968' },
  kafka: { meaning: 'kafkajs', fill: '#f3d55b' },
  packages: { meaning: 'other packages', fill: '#c9b6e4' },
  node: { meaning: 'Node', fill: '#9ec5e8' },
  native: { meaning: 'native code', fill: '#ccd2da' },
  garbage: { meaning: 'garbage collector', fill: '#ef8a84' },
}
const style =
  'g text{font:11px monospace}g rect{stroke:#fff;stroke-width:.5}' +
  Object.entries(kinds)
    .map(([kind, { fill }]) => `.${kind}{fill:${fill}}`)
    .join('')

const margin = 12
const width = 1_000
const line = 16
/** Above it stand the title, the circumstances and the legend. */
const top = 112
/** Of the frames' labels, and of the legend. */
const [letter, legendLetter] = [6.63, 6.4]
const fewestLetters = 4
/** What is narrower cannot be seen. */
const narrowest = 0.001
/** They take about 110 KB. */
const most = 600

/** Stacks as an SVG that needs no script: as wide as the time that was spent in a function and in what it called, which stands on it. */
export function flameGraph(title: string, circumstances: string, stacks: readonly Frame[]): string {
  const all = timeOf(stacks)
  const placed = laidOut(stacks, { narrowest, most })
  const levels = Math.max(0, ...placed.map(({ level }) => level + 1))
  const bottom = top + levels * line
  const heading = `${title}: ${Math.round(all / 1_000).toLocaleString('en-US')} ms of CPU`
  return document(heading, { width, height: bottom + margin, style }, [
    // When, of what and how often; then where.
    ...circumstances.split(/; (.*)/, 2).map((words, index) => text(margin, 46 + index * line, words)),
    ...legendOf(stacks),
    ...placed.map(each => frameAt(each, bottom - (each.level + 1) * line, all)),
  ])
}

/** `delivery: hookline undici, 20 ms` → `delivery-hookline-undici-20-ms.svg` */
export const fileNameOf = (title: string): string => `${title.toLowerCase().replaceAll(/[^a-z\d.]+/g, '-')}.svg`

/** Where each frame is drawn: what is called stands on its caller. No more than `most`, the widest, and none narrower than `narrowest`. */
export function laidOut(
  stacks: readonly Frame[],
  limits: { readonly narrowest: number; readonly most: number },
): readonly Placed[] {
  const all = timeOf(stacks)
  const placed: Placed[] = []
  const put = (frames: readonly Frame[], level: number, begin: number): void => {
    let from = begin
    for (const frame of frames) {
      placed.push({ frame, level, from: from / all, share: frame.totalUs / all })
      put(frame.called, level + 1, from)
      from += frame.totalUs
    }
  }
  put(stacks, 0, 0)
  // Nothing hangs in the air: a caller is never narrower than what it calls, and comes first among equals.
  return placed
    .filter(({ share }) => share >= limits.narrowest)
    .sort((a, b) => b.share - a.share)
    .slice(0, limits.most)
}

function frameAt({ frame, from, share }: Placed, y: number, all: number): string {
  const { label, kind, selfUs, totalUs } = frame
  const [x, wide] = [margin + from * (width - 2 * margin), share * (width - 2 * margin)]
  const words = `${label}: ${percent(share)}, ${Math.round(totalUs / 1_000)} ms; itself ${percent(selfUs / all)}`
  const fits = Math.floor((wide - 4) / letter)
  return [
    `<g>${spoken(words)}`,
    `<rect class="${kind}" x="${round(x)}" y="${y}" width="${round(wide)}" height="${line}"/>`,
    ...(fits < fewestLetters ? [] : [text(x + 3, y + 12, fitted(label, fits))]),
    '</g>',
  ].join('')
}

/** A function without a name is told by its file. */
function fitted(label: string, letters: number): string {
  if (label.length <= letters) return label
  const short = label.replace(/^\(anonymous\) (.*\/)?(?=.)/, '')
  return short.length <= letters ? short : `${short.slice(0, letters - 1)}…`
}

/** What each colour is, with the time in such functions themselves. */
function legendOf(stacks: readonly Frame[]): readonly string[] {
  const all = Math.max(1, timeOf(stacks))
  const times = timesByKind(stacks)
  let x = margin
  return (Object.keys(kinds) as Kind[]).flatMap(kind => {
    const words = `${kinds[kind].meaning} ${percent((times.get(kind) ?? 0) / all)}`
    const drawn = [box(x, top - 28, 12, 12, kinds[kind].fill), text(x + 17, top - 18, words)]
    x += words.length * legendLetter + 30
    return drawn
  })
}

function timesByKind(stacks: readonly Frame[]): ReadonlyMap<Kind, number> {
  const times = new Map<Kind, number>()
  const count = ({ kind, selfUs, called }: Frame): void => {
    times.set(kind, (times.get(kind) ?? 0) + selfUs)
    called.forEach(count)
  }
  stacks.forEach(count)
  return times
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
