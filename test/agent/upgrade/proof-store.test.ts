import { expect, it } from 'vitest';
import type { UpgradeProof } from '../../../src/agent/upgrade/proof.ts';
import { createProofWriter } from '../../../src/agent/upgrade/proof-store.ts';

it('writes what changed at once, and the same proof every five seconds', async () => {
  let nowMs = 0;
  const written: string[] = [];
  const write = createProofWriter({
    files: {
      async write(_path, content) {
        const { atMs, missing } = JSON.parse(new TextDecoder().decode(content)) as UpgradeProof;
        written.push(`${atMs} ${missing.join(' ')}`);
      },
    },
    pid: 7,
    uptimeMs: () => nowMs,
  });
  for (const [atMs, missing] of [
    [0, 'Lease'],
    [1000, 'Lease'],
    [2000, ''],
    [3000, ''],
    [7000, ''],
  ] as const) {
    nowMs = atMs;
    await write('k', missing === '' ? [] : [missing]);
  }
  expect(written).toEqual(['0 Lease', '2000 ', '7000 ']);
});
