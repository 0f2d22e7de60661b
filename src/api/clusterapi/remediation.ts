/**
 * The kinds by which a MachineHealthCheck of Cluster API asks kubenode for repairs. They obey the contract of Cluster API, which has
 * namespaces and creates and deletes the objects itself: so they are not among our own kinds.
 */
import type { Condition } from '../../kube/objects/conditions.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { GROUP } from '../names.ts';
import { VERSION } from '../version.ts';

export const REMEDIATION_GROUP = `remediation.${GROUP}`;

/** Our Machine has it: True while Cluster API asks for a repair of the machine. Rules read it as they read each condition. */
export const REMEDIATION_REQUESTED = 'RemediationRequested';

export interface RemediationSpec {
  /** The name of the NodeRemedier whose ladder is tried. */
  readonly rule: string;
  /** How long repairs may take to begin and to end before the machine is handed back. */
  readonly timeoutSeconds: number;
}

export interface RemediationStatus {
  /** The name of our Machine. */
  readonly machine?: string;
  /** The name of the last job. */
  readonly job?: string;
  readonly conditions?: readonly Condition[];
}

/** A request of one MachineHealthCheck for one Machine, which has its name. It ends when the object is deleted. */
export interface KubenodeRemediation extends KubeObject {
  readonly spec: RemediationSpec;
  readonly status?: RemediationStatus;
}

export const KUBENODE_REMEDIATIONS: Resource<KubenodeRemediation> = remediationKind(
  'KubenodeRemediation',
  'kubenoderemediations',
);
/** Its name is the name of the other kind with `Template`, as the contract asks for. */
export const KUBENODE_REMEDIATION_TEMPLATES: Resource = remediationKind(
  'KubenodeRemediationTemplate',
  'kubenoderemediationtemplates',
);

function remediationKind<T extends KubeObject>(kind: string, plural: string): Resource<T> {
  return { group: REMEDIATION_GROUP, version: VERSION, kind, plural, namespaced: true };
}
