/**
 * Permissions of sync without further roles. For other kinds in git, add a ClusterRole with the label
 * `kubenode.dev/aggregate-to-sync: "true"`. See docs/decisions/0005-permissions-of-sync.md.
 */
import { GROUP } from '../names.ts';
import { may, type PolicyRule, READ, WRITE } from './rbac.ts';

const OWN = [
  'clusters',
  'pipelines',
  'machines',
  'machinesets',
  'machinecomponents',
  'machinecomponentsets',
  'noderemediers',
  'defenderpolicies',
  'fleetpolicies',
];

const ALL = [...READ, ...WRITE];

export const syncBase: readonly PolicyRule[] = [
  may(READ, GROUP, ['*']),
  may(WRITE, GROUP, [...OWN, 'releases', 'fleetallowances']),
  may(['update', 'patch'], GROUP, [
    'clusters/status',
    'pipelines/status',
    'releases/status',
    'fleetpolicies/status',
  ]),
  may(READ, '', ['nodes']), // health of a cluster
  may(READ, 'coordination.k8s.io', ['leases']), // heartbeats of agents
  may(['list'], '', ['pods']), // those that block a disruption: `kubenode plan` asks the Defender with them
  may(ALL, 'apiextensions.k8s.io', ['customresourcedefinitions']),
  may(ALL, '', ['namespaces', 'configmaps', 'services', 'serviceaccounts', 'persistentvolumeclaims']),
  may(ALL, '', ['limitranges', 'resourcequotas']),
  may(ALL, 'apps', ['deployments', 'daemonsets', 'statefulsets']),
  may(ALL, 'batch', ['jobs', 'cronjobs']),
  may(ALL, 'autoscaling', ['horizontalpodautoscalers']),
  may(ALL, 'networking.k8s.io', ['ingresses', 'ingressclasses', 'networkpolicies']),
  may(ALL, 'policy', ['poddisruptionbudgets']),
  may(ALL, 'scheduling.k8s.io', ['priorityclasses']),
  may(ALL, 'node.k8s.io', ['runtimeclasses']),
  may(ALL, 'storage.k8s.io', ['storageclasses']),
  // RBAC never allows writing or binding a role with more permissions than the user has.
  may(ALL, 'rbac.authorization.k8s.io', ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings']),
];

/** Secrets in this namespace only: kubeconfigs of clusters, and tokens and keys of repositories. Watched, so that changes apply at once. */
export const syncSystem: readonly PolicyRule[] = [
  may(['get', 'list', 'watch'], '', ['secrets']),
  may(WRITE, 'coordination.k8s.io', ['leases']), // cluster Leases: their holder may sync
];
