/**
 * Plans the next step of a rotation of authorities. In each phase the files are written first, then the members are started again one by one, and
 * the next phase begins when a client sees on the wire what each member trusts and serves. Pure.
 */
import type { RotationPhase, RotationReport, RotationStep } from '../../drivers/rotation.ts';
import { countDifference } from '../api-servers/count.ts';
import { unreachedWait } from '../api-servers/serving.ts';
import { isExposureDue } from '../exposure/exposure.ts';
import type { HostingDecision, HostingInput } from '../input.ts';
import { disruptive, waitForMembers } from '../members.ts';
import { gateWait } from '../upgrade/members.ts';
import {
  beginHeld,
  clientsBehind,
  completionHeld,
  isRotationAsked,
  returnHeld,
  rotationHeld,
} from './held.ts';
import { planPublication } from './publish.ts';
import { planFormerBalancer, planRestart, unprovenWait } from './restart.ts';
import { isAborting, isPhaseReached, isRotationMoving, rotationInWork, unprovenMembers } from './state.ts';

/** Undefined: none is asked for, or it waits for something else than the control plane. */
export function planRotation(input: HostingInput): HostingDecision | undefined {
  if (input.cluster.status?.hosted?.upgrade) return undefined;
  const rotation = rotationInWork(input);
  return rotation ? planPhase(input, rotation) : (planFormerBalancer(input) ?? planBegin(input));
}

function planPhase(input: HostingInput, rotation: RotationReport): HostingDecision | undefined {
  const begun = planEnd(input, rotation) ?? planFiles(input, rotation);
  // Another version installs its kinds first: our controllers do not start without them, and nothing is published.
  if (begun || input.inside?.isInstalled === false) return begun;
  return (
    planRestart(input, rotation) ??
    planProof(input, rotation) ??
    // Before the next phase: an agent that follows the one before would count as one that has moved.
    planPublication(input) ??
    planNext(input, rotation)
  );
}

/**
 * Plans the return to the former authorities, also while members do not answer: the new authorities may be why. It needs nothing to be proven, because every member
 * trusts both when the new ones issue.
 */
export function planReturn(input: HostingInput): HostingDecision | undefined {
  const rotation = rotationInWork(input);
  if (!rotation || !isAborting(input, rotation)) return undefined;
  const because = 'the spec does not ask for this rotation any more';
  if (isIssuing(rotation)) return advance(input, rotation, 'TrustBoth', because);
  const isUnused = rotation.phase === 'TrustBoth' && !rotation.hasIssued;
  return isUnused ? advance(input, rotation, 'TrustOld', because) : undefined;
}

function isIssuing({ phase }: RotationReport): boolean {
  return phase === 'IssueNew' || phase === 'ServeNew';
}

function planBegin(input: HostingInput): HostingDecision | undefined {
  const { caRotation } = input.hosted.pki;
  if (!caRotation || !isRotationAsked(input) || !isHealthy(input) || beginHeld(input)) return undefined;
  // The number of API servers comes first: a rotation counts those that were started again in its phase.
  if (countDifference(input) !== undefined) return undefined;
  // So does the exposure, which a rotation holds until it is over.
  if (isExposureDue(input)) return undefined;
  const because = `spec.hosted.pki.caRotation asks for the rotation ${caRotation.id}`;
  return rotate(input, { id: caRotation.id, phase: 'TrustBoth' }, because);
}

/** Tells whether the control plane was handed over, so that sync and our own controllers have their kubeconfigs. */
function isHealthy(input: HostingInput): boolean {
  const { inside, secret, cluster } = input;
  const wasReady = cluster.status?.hosted?.readyAt !== undefined;
  const isInstalled = inside?.isInstalled === true && inside.controllersLead;
  return wasReady && secret === 'Current' && isInstalled && !waitForMembers(input);
}

function planEnd(input: HostingInput, rotation: RotationReport): HostingDecision | undefined {
  if (!rotation.isEnding) return undefined;
  return advance(
    input,
    rotation,
    rotation.phase === 'TrustOld' ? 'Aborted' : 'Completed',
    'its end was begun',
  );
}

function planFiles(
  input: HostingInput,
  { id, phase, isApplied }: RotationReport,
): HostingDecision | undefined {
  if (isApplied) return undefined;
  return rotate(input, { id, phase }, 'its files were not all written');
}

function planProof(input: HostingInput, rotation: RotationReport): HostingDecision | undefined {
  // The canary writes objects, so that one that waits for its clients asks for none.
  const gate = isRotationMoving(input) ? gateWait(input) : waitForMembers(input);
  const held = gate ?? unprovenWait(rotation, unprovenMembers(input, rotation)) ?? unreachedWait(input);
  return held && { wait: held };
}

function planNext(input: HostingInput, rotation: RotationReport): HostingDecision | undefined {
  const { inside, secret } = input;
  // Later steps write the Secret of sync, and wait for our own controllers.
  if (secret !== 'Current' || inside?.controllersLead !== true) return undefined;
  return isPhaseReached(input, rotation) ? NEXT[rotation.phase](input, rotation) : undefined;
}

type Next = (input: HostingInput, rotation: RotationReport) => HostingDecision | undefined;

const REACHED = 'a client sees it at every member';
const EVERY_CLIENT = 'every client has what the new authorities issue';

const NEXT: Readonly<Record<RotationPhase, Next>> = {
  TrustBoth: (input, rotation) => {
    if (isAborting(input, rotation)) {
      return returnHeld(input, rotation) ? undefined : advance(input, rotation, 'TrustOld', REACHED);
    }
    return rotationHeld(input) ? undefined : advance(input, rotation, 'IssueNew', REACHED);
  },
  // The former authorities are trusted until a person asks for the end, and every client has moved.
  IssueNew: (input, rotation) => {
    const isAsked = input.hosted.pki.caRotation?.target === 'Complete';
    const isHeld = !isAsked || completionHeld(input, rotation) !== undefined;
    return isHeld ? undefined : advance(input, rotation, 'ServeNew', EVERY_CLIENT);
  },
  ServeNew: (input, rotation) =>
    clientsBehind(input, rotation) ? undefined : advance(input, rotation, 'TrustNew', EVERY_CLIENT),
  TrustNew: (input, rotation) => advance(input, rotation, 'Completed', REACHED),
  TrustOld: (input, rotation) => advance(input, rotation, 'Aborted', REACHED),
  Completed: () => undefined,
};

function advance(
  input: HostingInput,
  { id }: RotationReport,
  phase: RotationStep['phase'],
  because: string,
): HostingDecision {
  return rotate(input, { id, phase }, because);
}

/** Files that members read while they run change at once, so that the kill switch and the Defender hold it as a restart. */
function rotate(input: HostingInput, step: RotationStep, because: string): HostingDecision {
  return disruptive(input, { type: 'Rotate', step, because });
}
