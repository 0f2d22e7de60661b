import { expect, it } from 'vitest';
import type { Cluster } from '../../../../../src/api/generated/types.ts';
import { unreachedWarning } from '../../../../../src/cli/commands/cluster/hosted/kubeconfig.ts';

function observed(...ready: readonly number[]): Pick<Cluster, 'status'> {
  const gateways = ready.map((count) => ({ name: 'kubenode-gateway', ready: count, desired: 2 }));
  const etcd = { name: 'etcd', ready: 0, desired: 1 };
  return { status: { conditions: [], hosted: { components: [etcd, ...gateways] } } };
}

it('HOS-41 warns of a kubeconfig whose address no gateway answers, and of no other one', () => {
  expect(unreachedWarning(observed(0))).toContain('no gateway answers');
  const others = [observed(1), observed(2), observed(), {}].map(unreachedWarning);
  expect(others.filter((warning) => warning !== undefined)).toEqual([]);
});
