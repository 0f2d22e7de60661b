/** Notes of `kubenode plan` about authorities of hosted control planes that a commit rotates: steps, outage, and how it is taken back. Pure. */
import { textAt, valueAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';

interface Rotation {
  readonly id: string;
  readonly target: string;
}

/** A restart of the one API server takes 3.2 s on two idle cores. */
const OUTAGE = 'its one API server does not answer for 3 to 10 s each time (3.2 s on two idle cores)';

/** `before` is the Cluster with its status, or that of the former commit. */
export function rotationNotes(before: KubeObject, after: KubeObject): readonly string[] {
  const [from, to] = [before, after].map(rotationOf);
  if (isSame(from, to)) return [];
  const back = from && from.id !== to?.id ? returnNotes(before, from) : [];
  return [...back, ...(to ? targetNotes(from, to) : [])];
}

function isSame(from: Rotation | undefined, to: Rotation | undefined): boolean {
  return from?.id === to?.id && from?.target === to?.target;
}

function targetNotes(from: Rotation | undefined, to: Rotation): readonly string[] {
  return to.target === 'Complete' ? completeNotes(from, to) : prepareNotes(from, to);
}

function prepareNotes(from: Rotation | undefined, { id }: Rotation): readonly string[] {
  const isPutOff = from?.id === id;
  if (isPutOff) return [`the rotation ${id} of its authorities is not completed yet: both stay trusted`];
  return [
    `its authorities are rotated (${id}): TrustBoth, IssueNew; each member is started again twice, one at a time, and ${OUTAGE}`,
    'until Complete a commit without spec.hosted.pki.caRotation takes the rotation back; it is refused while the cluster has Machines or Nodes',
  ];
}

function completeNotes(from: Rotation | undefined, { id }: Rotation): readonly string[] {
  const problem = `the rotation ${id} of its authorities was not prepared, so that nothing is done: set target Prepare first`;
  if (!from) return [problem];
  return [
    `the rotation ${id} of its authorities is completed when every client has moved: ServeNew, TrustNew; each member is started again once, one at a time, and ${OUTAGE}`,
    'nothing takes it back: what only the former authorities issued is refused after it',
  ];
}

function returnNotes(before: KubeObject, { id }: Rotation): readonly string[] {
  const step = textAt(before, 'status', 'hosted', 'caRotation', 'step');
  const about = `the rotation ${id} of its authorities is`;
  if (step === 'Completed' || step === 'Idle') return [];
  return step === 'Completing'
    ? [`${about} completing: it is taken back unless only the new ones are trusted already`]
    : [`${about} taken back: each member is started again up to twice, and ${OUTAGE}`];
}

function rotationOf(cluster: KubeObject): Rotation | undefined {
  const found = valueAt(cluster, 'spec', 'hosted', 'pki', 'caRotation');
  const [id, target] = [textAt(found, 'id'), textAt(found, 'target')];
  return id === undefined || target === undefined ? undefined : { id, target };
}
