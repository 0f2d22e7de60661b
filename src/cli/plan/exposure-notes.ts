/** Notes of `kubenode plan` about where other machines reach a hosted control plane of processes. Pure. */
import { isEndpoint } from '../../controllers/hosting/plan/exposure/endpoint.ts';
import { hostReason, outsideText } from '../../controllers/hosting/plan/exposure/outside.ts';
import { textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

const DEFAULT_PORT = 6443;
const LISTENS = 'gateways listen on all addresses of the machine that hosts it';
const NO_ENDPOINT =
  'the Service kubernetes has no endpoint, which only an address of IPv4 can be: pods need the address in their manifest';
const NO_OUTAGE = 'its members go on, and only our own controllers are started again';

/** `before` is the Cluster with its status, or that of the former commit. */
export function exposureNotes(before: KubeObject, after: KubeObject): readonly string[] {
  const notes = addressNotes(before, after);
  const to = addressOf(after);
  if (notes.length === 0 || !to) return notes;
  return [
    ...notes,
    isEndpoint(to.host) ? `the Service kubernetes has the endpoint ${to.host}:${to.port}` : NO_ENDPOINT,
  ];
}

function addressNotes(before: KubeObject, after: KubeObject): readonly string[] {
  const refused = refusedText(after);
  if (refused !== undefined) return refused === refusedText(before) ? [] : [refused];
  const [from, to] = [before, after].map(addressOf);
  const [former, next] = [from, to].map(outsideText);
  if (former === next) return [];
  const machines = machinesText(before);
  const reached = `other machines reach its API server at ${next}`;
  if (!to) {
    return [
      `other machines reach its API server at ${former} no more: ${machines} lose their API server, and join again with another one`,
    ];
  }
  if (!from) return [`${reached}: ${LISTENS}; ${NO_OUTAGE}`];
  if (from.port === to.port) {
    return [
      `${reached}: ${NO_OUTAGE}; ${former} works until its certificate is renewed: ${machines} join again before that`,
    ];
  }
  return [
    `${reached}, and not at ${former}: ${NO_OUTAGE}; every connection of other machines ends, and ${machines} join again with another one`,
  ];
}

/** Agents and kubelets have the address in their files. */
function machinesText(before: KubeObject): string {
  const total = valueAt(before, 'status', 'machines', 'total');
  const machines = typeof total === 'number' ? `, of ${total} Machines that it has,` : '';
  return `machines that joined with the former address${machines}`;
}

function hostOf(cluster: KubeObject): string | undefined {
  const host = valueAt(cluster, 'spec', 'hosted', 'exposure', 'host');
  const isOfProcesses = textAt(cluster, 'spec', 'hosted', 'driver') === 'process';
  return isOfProcesses && typeof host === 'string' ? host : undefined;
}

function refusedText(cluster: KubeObject): string | undefined {
  const host = hostOf(cluster);
  const reason = host === undefined ? undefined : hostReason(host);
  if (reason === undefined) return undefined;
  return `spec.hosted.exposure.host ${JSON.stringify(host)} is refused, so that the address for other machines stays as it is: ${reason}`;
}

function addressOf(cluster: KubeObject): { readonly host: string; readonly port: number } | undefined {
  const host = hostOf(cluster);
  if (host === undefined || hostReason(host) !== undefined) return undefined;
  const port = valueAt(cluster, 'spec', 'hosted', 'exposure', 'port');
  return { host: host.toLowerCase(), port: typeof port === 'number' ? port : DEFAULT_PORT };
}
