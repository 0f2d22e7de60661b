/** docs/guides/console.md: the page is served until Ctrl-C. */
import type { Guide } from './guide.ts';

const SERVES = /The console: http:\/\/127\.0\.0\.1:\d+/;

export const consoleGuide: Guide = {
  path: 'docs/guides/console.md',
  instead: { 'npx kubenode console': 'npx kubenode console --port 0' },
  expectations: [
    { at: 'npx kubenode console', until: SERVES, end: 'Ctrl-C' },
    { at: '--context hub', until: SERVES, end: 'Ctrl-C' },
  ],
};
