/** Finds the folder of a hosted control plane by what hosting recorded in the status of its Cluster. Pure. */
import { dirname } from 'node:path';
import type { Cluster } from '../../../../api/generated/types.ts';
import { kubeconfigSecret, NAMESPACE } from '../../../../api/names.ts';
import { CliError, EXIT } from '../../../errors.ts';

/** Returns the folder that `kubenode hosting --dir` has on this machine. Throws when the control plane is on another one. */
export function localFolder(cluster: Cluster, machine: string): string {
  const { name } = cluster.metadata;
  if (!cluster.spec.hosted) {
    throw new CliError(`Cluster ${name} is not hosted: the hub only syncs it`, {
      hint: 'use the kubeconfig of that cluster',
      exitCode: EXIT.badInput,
    });
  }
  if (cluster.spec.hosted.driver === 'workload') throw inHubError(name);
  const location = cluster.status?.hosted?.location;
  if (location === undefined) {
    throw new CliError(`no hosting has created the control plane of Cluster ${name} yet`, {
      hint: `wait for it: kubenode cluster kubeconfig ${name} --wait`,
      exitCode: EXIT.unavailable,
    });
  }
  const at = location.indexOf(':');
  const [host, folder] = [location.slice(0, at), location.slice(at + 1)];
  if (host === machine) return dirname(dirname(folder));
  throw new CliError(`the control plane of Cluster ${name} is on another machine: ${host}`, {
    hint: `run the command on ${host}`,
    exitCode: EXIT.unavailable,
  });
}

/** Everything of it is in the hub, and nothing on a machine. */
function inHubError(name: string): CliError {
  return new CliError(`the control plane of Cluster ${name} is pods in namespace kn-${name} of the hub`, {
    hint: `its kubeconfig for sync: kubectl -n ${NAMESPACE} get secret ${kubeconfigSecret(name)} -o jsonpath='{.data.kubeconfig}'`,
    exitCode: EXIT.badInput,
  });
}
