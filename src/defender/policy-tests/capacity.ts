/** The Pods of a test, and what they take of its machines, as the Defender would observe them. Pure. */
import type {
  PolicyTestFacts,
  PolicyTestMachines,
  PolicyTestPods,
} from '../../api/validation/policy-tests.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type Capacity, createCapacityIndex } from '../capacity/index-of-nodes.ts';
import { capacityNode } from '../capacity/node.ts';
import { capacityPod } from '../capacity/pod.ts';

/** Undefined: the test has no Pods, so that they were not observed. */
export function testCapacity({ machines, pods }: PolicyTestFacts): Capacity | undefined {
  if (!pods) return undefined;
  const index = createCapacityIndex();
  for (const entry of machines) {
    for (const name of namesOfEntry(entry)) index.putNode(capacityNode(nodeOf(name, entry)));
  }
  for (const entry of pods) {
    for (const name of namesOfEntry(entry)) index.putPod(capacityPod(podOf(name, entry)));
  }
  return index;
}

/** The names that an entry stands for. */
export function namesOfEntry({
  name,
  count,
}: {
  readonly name: string;
  readonly count?: number;
}): readonly string[] {
  return count === undefined ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
}

function nodeOf(name: string, entry: PolicyTestMachines): KubeObject {
  const { labels = {}, zone, taints = [], cordoned = false, readiness = 'Ready', allocatable = {} } = entry;
  const own = { 'kubernetes.io/hostname': name, ...(zone === undefined ? {} : { [ZONE]: zone }) };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...own, ...labels } },
    spec: { unschedulable: cordoned, taints: taints.map((key) => ({ key, effect: 'NoSchedule' })) },
    status: {
      allocatable: { pods: '110', ...allocatable },
      conditions: [{ type: 'Ready', status: STATUS[readiness] }],
    },
  };
}

const ZONE = 'topology.kubernetes.io/zone';
const STATUS = { Ready: 'True', NotReady: 'False', Unknown: 'Unknown' } as const;

function podOf(fullName: string, { machine, requests = {}, nodeSelector = {} }: PolicyTestPods): KubeObject {
  const [first = '', ...rest] = fullName.split('/');
  const [namespace, name] = rest.length === 0 ? ['default', first] : [first, rest.join('/')];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name },
    spec: {
      ...(machine === undefined ? {} : { nodeName: machine }),
      nodeSelector,
      containers: [{ name: 'main', resources: { requests } }],
    },
  };
}
