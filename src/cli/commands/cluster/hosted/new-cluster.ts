/** Builds the Cluster that `kubenode cluster create` writes. Pure. */
import { CLUSTERS } from '../../../../api/generated/resources.ts';
import type { Cluster } from '../../../../api/generated/types.ts';
import { clusterNameReason } from '../../../../api/validation/cluster-name.ts';
import { API_VERSION } from '../../../../api/version.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { CliError, EXIT } from '../../../errors.ts';

export interface NewCluster {
  readonly name: string;
  /** With or without the leading v. */
  readonly version: string;
  /** Undefined: it stays until somebody deletes it. */
  readonly ttlSeconds: number | undefined;
}

/** The limits of spec.hosted.ttlSecondsAfterReady. */
const SHORTEST_SECONDS = 60;
const LONGEST_SECONDS = 604_800;

/** It is not protected: who creates a cluster with one command deletes it with one. */
export function newCluster({ name, version, ttlSeconds }: NewCluster): KubeObject {
  const reason = clusterNameReason(name);
  if (reason !== undefined) {
    throw usageError(`${JSON.stringify(name)} cannot be the name of a hosted cluster`, reason);
  }
  if (ttlSeconds !== undefined && (ttlSeconds < SHORTEST_SECONDS || ttlSeconds > LONGEST_SECONDS)) {
    const hint = 'use --no-ttl for a cluster that stays until it is deleted';
    throw usageError(`--ttl: expected a duration from 60s to 7d, got ${ttlSeconds}s`, hint);
  }
  const hosted = {
    driver: 'process',
    version: version.startsWith('v') ? version : `v${version}`,
    ...(ttlSeconds !== undefined && { ttlSecondsAfterReady: ttlSeconds }),
  };
  return {
    apiVersion: API_VERSION,
    kind: CLUSTERS.kind,
    metadata: { name },
    spec: { environment: 'test', deletion: { protection: false }, hosted },
  };
}

function usageError(text: string, hint: string): CliError {
  return new CliError(text, { hint, exitCode: EXIT.usage });
}

/** Returns the error for a name that a Cluster of the hub has already. */
export function existsError({ metadata, spec }: Cluster): CliError {
  const { name } = metadata;
  return new CliError(`Cluster ${name} exists already`, {
    hint: existsHint(name, metadata.deletionTimestamp !== undefined, spec.hosted !== undefined),
    exitCode: EXIT.badInput,
  });
}

function existsHint(name: string, isDeleting: boolean, isHosted: boolean): string {
  if (!isHosted) return 'choose another name: it is a cluster that the hub only syncs';
  if (isDeleting) return `wait until it is deleted: kubenode cluster delete ${name} --wait`;
  return `use it with kubenode cluster kubeconfig ${name} --wait, delete it with kubenode cluster delete ${name}, or choose another name`;
}
