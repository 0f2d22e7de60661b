/**
 * Reads the objects of Cluster API. Its versions v1beta1 and v1beta2 have the same names for all of it, so that one reader serves both. What
 * cannot be read is absent: no field is trusted to have the type that another project gave it. Pure.
 */

import { CLUSTER_API_DRAIN_HOOK, CLUSTER_API_STEADY } from '../../../api/clusterapi/hook-policy.ts';
import { isRecord, listAt, textAt, valueAt } from '../../../kube/objects/json.ts';
import { type KubeObject, keptMetadata } from '../../../kube/objects/object.ts';
import type { FileDigests } from './extension/files/record.ts';

export const CLUSTER_API_GROUP = 'cluster.x-k8s.io';
/** The versions that are read, the one that is preferred first. */
export const CLUSTER_API_VERSIONS = ['v1beta2', 'v1beta1'] as const;

/** The bootstrap provider whose files components cover. */
export const BOOTSTRAP_PROVIDER_GROUP = `bootstrap.${CLUSTER_API_GROUP}`;
export const KUBEADM_CONFIG = 'KubeadmConfig';
export const KUBEADM_CONFIG_TEMPLATE = 'KubeadmConfigTemplate';
/** On a Machine, and on its bootstrap config, while Cluster API updates it in place. */
export const ANNOTATION_UPDATING = `in-place-updates.internal.${CLUSTER_API_GROUP}/update-in-progress`;

/** Cluster API sets it on each object that it creates for a Cluster. */
export const LABEL_CLUSTER_NAME = `${CLUSTER_API_GROUP}/cluster-name`;
/** On a Machine or a Cluster, with any value. */
export const ANNOTATION_PAUSED = `${CLUSTER_API_GROUP}/paused`;
/** On a Machine, with any value: Cluster API does not drain its Node, and kubenode does not either. */
export const ANNOTATION_EXCLUDE_DRAIN = `machine.${CLUSTER_API_GROUP}/exclude-node-draining`;
/** On a Machine, with any value: no health check replaces it. */
export const ANNOTATION_SKIP_REMEDIATION = `${CLUSTER_API_GROUP}/skip-remediation`;
/** On a Node: the Machine that Cluster API has found for it. */
export const ANNOTATION_NODE_MACHINE = `${CLUSTER_API_GROUP}/machine`;
export const ANNOTATION_NODE_NAMESPACE = `${CLUSTER_API_GROUP}/cluster-namespace`;

/** On a Machine: Cluster API does not begin to drain its Node while there is an annotation of this prefix. */
export const ANNOTATION_DRAIN_HOOK = CLUSTER_API_DRAIN_HOOK;
/** The condition by which a Machine of theirs shows what kubenode does there. They may name it in `spec.readinessGates`. */
export const CONDITION_STEADY = CLUSTER_API_STEADY;

/** The condition of Cluster API that shows how far the deletion of a Machine is, and its reason while a hook delays the drain. */
const CONDITION_DELETING = 'Deleting';
const WAITS_FOR_HOOK = 'WaitingForPreDrainHook';

/** The condition of kubenode on a Machine of theirs. */
export interface SteadyCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** A Machine of Cluster API, as far as kubenode reads it. */
export interface ForeignMachine {
  /** The version of the API in which it was read. */
  readonly servedVersion: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly cluster: string | undefined;
  readonly providerID: string | undefined;
  readonly node: string | undefined;
  readonly zone: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly isDeleting: boolean;
  /** Whether its deletion goes on: it waits for no hook before the drain. Cluster API reads hooks only if it would also delete the Node. */
  readonly isDraining: boolean;
  /** Whether its conditions have reasons: those of v1beta1 are others. */
  readonly hasConditions: boolean;
  /** Undefined: it does not have the condition of kubenode. */
  readonly steady: (SteadyCondition & { readonly since: string }) | undefined;
  readonly version: string | undefined;
  /** The name of its KubeadmConfig; undefined: it has none. */
  readonly kubeadmConfig: string | undefined;
}

export interface ForeignCluster {
  readonly namespace: string;
  readonly name: string;
  readonly isPaused: boolean;
  readonly isDeleting: boolean;
}

/** A KubeadmConfig, as far as kubenode reads it: no content of a file, and no token. */
export interface ForeignConfig {
  readonly namespace: string;
  readonly name: string;
  readonly isUpdating: boolean;
  readonly files: FileDigests;
}

export function foreignMachine(object: KubeObject): ForeignMachine {
  const { metadata } = object;
  const [, servedVersion = ''] = object.apiVersion.split('/');
  return {
    servedVersion,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    cluster: filled(textAt(object, 'spec', 'clusterName')),
    providerID: filled(textAt(object, 'spec', 'providerID')),
    node: filled(textAt(object, 'status', 'nodeRef', 'name')),
    zone: filled(textAt(object, 'spec', 'failureDomain') ?? textAt(object, 'status', 'failureDomain')),
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    isDeleting: metadata.deletionTimestamp !== undefined,
    isDraining: isDraining(object),
    hasConditions: servedVersion !== 'v1beta1',
    steady: steadyOf(object),
    version: filled(textAt(object, 'spec', 'version')),
    kubeadmConfig: kubeadmConfigName(object),
  };
}

function isDraining(object: KubeObject): boolean {
  const deleting = keptConditions(object).find((each) => textAt(each, 'type') === CONDITION_DELETING);
  return textAt(deleting, 'status') === 'True' && textAt(deleting, 'reason') !== WAITS_FOR_HOOK;
}

function steadyOf(object: KubeObject): ForeignMachine['steady'] {
  const found = keptConditions(object).find((each) => textAt(each, 'type') === CONDITION_STEADY);
  if (found === undefined) return undefined;
  const [status = '', reason = '', message = '', since = ''] = [
    'status',
    'reason',
    'message',
    'lastTransitionTime',
  ].map((field) => textAt(found, field));
  return { status, reason, message, since };
}

/** Returns the conditions that are read. */
function keptConditions(object: KubeObject): readonly unknown[] {
  return listAt(object, 'status', 'conditions').filter((each) =>
    [CONDITION_STEADY, CONDITION_DELETING].includes(textAt(each, 'type') ?? ''),
  );
}

export function kubeadmConfigName(machine: KubeObject): string | undefined {
  return configRefName(valueAt(machine, 'spec'), KUBEADM_CONFIG);
}

/** v1beta1 has the version of the reference, v1beta2 only its group. */
export function configRefName(spec: unknown, kind: string): string | undefined {
  const reference = valueAt(spec, 'bootstrap', 'configRef');
  const group = textAt(reference, 'apiGroup') ?? textAt(reference, 'apiVersion')?.split('/')[0];
  const isKind = group === BOOTSTRAP_PROVIDER_GROUP && textAt(reference, 'kind') === kind;
  return isKind ? filled(textAt(reference, 'name')) : undefined;
}

export function foreignCluster(object: KubeObject): ForeignCluster {
  const { metadata } = object;
  const isPaused = valueAt(object, 'spec', 'paused') === true;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    isPaused: isPaused || Object.hasOwn(metadata.annotations ?? {}, ANNOTATION_PAUSED),
    isDeleting: metadata.deletionTimestamp !== undefined,
  };
}

/** Returns the parts of an object that are kept in memory: of 500 machines, two conditions, and no certificates. */
export function trimForeign(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const conditions = keptConditions(object);
  return {
    apiVersion,
    kind,
    metadata: keptMetadata(metadata, 'labels', 'annotations', 'deletionTimestamp'),
    spec: picked(object, 'spec', [
      'clusterName',
      'providerID',
      'failureDomain',
      'paused',
      'version',
      'bootstrap',
    ]),
    status: {
      ...picked(object, 'status', ['nodeRef', 'failureDomain']),
      ...(conditions.length === 0 ? {} : { conditions }),
    },
  };
}

function picked(object: KubeObject, part: string, fields: readonly string[]): object {
  const value = object[part];
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    fields.flatMap((field) => (value[field] === undefined ? [] : [[field, value[field]]])),
  );
}

/** An empty text counts as unset: v1beta1 writes it for an unset field. */
function filled(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
