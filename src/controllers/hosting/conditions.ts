/** Finds the conditions of a hosted control plane. Pure. */
import type { ConditionUpdate } from '../../kube/objects/conditions.ts';
import { MEMBERS } from './drivers/driver.ts';
import type { HostingInput, HostingWait, Upgrade } from './plan/input.ts';
import { memberReport } from './plan/members.ts';
import { targetProblem } from './plan/upgrade/target.ts';

export function hostingConditions(
  input: HostingInput,
  wait: HostingWait | undefined,
): readonly ConditionUpdate[] {
  return [ready(input, wait), upToDate(input), etcdReady(input), certificatesValid(input), stalled(wait)];
}

/** Finds the conditions of a control plane that cannot be observed; the others stay as they were. */
export function unobservedConditions(wait: HostingWait): readonly ConditionUpdate[] {
  const { reason, message } = wait;
  return [{ type: 'ControlPlaneReady', status: 'Unknown', reason, message }, stalled(wait)];
}

/** Whether everything answers that a new cluster needs to carry a machine to Ready. */
export function isPlaneReady({ plane, inside, secret, cluster }: HostingInput): boolean {
  return (
    cluster.metadata.deletionTimestamp === undefined &&
    plane.members.every(({ state }) => state === 'Ready') &&
    inside?.isInstalled === true &&
    inside.controllersLead &&
    secret === 'Current'
  );
}

function ready(input: HostingInput, wait: HostingWait | undefined): ConditionUpdate {
  const type = 'ControlPlaneReady';
  if (isPlaneReady(input)) {
    const message = 'the API server answers, our controllers lead, and sync has a kubeconfig';
    return { type, status: 'True', reason: 'Ready', message };
  }
  if (input.cluster.metadata.deletionTimestamp !== undefined) {
    const message = wait?.message ?? 'the control plane is being removed';
    return { type, status: 'False', reason: 'Destroying', message };
  }
  const { reason = 'Creating', message = 'its next step is under way' } = wait ?? {};
  return { type, status: 'False', reason, message };
}

function upToDate(input: HostingInput): ConditionUpdate {
  const type = 'ControlPlaneUpToDate';
  const { plane, cluster } = input;
  const upgrade = cluster.status?.hosted?.upgrade;
  if (!plane.isPrepared) {
    return { type, status: 'Unknown', reason: 'NotCreated', message: 'there is no control plane yet' };
  }
  if (upgrade) return { type, status: 'False', reason: 'Upgrading', message: upgradeText(upgrade) };
  if (plane.differences.length === 0) {
    return { type, status: 'True', reason: 'AsWanted', message: 'it runs with the settings of its spec' };
  }
  const { reason, message } = targetProblem(input) ?? {
    reason: 'ChangePending',
    message: `the change begins when every member answers (${plane.differences.join('; ')})`,
  };
  return { type, status: 'False', reason, message };
}

function upgradeText({ from, to, step }: Upgrade): string {
  return `${from === to ? 'its flags and settings' : `${from} to ${to}`}: step ${step}`;
}

function etcdReady(input: HostingInput): ConditionUpdate {
  const type = 'EtcdReady';
  const etcd = memberReport(input, 'etcd');
  if (etcd?.state === 'Ready') {
    return { type, status: 'True', reason: 'Ready', message: '1 of 1 members answers' };
  }
  const message = etcd?.state === 'Starting' ? 'etcd runs and does not answer' : 'etcd does not run';
  return { type, status: 'False', reason: 'NotReady', message };
}

/** By the serials that a client sees: a file that was renewed proves nothing. */
function certificatesValid({ plane, now }: HostingInput): ConditionUpdate {
  const type = 'CertificatesValid';
  const served = plane.members.flatMap(({ member, certificate }) =>
    certificate ? [{ member, ...certificate }] : [],
  );
  if (served.length === 0) {
    return { type, status: 'Unknown', reason: 'NotServed', message: 'no member serves a certificate' };
  }
  const ended = served.find(({ notAfter }) => notAfter <= now);
  if (ended) {
    const message = `the certificate of ${ended.member} ended at ${ended.notAfter.toISOString()}`;
    return { type, status: 'False', reason: 'Expired', message };
  }
  const old = served.find(({ serial, expectedSerial }) => serial !== expectedSerial);
  if (old) {
    const message = `${old.member} does not serve the certificate in its file: it was renewed, or edited by hand`;
    return { type, status: 'False', reason: 'OldCertificateServed', message };
  }
  const missing = MEMBERS.length - 1 - served.length;
  const message = `a client sees the certificates of ${served.length} members${missing > 0 ? `; ${missing} do not answer` : ''}`;
  return { type, status: 'True', reason: 'SeenOnTheWire', message };
}

function stalled(wait: HostingWait | undefined): ConditionUpdate {
  const type = 'ControlPlaneStalled';
  if (wait?.isStalled !== true) {
    return { type, status: 'False', reason: 'NotStalled', message: 'no person is needed' };
  }
  return { type, status: 'True', reason: wait.reason, message: `${wait.blocker.name}: ${wait.message}` };
}
