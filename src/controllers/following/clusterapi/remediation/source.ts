/** Watches the requests of health checks while the API server serves their kind, which only `kubenode install --cluster-api` installs. */
import { KUBENODE_REMEDIATIONS, type KubenodeRemediation } from '../../../../api/clusterapi/remediation.ts';
import { createOptionalViews } from '../../../../kube/cache/optional-views.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import { LABEL_CLUSTER_NAME } from '../contract.ts';
import type { ForeignSourceOptions } from '../observe/foreign-source.ts';

export interface RemediationSource {
  /** Watches until the returned function is called. `changed` is called after each change of what `read` returns. */
  open(changed: () => void): () => void;
  /** Undefined: they are being listed for the first time. */
  read(): readonly KubenodeRemediation[] | { readonly unreadable: string } | undefined;
}

const INSTALL = 'Run kubenode install --cluster-api';

export function createRemediationSource(options: ForeignSourceOptions): RemediationSource {
  const { log, cluster } = options;
  const { kind, group } = KUBENODE_REMEDIATIONS;
  const views = createOptionalViews({
    ...options,
    ...optional('namespace', cluster?.namespace),
    versions: [[KUBENODE_REMEDIATIONS]],
    owner: group,
    notServed: `the API server does not serve ${kind}s of ${group}. ${INSTALL}`,
    forbiddenHint: INSTALL,
    found: (version) => log.info('remediation kinds found', { version }),
    failed: (error) => log.warn('remediation kinds were not looked for', { error }),
  });
  return {
    open: (changed) => views.open(changed),
    read: () => {
      const found = views.read();
      if (found === undefined || 'unreadable' in found) return found;
      // The view of this kind holds objects of its type.
      const requests = (found[0] ?? []) as readonly KubenodeRemediation[];
      // A request for another cluster would count as one for a machine that is not followed, and be handed back.
      return requests.filter(
        ({ metadata }) => !cluster || metadata.labels?.[LABEL_CLUSTER_NAME] === cluster.name,
      );
    },
  };
}
