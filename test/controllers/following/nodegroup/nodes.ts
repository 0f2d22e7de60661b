/** Nodes of node groups, and Machines that follow them. */
import type { Machine } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_OWNER_HOLD, MANAGER_NODEGROUP } from '../../../../src/api/names.ts';
import {
  type NodeGroupSelector,
  nodeGroupSelector,
} from '../../../../src/controllers/following/nodegroup/selector.ts';
import type { KubeObject, Metadata } from '../../../../src/kube/objects/object.ts';
import { machine, node } from '../../../support/builders.ts';

const LABELS = { group: 'workers', 'topology.kubernetes.io/zone': 'zone-a' };
/** Selects the Nodes of this file. */
export const WORKERS = selectorOf('group=workers');

export function selectorOf(text: string): NodeGroupSelector {
  const selector = nodeGroupSelector(text);
  if (typeof selector === 'string') throw new Error(selector);
  return selector;
}

export interface GroupNodeParts
  extends Partial<Pick<Metadata, 'annotations' | 'ownerReferences' | 'deletionTimestamp'>> {
  readonly labels?: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly taint?: string;
  readonly providerID?: string;
}

/** `node-N` of group `workers` on instance `inst://N`. */
export function groupNodeObject(n: number, parts: GroupNodeParts = {}): KubeObject {
  const { labels = LABELS, name = `node-${n}`, taint, providerID = `inst://${n}`, ...metadata } = parts;
  const { spec: _, ...rest } = node(name, 'True', { ...metadata, labels });
  const taints = taint === undefined ? {} : { taints: [{ key: taint, effect: 'NoSchedule' }] };
  return { ...rest, spec: { ...(providerID === '' ? {} : { providerID }), ...taints } };
}

export interface GroupMachineParts {
  readonly hold?: string;
  readonly manager?: string;
  readonly provider?: Machine['spec']['infra']['provider'];
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Our Machine for `node-N`. */
export function groupMachine(n: number, parts: GroupMachineParts = {}): Machine {
  const { hold, manager = MANAGER_NODEGROUP, provider = 'external' } = parts;
  const labels = { ...LABELS, 'kubernetes.io/hostname': `node-${n}` };
  const own = Object.fromEntries(Object.keys(labels).map((key) => [`f:${key}`, {}]));
  return machine(`node-${n}`, {
    metadata: {
      labels,
      managedFields: [{ manager, operation: 'Apply', fieldsV1: { 'f:metadata': { 'f:labels': own } } }],
      ...(hold === undefined ? {} : { annotations: { [ANNOTATION_OWNER_HOLD]: hold } }),
    },
    spec: {
      zone: 'zone-a',
      infra: {
        provider,
        config: parts.config ?? { kind: 'Node', name: `node-${n}`, providerID: `inst://${n}` },
      },
    },
  });
}
