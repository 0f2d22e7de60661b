import { describe, expect, it } from 'vitest';
import type { Release } from '../../../../src/api/generated/types.ts';
import { commitLines, currentActs } from '../../../../src/cli/commands/audit/current.ts';
import { ledgerLines, NO_ENTRIES } from '../../../../src/defender/audit/acts.ts';
import { entry, NOW } from '../../../defender/builders.ts';

const SETTLED = { state: 'Settled', settledAt: '2030-01-01T11:58:00.000Z', outcome: 'Succeeded' } as const;

describe('currentActs', () => {
  it('S30 adds acts in flight, and those that ended and are not recorded yet', () => {
    const grants = { 'm-1': entry('m-1', SETTLED), 'm-2': entry('m-2'), 'm-3': entry('m-3', SETTLED) };
    const recorded = ledgerLines(NO_ENTRIES, { ...NO_ENTRIES, grants: { 'm-1': grants['m-1'] } }, NOW);
    const acts = currentActs({ ...NO_ENTRIES, grants }, recorded, NOW);
    const shown = acts.map((line) => (line.type === 'act' ? `${line.machine} ${line.outcome}` : ''));
    expect(shown.toSorted()).toEqual(['m-2 InFlight', 'm-3 Succeeded']);
  });
});

describe('commitLines', () => {
  it('S30 describes the commits of Releases', () => {
    const spec = {
      pipeline: 'fleet',
      commit: 'c1',
      author: 'Ann',
      signer: 'ann',
      plan: { digest: 'sha256:1' },
    };
    const release = { metadata: { name: 'r', creationTimestamp: '2030-01-01T00:00:00Z' }, spec };
    expect(commitLines([release as unknown as Release])).toEqual([
      {
        type: 'commit',
        at: '2030-01-01T00:00:00Z',
        commit: 'c1',
        pipeline: 'fleet',
        cluster: '',
        author: 'Ann',
        signer: 'ann',
        plan: 'sha256:1',
      },
    ]);
  });
});
