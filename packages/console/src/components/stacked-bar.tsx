export interface Share {
  readonly name: string
  readonly count: number
  readonly tone: 'ok' | 'warn' | 'bad' | 'plain'
}

/**
 * A bar that shows how a total is divided. Screen readers skip the bar, so a text or a table beside
 * it must have the numbers.
 */
export function ShareBar({ shares }: { readonly shares: readonly Share[] }) {
  const total = shares.reduce((sum, { count }) => sum + count, 0)
  let start = 0
  return (
    <svg class="share-bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
      <rect width="1000" height="10" class="share-none" />
      {total > 0 &&
        shares.map(({ name, count, tone }) => {
          const width = (count / total) * 1000
          start += width
          return <rect key={name} x={start - width} width={width} height="10" class={`share-${tone}`} />
        })}
    </svg>
  )
}
