import { describe, expect, it } from 'vitest';
import { formatTargetDeployments } from '../../../src/sync/preview/machine-deployments.ts';

describe('formatTargetDeployments', () => {
  it('names how many machines are updated in place or replaced, and why', () => {
    const because = 'no component covers spec.infrastructureRef';
    const lines = formatTargetDeployments({
      state: 'Known',
      deployments: [
        { name: 'fleet/a', replicas: 3, type: 'InPlace', because: 'a component covers it' },
        { name: 'fleet/b', replicas: 2, type: 'Replace', because },
        { name: 'fleet/c', replicas: 1, type: 'Wait', because: 'node-1 is held: MachinePaused' },
      ],
    });
    expect(lines).toEqual([
      '  machines of fleet/a: 3 updated in place: a component covers it',
      '  machines of fleet/b: 2 REPLACED by Cluster API: no component covers',
      '    spec.infrastructureRef',
      '  machines of fleet/c: 1 not updated yet, and not replaced: node-1 is held:',
      '    MachinePaused',
    ]);
  });

  it('names why it is not known, and adds nothing where no machines change', () => {
    expect(formatTargetDeployments({ state: 'Unknown', because: 'forbidden' })).toEqual([
      '  machines of Cluster API: not known: forbidden',
    ]);
    expect(formatTargetDeployments(undefined)).toEqual([]);
  });
});
