import { readFileSync } from 'node:fs';

export const KUBENODE_VERSION = readVersion();

/** `src/cli` in a checkout and `dist/cli` in the package have the same depth below package.json. */
function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
