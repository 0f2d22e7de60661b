/** The theme: that of the system, or the one that a person chose in this browser. */
import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];
const SIGNS: Readonly<Record<Theme, string>> = { system: '◐', light: '○', dark: '●' };
const STORED = 'kubenode-theme';
/** Charts draw again at this event: their pixels do not follow the styles. */
export const THEME_EVENT = 'kubenode-theme';

export function ThemeSwitch(): JSX.Element {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useLayoutEffect(() => {
    document.documentElement.dataset['theme'] = theme;
    storeTheme(theme);
    document.dispatchEvent(new Event(THEME_EVENT));
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  const label = `Theme: ${theme}. Change to ${next}`;
  return (
    <button
      type="button"
      class="quiet-button"
      aria-label={label}
      title={label}
      onClick={() => setTheme(next)}
    >
      {SIGNS[theme]}
    </button>
  );
}

/** A browser that stores nothing has the theme of the system each time. */
function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(STORED);
    return THEMES.find((each) => each === stored) ?? 'system';
  } catch {
    return 'system';
  }
}

function storeTheme(theme: Theme): void {
  try {
    localStorage.setItem(STORED, theme);
  } catch {
    // It is in force until the page is closed.
  }
}
