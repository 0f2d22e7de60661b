import type { JSX } from 'preact';
import { clockText } from '../parts/time.ts';
import { ThemeSwitch } from './theme.tsx';

interface HeaderProps {
  readonly isConnected: boolean;
  readonly hasState: boolean;
  readonly now: number;
  readonly search: () => void;
}

export function Header({ isConnected, hasState, now, search }: HeaderProps): JSX.Element {
  return (
    <header>
      <h1>kubenode</h1>
      <button type="button" class="search" onClick={search} aria-keyshortcuts="/ Control+K Meta+K">
        <span>Search</span> <kbd>⌘K</kbd>
      </button>
      <div class="end">
        <Connection isConnected={isConnected} hasState={hasState} />
        {isConnected && <time class="soft clock">{clockText(now, '2-digit')}</time>}
        <ThemeSwitch />
      </div>
    </header>
  );
}

function Connection({ isConnected, hasState }: Pick<HeaderProps, 'isConnected' | 'hasState'>): JSX.Element {
  if (isConnected) return <span class="badge good">✓ live</span>;
  const text = hasState ? '! connection lost: the last state is shown, connecting again' : '… connecting';
  return (
    <span class="badge bad" role="alert">
      {text}
    </span>
  );
}
