/**
 * Watches the KubeadmConfigs of Cluster API while the API server serves them, for the update extension. Of each it keeps the digests of its files:
 * contents and the tokens with which machines join are not kept in memory.
 */
import { createOptionalViews, type KindLists } from '../../../../kube/cache/optional-views.ts';
import { isRecord } from '../../../../kube/objects/json.ts';
import { type KubeObject, keptMetadata } from '../../../../kube/objects/object.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { isUnreadable, type Unreadable } from '../../owner.ts';
import {
  ANNOTATION_UPDATING,
  BOOTSTRAP_PROVIDER_GROUP,
  CLUSTER_API_VERSIONS,
  type ForeignConfig,
  KUBEADM_CONFIG,
} from '../contract.ts';
import { bootstrapFiles } from '../extension/files/kubeadm-files.ts';
import { type FileDigests, fileDigests } from '../extension/files/record.ts';
import type { ForeignSourceOptions } from './foreign-source.ts';

export interface ConfigSource {
  /** Watches until the returned function is called. */
  open(changed: () => void): () => void;
  /** Undefined: they cannot be read now, or not yet. */
  read(): readonly ForeignConfig[] | undefined;
}

const PLURAL = 'kubeadmconfigs';
const NOT_SERVED = `the API server does not serve ${KUBEADM_CONFIG}s of ${BOOTSTRAP_PROVIDER_GROUP}`;

export function createConfigSource(options: ForeignSourceOptions): ConfigSource {
  const { log, cluster } = options;
  const views = createOptionalViews({
    ...options,
    ...optional('namespace', cluster?.namespace),
    versions: CLUSTER_API_VERSIONS.map((version) => [
      { group: BOOTSTRAP_PROVIDER_GROUP, version, kind: KUBEADM_CONFIG, plural: PLURAL, namespaced: true },
    ]),
    transform: trimConfig,
    owner: 'Cluster API',
    notServed: NOT_SERVED,
    forbiddenHint: 'Run kubenode install with --update-extension',
    found: (version) => log.info('kubeadm configs of cluster api found', { version }),
    failed: (error) => log.warn('kubeadm configs of cluster api were not looked for', { error }),
  });
  let unreadable: string | undefined;
  return {
    open: (changed) => views.open(changed),
    read: () => {
      const found = views.read();
      const because = found && isUnreadable(found) ? found.unreadable : undefined;
      if (because !== unreadable) report(because);
      unreadable = because;
      return found && configsIn(found);
    },
  };

  function report(because: string | undefined): void {
    if (because === undefined) return;
    // Clusters with another bootstrap provider do not have them.
    const level = because === NOT_SERVED ? 'info' : 'warn';
    log[level]('kubeadm configs of cluster api are not read', { because });
  }
}

function configsIn(found: KindLists | Unreadable): readonly ForeignConfig[] | undefined {
  return isUnreadable(found) ? undefined : (found[0] ?? []).map(foreignConfig);
}

/** Returns the parts of an object that are kept in memory: the digests are in the place of the files. */
export function trimConfig({ apiVersion, kind, metadata, ...object }: KubeObject): KubeObject {
  const updating = metadata.annotations?.[ANNOTATION_UPDATING];
  return {
    apiVersion,
    kind,
    metadata: {
      ...keptMetadata(metadata),
      ...optional('annotations', updating === undefined ? undefined : { [ANNOTATION_UPDATING]: updating }),
    },
    digests: fileDigests(bootstrapFiles(object['spec'])),
  };
}

function foreignConfig({ metadata, ...object }: KubeObject): ForeignConfig {
  const digests = object['digests'];
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    isUpdating: metadata.annotations?.[ANNOTATION_UPDATING] !== undefined,
    files: (isRecord(digests) ? digests : {}) as FileDigests,
  };
}
