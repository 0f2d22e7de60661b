/** Limits of tests end what hangs, and are those of vitest.config.ts: a shorter one fails where other programs need the machine. */
import { expect, it } from 'vitest';
import { readSources } from '../support/source.ts';

const SHORTEST_MS = 600_000;
/** Options of programs under test have shorter ones. */
const LIMITS = [
  /\btimeout: (?<ms>\d{2,}_000)\b/g,
  /\{ timeout: (?<ms>\d{1,4}), interval\b/g,
  // The last argument of a test or a hook.
  /^ *\}, (?<ms>\d{2,}_000)\);$/gm,
  /^ *\},\n +(?<ms>\d{2,}_000),\n *\);$/gm,
];

it('has no limit of a test, a hook or a wait that is shorter than that of its project', () => {
  const sources = [...readSources('test').values()].filter(({ path }) => !path.startsWith('test/lint/'));
  const short = sources.flatMap(({ path, text }) =>
    LIMITS.flatMap((limit) => [...text.matchAll(limit)])
      .map(({ groups }) => groups?.['ms'] ?? '')
      .filter((ms) => Number(ms.replaceAll('_', '')) < SHORTEST_MS)
      .map((ms) => `${path}: ${ms}`),
  );
  expect(short).toEqual([]);
});
