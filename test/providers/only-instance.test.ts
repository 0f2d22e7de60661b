import { describe, expect, it } from 'vitest';
import type { Instance } from '../../src/providers/contract.ts';
import { onlyInstance } from '../../src/providers/only-instance.ts';

function instance(id: string): Instance {
  const tags = { clusterUid: 'c', machineUid: 'u' };
  return { id, machine: 'm', tags, state: 'Running', addresses: [], createdAt: new Date(0) };
}

describe('onlyInstance', () => {
  it('returns the one that was found', () => {
    expect([onlyInstance([]), onlyInstance([instance('x:///1')])?.id]).toEqual([undefined, 'x:///1']);
  });

  it('chooses none of several, and names the first five', () => {
    const found = [1, 2, 3, 4, 5, 6].map((number) => instance(`x:///${number}`));
    expect(() => onlyInstance(found)).toThrow(
      '6 instances have the UID of this Machine: x:///1, x:///2, x:///3, x:///4, x:///5. Terminate all but one of them',
    );
  });
});
