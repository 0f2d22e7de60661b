/** NodeClaims of Karpenter, their Nodes, and Machines that follow them. */
import type { Machine } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_OWNER_HOLD, MANAGER_EXTERNAL } from '../../../../src/api/names.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { machine, node } from '../../../support/builders.ts';

const LABELS = {
  pool: 'general',
  'karpenter.sh/nodepool': 'general',
  'topology.kubernetes.io/zone': 'zone-a',
};

export interface ClaimParts {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly status?: object;
  readonly isDeleting?: true;
}

/** `general-N`, with Node `node-N` on instance `inst://N`. */
export function claimObject(n: number, parts: ClaimParts = {}): KubeObject {
  const { annotations = {}, labels = LABELS, isDeleting } = parts;
  const metadata = {
    name: `general-${n}`,
    labels,
    annotations,
    ...(isDeleting ? { deletionTimestamp: '2030-01-01T11:00:00Z' } : {}),
  };
  const status = parts.status ?? { providerID: `inst://${n}`, nodeName: `node-${n}` };
  return { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', metadata, spec: {}, status };
}

export interface ClaimedNodeParts {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taint?: string;
  readonly providerID?: string;
}

export function claimedNode(n: number, parts: ClaimedNodeParts = {}): KubeObject {
  const { annotations = {}, taint, providerID = `inst://${n}` } = parts;
  const { spec: _, ...rest } = node(`node-${n}`, 'True', { annotations });
  const taints = taint === undefined ? {} : { taints: [{ key: taint, effect: 'NoSchedule' }] };
  return { ...rest, spec: { providerID, ...taints } };
}

export interface FollowingParts {
  readonly hold?: string;
  readonly manager?: string;
  readonly provider?: 'external' | 'clusterapi';
  readonly config?: Readonly<Record<string, unknown>>;
}

/** Our Machine for `general-N`. */
export function following(n: number, parts: FollowingParts = {}): Machine {
  const { hold, manager = MANAGER_EXTERNAL, provider = 'external' } = parts;
  const own = Object.fromEntries(Object.keys(LABELS).map((key) => [`f:${key}`, {}]));
  return machine(`node-${n}`, {
    metadata: {
      labels: LABELS,
      managedFields: [{ manager, operation: 'Apply', fieldsV1: { 'f:metadata': { 'f:labels': own } } }],
      ...(hold === undefined ? {} : { annotations: { [ANNOTATION_OWNER_HOLD]: hold } }),
    },
    spec: {
      zone: 'zone-a',
      infra: {
        provider,
        config: parts.config ?? { kind: 'NodeClaim', name: `general-${n}`, providerID: `inst://${n}` },
      },
    },
  });
}
