import './styles/console.css'
// biome-ignore lint/suspicious/noDeprecatedImports: only a parameter of render that is not used here is deprecated.
import { render } from 'preact'
import { Console } from './console.tsx'

const root = document.getElementById('app')
if (root === null) throw new Error('The page has no element with the id "app".')
render(<Console />, root)
