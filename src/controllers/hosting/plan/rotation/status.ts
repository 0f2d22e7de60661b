/** Builds the part of the status about a rotation of authorities. Pure. */
import { optional } from '../../../../kube/objects/optional.ts';
import type { RotationPhase, RotationReport } from '../../drivers/rotation.ts';
import type { HostedStatus, HostingInput } from '../input.ts';
import { rotationClients } from './clients.ts';
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
  const clients = CLIENT_PHASES.includes(rotation.phase) ? rotationClients(input) : undefined;
  return {
    id: rotation.id,
    step,
    ...optional('clients', clients && { total: clients.total, moved: clients.moved }),
    ...optional('behind', clients && clients.behind.slice(0, MAX_NAMES)),
  };
}

function stepOf(input: HostingInput, rotation: RotationReport): Step {
  const { phase } = rotation;
  if (phase !== 'Completed' && isAborting(input, rotation)) return 'Aborting';
  return phase === 'IssueNew' && isPhaseReached(input, rotation) ? 'Prepared' : STEPS[phase];
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
