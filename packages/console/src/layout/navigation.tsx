import { useEffect, useState } from 'preact/hooks'
import { Link, useLocation } from 'wouter-preact'

const pages: readonly (readonly [string, string])[] = [
  ['/', 'Overview'],
  ['/destinations', 'Destinations'],
  ['/messages', 'Messages'],
  ['/dead-letters', 'Dead letters'],
  ['/jobs', 'Jobs'],
  ['/sources', 'Sources'],
  ['/audiences', 'Audiences'],
  ['/changes', 'Changes'],
]

const isCurrent = (path: string, location: string): boolean =>
  path === '/' ? location === '/' : location === path || location.startsWith(`${path}/`)

/** The links to all pages. On a narrow screen a button opens them. */
export function Navigation() {
  const [location] = useLocation()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(false), [location])
  return (
    <nav aria-label="Pages" class="navigation">
      <button type="button" class="button menu-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Menu
      </button>
      <ul class={isOpen ? 'pages pages-open' : 'pages'}>
        {pages.map(([path, title]) => (
          <li key={path}>
            <Link href={path} aria-current={isCurrent(path, location) ? 'page' : undefined}>
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
