/** May this installation be put into that cluster, and what did it change? Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../kube/objects/object.ts';

const MIN_MINOR = 31;

/** What of a CustomResourceDefinition decides whether it may be replaced. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string }[];
  };
  readonly status?: {
    readonly storedVersions?: readonly string[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message?: string;
    }[];
  };
}

export interface ServerVersion {
  readonly gitVersion?: string;
}

/** Why nothing may be written; undefined when nothing speaks against it. */
export function versionObjection(server: string, { gitVersion = '' }: ServerVersion): string | undefined {
  const { minor } = /^v1\.(?<minor>\d+)\./.exec(gitVersion)?.groups ?? {};
  if (minor === undefined) {
    return `${server} does not say that it is Kubernetes 1.x (version "${gitVersion}"): is it an API server?`;
  }
  if (Number(minor) >= MIN_MINOR) return undefined;
  return `${server} is Kubernetes ${gitVersion}, and kubenode needs 1.${MIN_MINOR} or newer: upgrade the cluster first`;
}

/** Why this CRD may not take the place of the one that is there. */
export function crdObjection(
  wanted: CustomResourceDefinition,
  live: CustomResourceDefinition,
): string | undefined {
  const { name, deletionTimestamp } = live.metadata;
  if (deletionTimestamp !== undefined) {
    return `CRD ${name} is being deleted: wait until it is gone, or take its finalizers off`;
  }
  const ours = identityOf(wanted);
  const there = identityOf(live);
  if (there === ours) return lossObjection(wanted, live);
  return `CRD ${name} is not ours (${there} instead of ${ours}): remove it, or use another cluster`;
}

function identityOf({ spec }: CustomResourceDefinition): string {
  return `${spec.group} ${spec.names.kind}, ${spec.scope}`;
}

function lossObjection(wanted: CustomResourceDefinition, live: CustomResourceDefinition): string | undefined {
  const known = new Set(wanted.spec.versions.map((version) => version.name));
  const there = [...live.spec.versions.map(({ name }) => name), ...(live.status?.storedVersions ?? [])];
  const lost = [...new Set(there)].filter((version) => !known.has(version));
  if (lost.length === 0) return undefined;
  return (
    `CRD ${live.metadata.name} has version ${lost.join(', ')}, and this kubenode knows only ${[...known].join(', ')}: ` +
    'objects of it would be lost. Use the kubenode that installed it, or a newer one'
  );
}

export type CrdState = { readonly established: boolean; readonly objection?: string };

/** Established: the API server serves the kind. */
export function crdState({ status }: CustomResourceDefinition): CrdState {
  const condition = (type: string) => status?.conditions?.find((each) => each.type === type);
  if (condition('Established')?.status === 'True') return { established: true };
  const names = condition('NamesAccepted');
  if (names?.status !== 'False') return { established: false };
  return { established: false, objection: names.message ?? 'its names are taken' };
}

export type Change = 'created' | 'configured' | 'unchanged';

/** By content: who owns which field, and what others report in `status`, is no change of ours. */
export function changeOf(before: KubeObject | undefined, after: KubeObject): Change {
  if (before === undefined) return 'created';
  return isDeepStrictEqual(content(before), content(after)) ? 'unchanged' : 'configured';
}

function content({ metadata, status: _status, ...rest }: KubeObject): unknown {
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return { ...rest, metadata: kept };
}
