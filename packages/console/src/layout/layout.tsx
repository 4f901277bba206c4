import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { ApiError } from '../api/api-error.ts'
import { Button } from '../components/button.tsx'
import { ErrorMessage } from '../components/error-message.tsx'
import { useSession } from '../session/session-context.ts'
import { Navigation } from './navigation.tsx'

/** The frame of every page: navigation, user and content. */
export function Layout({ children }: { readonly children: ComponentChildren }) {
  const { session, signOut } = useSession()
  const [error, setError] = useState<ApiError>()
  return (
    <div class="layout">
      <a class="skip-link" href="#content">
        Skip to the content
      </a>
      <header class="bar">
        <Link href="/" class="brand">
          <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
            <rect width="32" height="32" rx="7" class="brand-field" />
            <path d="M9 7v18M23 7v8a7 7 0 0 1-14 0" class="brand-hook" />
          </svg>
          Hookline
        </Link>
        <Navigation />
        <div class="user">
          <span class="user-name">
            <strong>{session.name}</strong> <span class="muted">role {session.role}</span>
          </span>
          <Button onClick={() => void signOut().then(setError)}>Sign out</Button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {error !== undefined && <ErrorMessage error={notSignedOut(error)} />}
        {children}
      </main>
    </div>
  )
}

const notSignedOut = ({ status, code, message }: ApiError): ApiError =>
  new ApiError(status, code, `You are still signed in. Try to sign out again. ${message}`)
