/**
 * The gate by which a set is judged. A change that brings a version and loosens its own gate begins no batch: which of two checks is
 * stricter cannot be known, so the gate is changed before, by a change of its own. Pure.
 */
import type { Check, MachineComponentSet, RolloutGateInForce } from '../../api/generated/types.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import type { Limit } from '../../rollout/limit.ts';
import { recordInForce } from './in-force.ts';
import type { RolloutInput, RolloutProgress } from './rollout/input.ts';

/** Records the change that a reconcile observes. A set that is paused is not at its change yet. */
export function recordGate({ set }: Pick<RolloutInput, 'set'>, progress: RolloutProgress): RolloutProgress {
  const gateInForce = recordInForce(progress.gateInForce, declaredGate(set), strictestGate);
  return gateInForce === progress.gateInForce ? progress : { ...progress, gateInForce };
}

/** Ends the judgment of a change whose rollout is complete: its own gate is in force. */
export function completeGate({ set }: Pick<RolloutInput, 'set'>, progress: RolloutProgress): RolloutProgress {
  return { ...progress, gateInForce: declaredGate(set) };
}

function declaredGate({ spec }: MachineComponentSet): RolloutGateInForce {
  // A person approves batches by a command, which does not change what the set asks for.
  const { gate, approved: _approved, ...rollout } = spec.rollout;
  const { soakSeconds, approval, checks } = gate;
  const rest = digestOf({ ...spec, rollout });
  return { spec: rest, declared: digestOf(gate), soakSeconds, approval, checks: checks.map(recordedCheck) };
}

type CheckInForce = RolloutGateInForce['checks'][number];

function recordedCheck(check: Check): CheckInForce {
  return { name: check.name, digest: digestOf(check) };
}

const APPROVALS: readonly RolloutGateInForce['approval'][] = ['None', 'FirstBatch', 'EveryBatch'];
/** This is the bound of the schema: the checks of a gate twice. What is in force comes first, so it is never what is cut. */
const MAX_CHECKS = 32;

/** A check that was changed under its name counts as it was. */
function strictestGate(before: RolloutGateInForce, now: RolloutGateInForce): RolloutGateInForce {
  const added = now.checks.filter(({ name }) => before.checks.every((check) => check.name !== name));
  return {
    ...now,
    soakSeconds: Math.max(before.soakSeconds, now.soakSeconds),
    approval: isLooser(now, before) ? before.approval : now.approval,
    checks: [...before.checks, ...added].slice(0, MAX_CHECKS),
  };
}

type Approval = Pick<RolloutGateInForce, 'approval'>;

function isLooser(one: Approval, other: Approval): boolean {
  return APPROVALS.indexOf(one.approval) < APPROVALS.indexOf(other.approval);
}

/** Returns why the set begins no batch: its last change loosened the gate that judges it. */
export function loosenedGateLimit(
  { set }: Pick<RolloutInput, 'set'>,
  { gateInForce }: RolloutProgress,
): Limit | undefined {
  const loosened = gateInForce ? loosenedParts(gateInForce, declaredGate(set)) : [];
  if (loosened.length === 0) return undefined;
  const because = `the last change of the set also loosened its gate: ${loosened.join(', ')}`;
  return { slots: 0, reason: 'GateLoosened', because };
}

function loosenedParts(inForce: RolloutGateInForce, declared: RolloutGateInForce): readonly string[] {
  const now = new Map(declared.checks.map(({ name, digest }) => [name, digest]));
  return [
    ...inForce.checks.flatMap(({ name, digest }) => {
      if (!now.has(name)) return [`check ${name} removed`];
      return now.get(name) === digest ? [] : [`check ${name} changed`];
    }),
    ...(declared.soakSeconds < inForce.soakSeconds
      ? [`soakSeconds ${declared.soakSeconds} instead of ${inForce.soakSeconds}`]
      : []),
    ...(isLooser(declared, inForce) ? [`approval ${declared.approval} instead of ${inForce.approval}`] : []),
  ];
}
