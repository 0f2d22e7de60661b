/** One machine of the fleet runs a Pod that fits on no other one, so that nothing may take it down while it is Ready. */
import { type Capacity, createCapacityIndex } from '../../defender/capacity/index-of-nodes.ts';
import { capacityNode } from '../../defender/capacity/node.ts';
import { capacityPod } from '../../defender/capacity/pod.ts';

/** The machine is of the general pool, in no control plane, and in each size of a fleet. */
export const PINNED = 'm-16';

const HOSTNAME = 'kubernetes.io/hostname';

/** The other machines run no Pods: one of them stands for all. */
export const SIMULATED_CAPACITY: Capacity = simulatedCapacity();

function simulatedCapacity(): Capacity {
  const index = createCapacityIndex();
  for (const name of [PINNED, 'm-17']) {
    const metadata = { name, labels: { [HOSTNAME]: name } };
    const status = { allocatable: { pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] };
    index.putNode(capacityNode({ apiVersion: 'v1', kind: 'Node', metadata, status }));
  }
  const metadata = { namespace: 'shop', name: 'ledger' };
  const spec = { nodeName: PINNED, nodeSelector: { [HOSTNAME]: PINNED } };
  index.putPod(capacityPod({ apiVersion: 'v1', kind: 'Pod', metadata, spec }));
  return index;
}
