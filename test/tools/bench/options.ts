import { parsePeer } from './forwarders/peer.ts'

export const rowNames = [
  ...[
    'delivery',
    'peers',
    'https',
    'https-latency',
    'memory',
    'live',
    'isolation',
    'start',
    'crash',
    'retries',
    'outage',
    'idle',
    'client',
  ],
  ...['collector', 'audiences', 'destinations', 'destinations-10000', 'destinations-100000', 'operator'],
  ...['resend', 'limits', 'backlog', 'partitions', 'processes'],
] as const
export type RowName = (typeof rowNames)[number]

/** Measured once, whatever the value of RUNS. */
export const rowsWithoutRepetition: readonly RowName[] = [
  'memory',
  'live',
  'start',
  'outage',
  'idle',
  'audiences',
  'destinations-100000',
  'operator',
  'limits',
]
/** Larger backlogs are measured once. */
export const repeatedBacklog = 100_000

export interface Options {
  readonly rows: readonly RowName[]
  readonly transports: readonly string[]
  readonly peers: readonly { readonly name: string; readonly command: string }[]
  readonly runs: number
  readonly scale: number
  readonly backlog: number
  readonly gates: boolean
  readonly profile: boolean
  readonly publishes: boolean
  readonly hasAllTransports: boolean
}

const usualRuns = 3
/** The possible backlogs, in records. The largest one needs 10 GB of disk and half an hour. */
const backlogs = ['10000', '100000', '1000000', '10000000'] as const

/** Reads the variables of `make bench`. @throws RangeError with the permitted values */
export function parseOptions(env: NodeJS.ProcessEnv, knownTransports: readonly string[]): Options {
  const given = (name: string): string | undefined => env[name]?.trim() || undefined
  // One program per line, because a command may contain any other character.
  const peers = (given('PEER') ?? '').split('\n').filter(Boolean).map(parsePeer)
  const rows = rowsOf(given('ROWS'), peers.length > 0)
  const transports = chosen('TRANSPORTS', given('TRANSPORTS'), knownTransports)
  const profile = switched('PROFILE', given('PROFILE'))
  const runs = positive('RUNS', given('RUNS') ?? String(profile ? 1 : usualRuns))
  if (!Number.isInteger(runs)) throw new RangeError(`RUNS must be a whole number, not ${runs}`)
  const scale = positive('SCALE', given('SCALE') ?? '1')
  const publishes = switched('PUBLISH', given('PUBLISH'))
  if (publishes && (profile || scale !== 1)) throw new RangeError('PUBLISH needs full runs: remove SCALE and PROFILE')
  if (publishes && given('ROWS') === undefined && peers.length === 0)
    throw new RangeError(
      'PUBLISH of all rows needs PEER, or the old row peers would stay: set PEER, or name rows in ROWS',
    )
  return {
    rows,
    transports,
    peers,
    runs,
    scale,
    backlog: Number(oneOf('BACKLOG', given('BACKLOG') ?? '1000000', backlogs)),
    // Profiling slows a process down.
    gates: !profile && oneOf('GATES', given('GATES') ?? 'on', ['on', 'off']) === 'on',
    profile,
    publishes,
    hasAllTransports: transports.length === knownTransports.length,
  }
}

/** Default: all rows, but `peers` only if PEER names other programs. */
function rowsOf(text: string | undefined, hasPeers: boolean): readonly RowName[] {
  if (text === undefined) return rowNames.filter(name => hasPeers || name !== 'peers')
  const rows = chosen('ROWS', text, rowNames)
  if (rows.includes('peers') && !hasPeers)
    throw new RangeError("ROWS: peers needs other programs to compare with: PEER='name=command …'")
  return rows
}

function chosen<Name extends string>(
  variable: string,
  text: string | undefined,
  known: readonly Name[],
): readonly Name[] {
  if (text === undefined) return known
  const asked = text.split(',').map(each => each.trim())
  return asked.map(name => oneOf(variable, name, known))
}

const switched = (variable: string, text = '0'): boolean => oneOf(variable, text, ['0', '1']) === '1'

function oneOf<Name extends string>(variable: string, text: string, known: readonly Name[]): Name {
  const found = known.find(name => name === text)
  if (found === undefined) throw new RangeError(`${variable} must be one of ${known.join(', ')}, not '${text}'`)
  return found
}

function positive(variable: string, text: string): number {
  const number = Number(text)
  if (!(number > 0 && number < Number.POSITIVE_INFINITY))
    throw new RangeError(`${variable} must be a number above 0, not ${text}`)
  return number
}
