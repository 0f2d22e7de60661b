/** Watches the NodeClaims of Karpenter while the API server serves them. */
import {
  createOptionalViews,
  type KindLists,
  type OptionalViewsOptions,
} from '../../../kube/cache/optional-views.ts';
import { type FollowSource, isUnreadable } from '../owner.ts';
import { NODE_CLAIMS, type NodeClaim, nodeClaim, trimNodeClaim } from './contract.ts';

export type ClaimSourceOptions = Pick<
  OptionalViewsOptions,
  'client' | 'clock' | 'log' | 'random' | 'metrics'
>;

const NOT_SERVED = `the API server does not serve NodeClaims of ${NODE_CLAIMS.group}/${NODE_CLAIMS.version}. Install Karpenter, or start without --external-nodes`;

export function createClaimSource(options: ClaimSourceOptions): FollowSource<NodeClaim> {
  const { log } = options;
  const views = createOptionalViews({
    ...options,
    versions: [[NODE_CLAIMS]],
    transform: trimNodeClaim,
    owner: 'Karpenter',
    notServed: NOT_SERVED,
    forbiddenHint: 'Run kubenode install --external-nodes',
    found: (version) => log.info('karpenter found', { version }),
    failed: (error) => log.warn('karpenter was not looked for', { error }),
  });
  return {
    open: (changed) => views.open(changed),
    read: () => {
      const found = views.read();
      return found && (isUnreadable(found) ? found : claimsOf(found));
    },
    list: async (signal) => claimsOf(await views.list(signal)),
  };
}

function claimsOf([claims = []]: KindLists): readonly NodeClaim[] {
  return claims.map(nodeClaim);
}
