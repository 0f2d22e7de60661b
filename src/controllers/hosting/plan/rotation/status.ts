/** Builds the part of the status about a rotation of authorities. Pure. */
import { optional } from '../../../../kube/objects/optional.ts';
import type { RotationPhase, RotationReport } from '../../drivers/rotation.ts';
import type { HostedStatus, HostingInput } from '../input.ts';
import { type RotationClients, rotationClients, rotationNodes } from './clients.ts';
import { isPublished } from './publish.ts';
import { isAborting, isPhaseReached, rotationInWork } from './state.ts';

type RotationStatus = NonNullable<HostedStatus['caRotation']>;

const MAX_NAMES = 20;
/** Before them no client has what the new authorities issue, and after them all have. */
const CLIENT_PHASES: readonly RotationPhase[] = ['IssueNew', 'ServeNew'];

/** Undefined: the spec asks for no rotation, and none was begun. */
export function rotationStatus(input: HostingInput): RotationStatus | undefined {
  const { rotation } = input.plane;
  const { caRotation } = input.hosted.pki;
  if (!rotation) return caRotation && { id: caRotation.id, step: 'Idle' };
  const step = stepOf(input, rotation);
  if (!rotationInWork(input)) return { id: rotation.id, step };
  const clients = countedClients(input, rotation);
  return {
    id: rotation.id,
    step,
    ...optional('clients', clients && { total: clients.total, moved: clients.moved }),
    ...optional('behind', clients && clients.behind.slice(0, MAX_NAMES).map(({ name }) => name)),
  };
}

/** While both are trusted, agents and kubelets are what the rotation waits for, in both directions. */
function countedClients(
  input: HostingInput,
  { phase, hasIssued }: RotationReport,
): RotationClients | undefined {
  if (CLIENT_PHASES.includes(phase)) return rotationClients(input);
  const nodes = phase === 'TrustBoth' ? rotationNodes(input) : undefined;
  if (!nodes || nodes.total === 0) return undefined;
  return hasIssued ? rotationClients(input) : nodes;
}

function stepOf(input: HostingInput, rotation: RotationReport): Step {
  const { phase } = rotation;
  if (phase !== 'Completed' && isAborting(input, rotation)) return 'Aborting';
  return phase === 'IssueNew' && isPrepared(input, rotation) ? 'Prepared' : STEPS[phase];
}

/** A person may ask for the end when agents find the phase as well. While the API server does not answer, what was found last holds. */
function isPrepared(input: HostingInput, rotation: RotationReport): boolean {
  if (!rotation.isSigned || !isPhaseReached(input, rotation)) return false;
  if (input.inside) return isPublished(input);
  return input.cluster.status?.hosted?.caRotation?.step === 'Prepared';
}

type Step = NonNullable<RotationStatus['step']>;

const STEPS: Readonly<Record<RotationPhase, Step>> = {
  TrustBoth: 'Preparing',
  IssueNew: 'Preparing',
  ServeNew: 'Completing',
  TrustNew: 'Completing',
  TrustOld: 'Aborting',
  Completed: 'Completed',
};
