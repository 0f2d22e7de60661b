/** Notes of `kubenode plan` about authorities of hosted control planes that a commit rotates: steps, outage, and how it is taken back. Pure. */
import { textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { orderText, podRotationText } from './pod-notes.ts';

interface Rotation {
  readonly id: string;
  readonly target: string;
}

/** A restart of the one API server takes 3.2 s on two idle cores. */
const OUTAGE = 'its one API server does not answer for 3 to 10 s each time (3.2 s on two idle cores)';
const ETCD_OUTAGE = 'etcd has one member, and nothing is served while that is started again';

/** `before` is the Cluster with its status, or that of the former commit. */
export function rotationNotes(before: KubeObject, after: KubeObject): readonly string[] {
  const [from, to] = [before, after].map(rotationOf);
  if (isSame(from, to)) return [];
  // While a rotation is in work, the number of API servers stays as it is; before it begins, it is changed.
  const outage = outageText(rotationInStatus(before) === undefined ? after : before);
  const back = from && from.id !== to?.id ? returnNotes(before, from, outage) : [];
  return [...back, ...(to ? targetNotes(from, to, outage) : [])];
}

function isSame(from: Rotation | undefined, to: Rotation | undefined): boolean {
  return from?.id === to?.id && from?.target === to?.target;
}

function outageText(cluster: KubeObject): string {
  const [servers, members] = ['replicas', 'etcd.replicas'].map((field) =>
    Number(valueAt(cluster, 'spec', 'hosted', ...field.split('.')) ?? 1),
  );
  const etcd = members === 1 ? `; ${ETCD_OUTAGE}` : ': no outage is expected';
  if (textAt(cluster, 'spec', 'hosted', 'driver') === 'workload') return podRotationText(servers ?? 1, etcd);
  return servers === undefined || servers === 1 ? OUTAGE : `${orderText(servers)}${etcd}`;
}

function targetNotes(from: Rotation | undefined, to: Rotation, outage: string): readonly string[] {
  return to.target === 'Complete' ? completeNotes(from, to, outage) : prepareNotes(from, to, outage);
}

function prepareNotes(from: Rotation | undefined, { id }: Rotation, outage: string): readonly string[] {
  const isPutOff = from?.id === id;
  if (isPutOff) return [`the rotation ${id} of its authorities is not completed yet: both stay trusted`];
  return [
    `its authorities are rotated (${id}): TrustBoth, IssueNew; each member is started again twice, one at a time, and ${outage}`,
    'until Complete a commit without spec.hosted.pki.caRotation takes the rotation back; it is refused while the cluster has Nodes or agents that cannot follow',
  ];
}

function completeNotes(from: Rotation | undefined, { id }: Rotation, outage: string): readonly string[] {
  const problem = `the rotation ${id} of its authorities was not prepared, so that nothing is done: set target Prepare first`;
  if (!from) return [problem];
  return [
    `the rotation ${id} of its authorities is completed when every client has moved: ServeNew, TrustNew; each member is started again once, one at a time, and ${outage}`,
    'nothing takes it back: what only the former authorities issued is refused after it',
    'pods whose client reads its CA only once (client-go before 0.36) have to be started again before it',
  ];
}

function returnNotes(before: KubeObject, { id }: Rotation, outage: string): readonly string[] {
  const step = textAt(before, 'status', 'hosted', 'caRotation', 'step');
  const about = `the rotation ${id} of its authorities is`;
  if (step === 'Completed' || step === 'Idle') return [];
  return step === 'Completing'
    ? [`${about} completing: it is taken back unless only the new ones are trusted already`]
    : [`${about} taken back: each member is started again up to twice, and ${outage}`];
}

/** Returns the ID of the rotation that is neither completed nor taken back, as the status has it. */
export function rotationInStatus(before: KubeObject): string | undefined {
  const found = valueAt(before, 'status', 'hosted', 'caRotation');
  const step = textAt(found, 'step');
  return step === undefined || step === 'Completed' || step === 'Idle' ? undefined : textAt(found, 'id');
}

function rotationOf(cluster: KubeObject): Rotation | undefined {
  const found = valueAt(cluster, 'spec', 'hosted', 'pki', 'caRotation');
  const [id, target] = [textAt(found, 'id'), textAt(found, 'target')];
  return id === undefined || target === undefined ? undefined : { id, target };
}
