/** Decides whether kubenode may be installed in a cluster, and what an installation changed. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../kube/objects/object.ts';

const MIN_MINOR = 31;

/** The fields of a CustomResourceDefinition that decide whether it may be replaced. */
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

/** Why nothing may be written to this server. */
export function versionRefusalReason(server: string, { gitVersion = '' }: ServerVersion): string | undefined {
  const { minor } = /^v1\.(?<minor>\d+)\./.exec(gitVersion)?.groups ?? {};
  if (minor === undefined) {
    return `${server} does not report a Kubernetes 1.x version (got "${gitVersion}"). Check that it is an API server`;
  }
  if (Number(minor) >= MIN_MINOR) return undefined;
  return `${server} runs Kubernetes ${gitVersion}, but kubenode needs 1.${MIN_MINOR} or newer. Upgrade the cluster first`;
}

/** Why this CRD must not replace the live one. */
export function crdRefusalReason(
  declared: CustomResourceDefinition,
  live: CustomResourceDefinition,
): string | undefined {
  const { name, deletionTimestamp } = live.metadata;
  if (deletionTimestamp !== undefined) {
    return `CRD ${name} is being deleted: wait until it is deleted, or remove its finalizers`;
  }
  const expected = identityOf(declared);
  const found = identityOf(live);
  if (found === expected) return versionLossReason(declared, live);
  return `CRD ${name} does not belong to kubenode: expected ${expected}, got ${found}. Remove it, or use another cluster`;
}

function identityOf({ spec }: CustomResourceDefinition): string {
  return `${spec.group} ${spec.names.kind}, ${spec.scope}`;
}

function versionLossReason(
  declared: CustomResourceDefinition,
  live: CustomResourceDefinition,
): string | undefined {
  const known = new Set(declared.spec.versions.map((version) => version.name));
  const there = [...live.spec.versions.map(({ name }) => name), ...(live.status?.storedVersions ?? [])];
  const lost = [...new Set(there)].filter((version) => !known.has(version));
  if (lost.length === 0) return undefined;
  return (
    `CRD ${live.metadata.name} has version ${lost.join(', ')}, but this kubenode knows only ${[...known].join(', ')}: ` +
    'its objects would be lost. Use the kubenode release that installed it, or a newer one'
  );
}

export type CrdState = { readonly established: boolean; readonly refusal?: string };

/** Established: the API server serves the kind. */
export function crdState({ status }: CustomResourceDefinition): CrdState {
  const condition = (type: string) => status?.conditions?.find((each) => each.type === type);
  if (condition('Established')?.status === 'True') return { established: true };
  const names = condition('NamesAccepted');
  if (names?.status !== 'False') return { established: false };
  return { established: false, refusal: names.message ?? 'its names are used by another CRD' };
}

export type Change = 'created' | 'configured' | 'unchanged';

/** Compares the content only: managedFields and status do not count as changes. */
export function changeOf(before: KubeObject | undefined, after: KubeObject): Change {
  if (before === undefined) return 'created';
  return isDeepStrictEqual(content(before), content(after)) ? 'unchanged' : 'configured';
}

function content({ metadata, status: _status, ...rest }: KubeObject): unknown {
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return { ...rest, metadata: kept };
}
