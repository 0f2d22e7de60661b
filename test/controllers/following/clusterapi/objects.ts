/** Objects of Cluster API, and Machines that follow them. */
import type { Machine } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_OWNER_HOLD, MANAGER_CLUSTERAPI } from '../../../../src/api/names.ts';
import {
  type ForeignCluster,
  type ForeignMachine,
  foreignMachine,
} from '../../../../src/controllers/following/clusterapi/contract.ts';
import type { KubeObject, ManagedFields } from '../../../../src/kube/objects/object.ts';
import { machine, node } from '../../../support/builders.ts';

const API_VERSION = 'cluster.x-k8s.io/v1beta2';
/** The Cluster of `theirs`. */
export const CLUSTER: ForeignCluster = { namespace: 'fleet', name: 'c', isPaused: false, isDeleting: false };

/** `md-N` in namespace fleet, with Node `node-N` on instance `inst://N`. */
export function theirs(n: number, changes: Partial<ForeignMachine> = {}): ForeignMachine {
  return { ...foreignMachine(theirObject(n)), ...changes };
}

export function theirObject(n: number): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: 'Machine',
    metadata: { namespace: 'fleet', name: `md-${n}`, labels: { pool: 'general' } },
    spec: { clusterName: 'c', providerID: `inst://${n}`, failureDomain: 'zone-a' },
    status: { nodeRef: { name: `node-${n}` } },
  };
}

export function theirNode(n: number, annotations: Readonly<Record<string, string>> = {}): KubeObject {
  const { spec: _, ...rest } = node(`node-${n}`, 'True', { annotations });
  return { ...rest, spec: { providerID: `inst://${n}` } };
}

export interface OwnParts {
  readonly hold?: string;
  readonly providerID?: string;
  readonly manager?: string;
  readonly isDeleting?: true;
  readonly config?: object;
}

/** Our Machine for `theirs(n)`. */
export function ours(n: number, parts: OwnParts = {}): Machine {
  const { hold, providerID = `inst://${n}`, manager = MANAGER_CLUSTERAPI, isDeleting, config } = parts;
  const managedFields: ManagedFields[] = [
    {
      manager,
      operation: 'Apply',
      fieldsV1: { 'f:metadata': { 'f:labels': { 'f:pool': {} } }, 'f:spec': { 'f:infra': {} } },
    },
  ];
  return machine(`node-${n}`, {
    metadata: {
      labels: { pool: 'general', 'kubenode.dev/hardware': 'h' },
      managedFields,
      ...(hold === undefined ? {} : { annotations: { [ANNOTATION_OWNER_HOLD]: hold } }),
      ...(isDeleting ? { deletionTimestamp: '2030-01-01T11:00:00Z' } : {}),
    },
    spec: {
      zone: 'zone-a',
      infra: {
        provider: 'clusterapi',
        config: { ...(config ?? { namespace: 'fleet', name: `md-${n}`, providerID }) },
      },
    },
  });
}
