/** Notes of `kubenode plan` about where other machines reach a hosted control plane of processes. Pure. */
import { outsideText } from '../../controllers/hosting/plan/exposure/outside.ts';
import { textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

const DEFAULT_PORT = 6443;
const LISTENS = 'gateways listen on all addresses of the machine that hosts it';
const NO_OUTAGE = 'its members go on, and only our own controllers are started again';

/** `before` is the Cluster with its status, or that of the former commit. */
export function exposureNotes(before: KubeObject, after: KubeObject): readonly string[] {
  const [from, to] = [before, after].map(addressOf);
  if (from === to) return [];
  const loss = lossText(before);
  if (to === undefined) return [`other machines reach its API server at ${from} no more: ${loss}`];
  if (from === undefined) return [`other machines reach its API server at ${to}: ${LISTENS}; ${NO_OUTAGE}`];
  return [`other machines reach its API server at ${to}, and not at ${from}: ${NO_OUTAGE}; ${loss}`];
}

/** Agents and kubelets have the address in their files. */
function lossText(before: KubeObject): string {
  const total = valueAt(before, 'status', 'machines', 'total');
  const machines = typeof total === 'number' ? `, of ${total} Machines that it has,` : '';
  return `machines that joined with the former address${machines} lose their API server, and join again with another one`;
}

function addressOf(cluster: KubeObject): string | undefined {
  const [host, port] = ['host', 'port'].map((name) => valueAt(cluster, 'spec', 'hosted', 'exposure', name));
  if (textAt(cluster, 'spec', 'hosted', 'driver') !== 'process' || typeof host !== 'string') return undefined;
  return outsideText({ host: host.toLowerCase(), port: typeof port === 'number' ? port : DEFAULT_PORT });
}
