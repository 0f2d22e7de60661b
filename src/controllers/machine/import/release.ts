/** Decides how the host of a Machine that is deleted is given back. Pure. */
import type { Machine } from '../../../api/generated/types.ts';
import { conditionOf, conditionStatus } from '../../../kube/objects/conditions.ts';
import { isDeletionOverdue } from '../deletion.ts';
import { hasSpoken } from './attempt.ts';
import { CREDENTIALS_MISSING, type ImportFailure } from './failure.ts';
import { DRY_RUN_REASON } from './findings.ts';

export interface ImportReleaseInput {
  readonly machine: Machine;
  /** Whether this process imports hosts. */
  readonly isOpen: boolean;
  readonly isRunning: boolean;
  readonly result?: ReleaseResult;
  readonly now: Date;
}

export interface ReleaseResult {
  readonly failure?: ImportFailure;
  readonly retryAt?: Date;
  /** The paths and units that could not be removed. */
  readonly left?: readonly string[];
}

export type ReleaseDecision = { readonly because: string } & (
  | { readonly type: 'Done' }
  | { readonly type: 'Act' }
  | { readonly type: 'Wait'; readonly reason: string; readonly until?: Date }
  /** Ends the deletion though something may be left on the host. */
  | { readonly type: 'GiveUp'; readonly reason: string }
);

const BY_HAND = 'To clean it up, run `kubenode-agent release` on the host';

export function planImportRelease(input: ImportReleaseInput): ReleaseDecision {
  const { machine, result } = input;
  if (!wasChanged(machine)) return { type: 'Done', because: 'nothing was changed on the host' };
  if (result && !result.failure) return planReleased(result);
  return planUnreleased(input, result?.failure ?? obstacle(input));
}

function planUnreleased(input: ImportReleaseInput, { reason, message }: Obstacle): ReleaseDecision {
  const { machine, now } = input;
  if (isDeletionOverdue(machine, now) || isWithoutSecret(machine, reason)) {
    return { type: 'GiveUp', reason, because: `${message}. ${BY_HAND}` };
  }
  if (input.isRunning || !input.isOpen) return { type: 'Wait', reason, because: message };
  return planRepeat(input, message);
}

/** Its Secret may be deleted once the agent reports, so it does not come back. */
function isWithoutSecret(machine: Machine, reason: string): boolean {
  return reason === CREDENTIALS_MISSING && hasSpoken(machine.status);
}

function planRepeat({ result, now }: ImportReleaseInput, why: string): ReleaseDecision {
  const { failure, retryAt } = result ?? {};
  if (failure && retryAt !== undefined && retryAt > now) {
    return { type: 'Wait', reason: failure.reason, until: retryAt, because: why };
  }
  return { type: 'Act', because: why };
}

function planReleased({ left = [] }: ReleaseResult): ReleaseDecision {
  if (left.length === 0) return { type: 'Done', because: 'the host is released' };
  return {
    type: 'GiveUp',
    reason: 'LeftBehind',
    because: `left on the host: ${left.slice(0, 10).join(', ')}`,
  };
}

/** The installation may have begun once the preflight had passed, whatever its outcome. */
function wasChanged({ spec, status }: Machine): boolean {
  const { conditions } = status ?? {};
  if (!spec.import || conditionStatus(conditions, 'PreflightPassed') !== 'True') return false;
  return conditionOf(conditions, 'AgentInstalled')?.reason !== DRY_RUN_REASON;
}

type Obstacle = Pick<ImportFailure, 'reason' | 'message'>;

function obstacle({ isOpen }: ImportReleaseInput): Obstacle {
  if (isOpen) return { reason: 'Releasing', message: 'the host is being released' };
  const message = 'this process imports no hosts: run kubenode controllers with --agent-programs';
  return { reason: 'ImportsNotRun', message };
}
