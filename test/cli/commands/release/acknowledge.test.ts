import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import { heldDeletes } from '../../../../src/cli/commands/release/acknowledge.ts';
import { cluster } from '../builders.ts';

const PLAN = { unit: 'web', planDigest: 'sha256:aa' };

function heldCluster(name: string, ...held: readonly { unit: string; planDigest: string }[]): Cluster {
  const sync = { state: 'Held', message: '12 of 13 objects would be deleted', held };
  const status = { conditions: [], sync, assigned: { pipeline: 'fleet', mode: 'Apply' } };
  return { ...cluster({}, name), status } as unknown as Cluster;
}

describe('release acknowledge', () => {
  it('FST-8 names every held unit, and each cluster that the same entry releases', () => {
    const one = heldCluster('one', PLAN, { unit: 'db', planDigest: 'sha256:bb' });
    const others = [heldCluster('two', PLAN), heldCluster('three', { ...PLAN, planDigest: 'sha256:cc' })];
    expect(heldDeletes(one, [one, ...others])).toEqual({
      pipeline: 'fleet',
      message: '12 of 13 objects would be deleted',
      units: [PLAN, { unit: 'db', planDigest: 'sha256:bb' }],
      lines: ['unit web in one, two', 'unit db in one'],
    });
  });

  it('FST-8 has nothing to print for a cluster whose deletes are not held', () => {
    expect(() => heldDeletes(heldCluster('one'), [])).toThrow('no deletes are held in cluster one');
  });
});
