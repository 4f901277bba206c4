import { parsePeer } from './forwarders/peer.ts'

export const rowNames = [
  'delivery',
  'peers',
  'memory',
  'live',
  'isolation',
  'start',
  'crash',
  'retries',
  'outage',
  'idle',
  'client',
  'collector',
  'audiences',
  'destinations',
  'backlog',
  'partitions',
  'processes',
] as const
export type RowName = (typeof rowNames)[number]

export interface Options {
  readonly rows: readonly RowName[]
  readonly transports: readonly string[]
  readonly peers: readonly { readonly name: string; readonly command: string }[]
  readonly runs: number
  readonly scale: number
  /** Records of the largest backlog. */
  readonly backlog: number
  /** Whether a must that does not hold fails the run. */
  readonly gates: boolean
  readonly profile: boolean
  /** Whether what is measured takes the place of what the documentation has of these rows. */
  readonly publishes: boolean
  /** Whether no transport is left out. */
  readonly hasAllTransports: boolean
}

const usualRuns = 3
/** The largest one takes 10 GB of disk and half an hour. */
const backlogs = ['10000', '100000', '1000000', '10000000'] as const

/** What to measure, from the variables of `make bench`. @throws RangeError with what a variable may be */
export function parseOptions(env: NodeJS.ProcessEnv, knownTransports: readonly string[]): Options {
  const given = (name: string): string | undefined => env[name]?.trim() || undefined
  // One a line: a command may hold anything else.
  const peers = (given('PEER') ?? '').split('\n').filter(Boolean).map(parsePeer)
  const rows = rowsOf(given('ROWS'), peers.length > 0)
  const transports = chosen('TRANSPORTS', given('TRANSPORTS'), knownTransports)
  const profile = switched('PROFILE', given('PROFILE'))
  const runs = positive('RUNS', given('RUNS') ?? String(profile ? 1 : usualRuns))
  if (!Number.isInteger(runs)) throw new RangeError(`RUNS must be a whole number, not ${runs}`)
  const scale = positive('SCALE', given('SCALE') ?? '1')
  const publishes = switched('PUBLISH', given('PUBLISH'))
  if (publishes && (profile || scale !== 1))
    throw new RangeError('PUBLISH takes runs of full length without a profile: no SCALE, no PROFILE')
  return {
    rows,
    transports,
    peers,
    runs,
    scale,
    backlog: Number(oneOf('BACKLOG', given('BACKLOG') ?? '1000000', backlogs)),
    // A profiled process pays for the profile.
    gates: !profile && oneOf('GATES', given('GATES') ?? 'on', ['on', 'off']) === 'on',
    profile,
    publishes,
    hasAllTransports: transports.length === knownTransports.length,
  }
}

/** All, but for what needs other programs. */
function rowsOf(text: string | undefined, hasPeers: boolean): readonly RowName[] {
  if (text === undefined) return rowNames.filter(name => hasPeers || name !== 'peers')
  const rows = chosen('ROWS', text, rowNames)
  if (rows.includes('peers') && !hasPeers)
    throw new RangeError("ROWS: peers compares with other programs, give them: PEER='name=command …'")
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
  if (found === undefined) throw new RangeError(`${variable}: '${text}' is none of ${known.join(', ')}`)
  return found
}

function positive(variable: string, text: string): number {
  const number = Number(text)
  if (!(number > 0 && number < Number.POSITIVE_INFINITY))
    throw new RangeError(`${variable} must be a number above 0, not ${text}`)
  return number
}
