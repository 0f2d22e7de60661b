import { describe, expect, it } from 'vitest';
import { namedSigns } from '../../../../src/defender/facts/signs/named-signs.ts';
import { policy } from '../../builders.ts';

function naming(leases: readonly string[], podLabels: readonly string[]) {
  const foreign = leases.map((lease) => ({ lease }));
  return policy({ blockers: { foreign, podLabels, minNodeAgeSeconds: 0, promql: [] } });
}

describe('what policies name of other tools and Pods', () => {
  it('R23 has one watch for each namespace and each label, whichever policy names it first', () => {
    const one = naming(['medik8s-leases/node-{node}', 'locks/all'], ['app=db', 'kubenode.dev/block=true']);
    const two = naming(['medik8s-leases/{node}'], ['app=db']);
    const named = namedSigns([one, two]);
    expect(named).toEqual(namedSigns([two, one]));
    expect(named.selections).toEqual([
      { kind: 'Lease', of: 'locks' },
      { kind: 'Lease', of: 'medik8s-leases' },
      { kind: 'Pod', of: 'app=db' },
    ]);
  });

  it('R23 has no watch of the Leases of kubelets, and none of a name that is not a namespace', () => {
    const odd = ['kube-node-lease/{node}', '../{node}', '{node}/lock', 'lock'];
    expect(namedSigns([naming(odd, [])])).toMatchObject({ leases: odd.toSorted(), selections: [] });
  });

  it('has no watch where nothing is named, and at most 32', () => {
    expect(namedSigns([naming([], ['kubenode.dev/block=true'])]).selections).toEqual([]);
    const labels = Array.from({ length: 40 }, (_, index) => `app=${index}`);
    const named = namedSigns([naming([], labels)]);
    expect([named.podLabels.length, named.selections.length]).toEqual([40, 32]);
  });
});
