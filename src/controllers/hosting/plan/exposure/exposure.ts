/** Plans how a control plane of processes is reached by other machines, or no more: by gateways, while its members go on. Pure. */
import { isApiServer, isGateway, OWN_CONTROLLERS, type PlaneMember } from '../../drivers/driver.ts';
import type { HostingAct, HostingDecision, HostingInput, HostingWait, OutsideSubject } from '../input.ts';
import { disruptive, planStart } from '../members.ts';
import { namesOf } from '../names.ts';
import { hostingProblems } from '../problems.ts';
import { rotationInWork } from '../rotation/state.ts';
import { wait, withHint } from '../wait.ts';
import { outsideOf, outsideText, refusedHost } from './outside.ts';

type Compared = Pick<HostingInput, 'plane' | 'hosted'>;

/** Returns what differs: `exposure is loopback only, not https://ci.example.com:6443`. Undefined: nothing. */
export function exposureDifference({ plane, hosted }: Compared): string | undefined {
  if (!plane.isPrepared) return undefined;
  // It counts as no host, and must not look as if the exposure were to be removed.
  if (refusedHost(hosted)) return `exposure.host ${hosted.exposure.host} is refused`;
  const [is, should] = [plane.outside, outsideOf(hosted)].map(outsideText);
  return is === should ? undefined : `exposure is ${is}, not ${should}`;
}

/** Plans a change. A member that has ended is started first. `isClosed`: a window or a freeze holds it. */
export function planExposure(input: HostingInput, isClosed: boolean): HostingDecision | undefined {
  const difference = exposureDifference(input);
  if (isClosed || !isExposureDue(input)) return undefined;
  const outside = outsideOf(input.hosted);
  if (isStartDue(input) || (outside && !isNameServed(input))) return undefined;
  const because = `the spec differs: ${difference}${usersText(input)}`;
  return { act: { type: 'SetOutside', outside, because } };
}

/** Tells whether a change is to begin as soon as every member answers and serves the name. */
export function isExposureDue(input: HostingInput): boolean {
  return exposureDifference(input) !== undefined && !isHeld(input) && !exposureHeld(input);
}

/** Returns why a change that is due does not begin: it was refused just now, or a person halts everything. Nothing else waits for it. */
export function exposureHeld(input: HostingInput): HostingWait | undefined {
  if (exposureDifference(input) === undefined || isHeld(input)) return undefined;
  const act: HostingAct = { type: 'SetOutside', outside: outsideOf(input.hosted), because: '' };
  return input.refused?.get('exposure') ?? disruptive(input, act).wait;
}

/** Returns what a change waits for while every member answers. */
export function exposureWait(input: HostingInput): HostingWait | undefined {
  const difference = exposureDifference(input);
  if (difference === undefined) return undefined;
  const about = ['Cluster', input.cluster.metadata.name] as const;
  const [problem] = hostingProblems(input.cluster, input.hosted);
  if (problem !== undefined) return wait('NotSupported', problem, about, 'stalled');
  return exposureHeld(input) ?? nameWait(input, difference);
}

function nameWait(input: HostingInput, difference: string): HostingWait | undefined {
  const { cluster, hosted, plane } = input;
  const areReady = plane.members.every(({ member, state }) => isChangedWithIt(member) || state === 'Ready');
  if (isHeld(input) || !outsideOf(hosted) || !areReady || isNameServed(input)) return undefined;
  const message = `${difference}: it is changed when every API server serves a certificate with that name`;
  return wait('CertificateNotServed', message, ['Cluster', cluster.metadata.name]);
}

/** Returns what the act is about, if only other machines need it. */
export function outsideSubject(act: HostingAct): OutsideSubject | undefined {
  if (act.type === 'SetOutside') return 'exposure';
  if (act.type === 'PublishEndpoint') return 'endpoint';
  return 'member' in act && isGateway(act.member) ? act.member : undefined;
}

function isHeld(input: HostingInput): boolean {
  const { cluster, hosted } = input;
  const isChanging = cluster.status?.hosted?.upgrade !== undefined;
  return isChanging || rotationInWork(input) !== undefined || hostingProblems(cluster, hosted).length > 0;
}

/** A name with which our own controllers do not start must not keep a better one from its record. */
function isChangedWithIt(member: PlaneMember): boolean {
  return isGateway(member) || member === OWN_CONTROLLERS;
}

function isStartDue(input: HostingInput): boolean {
  const start = planStart(input)?.act;
  return start !== undefined && 'member' in start && !isChangedWithIt(start.member);
}

/** Clients get the new name when every API server has proven that it serves a certificate with it. */
function isNameServed({ plane }: HostingInput): boolean {
  const isDue = plane.certificates.some(({ name, due }) => name === SERVER_CERTIFICATE && due !== undefined);
  return (
    !isDue &&
    plane.members.every(({ member, state, certificate }) => {
      if (isChangedWithIt(member)) return true;
      if (state !== 'Ready') return false;
      return !isApiServer(member) || certificate?.serial === certificate?.expectedSerial;
    })
  );
}

const SERVER_CERTIFICATE = 'apiserver';

/** Machines that use the former address do not learn of another one by themselves. */
function usersText({ plane, inside }: HostingInput): string {
  const machines = inside?.machines ?? [];
  if (!plane.outside || machines.length === 0) return '';
  return `; Machines that may use ${outsideText(plane.outside)}: ${namesOf(machines)}`;
}

/** Returns why the exposure stays as it is while a rotation is in work: every member is started again in its order, and asked for proof. */
export function exposureInRotation(input: HostingInput): HostingWait | undefined {
  const rotation = rotationInWork(input);
  const difference = exposureDifference(input);
  if (!rotation || difference === undefined) return undefined;
  const message = `${difference}: the exposure is changed when the rotation ${rotation.id} of the authorities is over`;
  const hint = 'complete it, or remove spec.hosted.pki.caRotation to take it back';
  return wait('RotationInWork', withHint(message, hint), ['Cluster', input.cluster.metadata.name]);
}
