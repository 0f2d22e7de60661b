/**
 * Merges the gates of a Pipeline: everything by which it judges a commit. Of two versions the stricter value of each field
 * counts, so that a commit cannot loosen what it is judged by. Pure.
 */
import type {
  Amount,
  Check,
  DeleteBudget,
  HealthExpression,
  Pipeline,
  PipelineGateSet,
  Stage,
  UnitIdentity,
} from '../../../api/generated/types.ts';
import { strictestFreezes, strictestWindows } from '../../../rollout/closed-times.ts';

export type GateSet = PipelineGateSet;

export function gatesOf(spec: Pipeline['spec']): GateSet {
  const { stages, unassigned, deleteBudget, approvals, freezes, forceManagers, identities } = spec;
  // A Pipeline from before the field has none.
  const { healthExpressions = [] } = spec as Partial<Pipeline['spec']>;
  return {
    stages,
    unassigned,
    deleteBudget,
    approvals,
    ...(freezes.length > 0 ? { freezes } : {}),
    ...(forceManagers.length > 0 ? { forceManagers } : {}),
    ...(healthExpressions.length > 0 ? { healthExpressions } : {}),
    ...(identities.length > 0 ? { identities } : {}),
  };
}

/** These are the bounds of the schema. What is in force comes first, so it is never what is cut. */
const MAX_STAGES = 32;
const MAX_CHECKS = 16;
const MAX_EXPRESSIONS = 32;
const MAX_IDENTITIES = 64;

/** Merges two versions of the gates. `before` is in force; what `now` tightens counts at once, and what it loosens does not count yet. */
export function strictestGates(before: GateSet, now: GateSet): GateSet {
  const freezes = strictestFreezes(before.freezes, now.freezes);
  const forceManagers = (now.forceManagers ?? []).filter((name) => before.forceManagers?.includes(name));
  const healthExpressions = strictestExpressions(before.healthExpressions, now.healthExpressions);
  const identities = strictestIdentities(before.identities, now.identities);
  return {
    stages: strictestStages(before.stages, now.stages).slice(0, MAX_STAGES),
    unassigned: before.unassigned === 'Fail' ? 'Fail' : now.unassigned,
    deleteBudget: strictestBudget(before.deleteBudget, now.deleteBudget),
    approvals: now.approvals.filter((approval) => isApproved(before.approvals, approval)),
    ...(freezes.length > 0 ? { freezes } : {}),
    ...(forceManagers.length > 0 ? { forceManagers } : {}),
    ...(healthExpressions.length > 0 ? { healthExpressions } : {}),
    ...(identities.length > 0 ? { identities } : {}),
  };
}

/** Merges the expressions. One that was changed counts as it was: which version is stricter cannot be known. */
function strictestExpressions(
  before: readonly HealthExpression[] = [],
  now: readonly HealthExpression[] = [],
): readonly HealthExpression[] {
  const isKnown = ({ group, kind }: HealthExpression): boolean =>
    before.some((each) => each.group === group && each.kind === kind);
  return [...before, ...now.filter((each) => !isKnown(each))].slice(0, MAX_EXPRESSIONS);
}

/** Merges the identities. Which of two ServiceAccounts may do less cannot be known: then the one in force counts. */
function strictestIdentities(
  before: readonly UnitIdentity[] = [],
  now: readonly UnitIdentity[] = [],
): readonly UnitIdentity[] {
  const added = now.filter(({ unit }) => before.every((identity) => identity.unit !== unit));
  return [...before, ...added].slice(0, MAX_IDENTITIES);
}

export function strictestBudget(a: DeleteBudget, b: DeleteBudget): DeleteBudget {
  return {
    maxObjects: Math.min(a.maxObjects, b.maxObjects),
    maxPercent: Math.min(a.maxPercent, b.maxPercent),
  };
}

type ApprovedPlan = Pick<GateSet['approvals'][number], 'stage' | 'planDigest'>;

/** Tells whether an approval names the plan for the stage, whatever its reason is. */
export function isApproved(approvals: readonly ApprovedPlan[], { stage, planDigest }: ApprovedPlan): boolean {
  return approvals.some((each) => each.stage === stage && each.planDigest === planDigest);
}

/** Merges the stages. A removed stage stays a gate. A new stage follows the one that is before it in `now`. */
function strictestStages(before: readonly Stage[], now: readonly Stage[]): readonly Stage[] {
  const merged = before.map((stage) => {
    const other = now.find(({ name }) => name === stage.name);
    return other ? strictestStage(stage, other) : stage;
  });
  for (const [index, stage] of now.entries()) {
    if (merged.some(({ name }) => name === stage.name)) continue;
    const previous = now[index - 1]?.name;
    merged.splice(merged.findIndex(({ name }) => name === previous) + 1, 0, stage);
  }
  return merged;
}

const APPROVALS = ['None', 'Unexercised', 'Required'] as const;

export function strictestStage(before: Stage, now: Stage): Stage {
  return {
    name: before.name,
    // A cluster stays in the stage that selects it: see stage/membership.ts.
    clusterSelector: before.clusterSelector,
    maxConcurrentClusters: smaller(before.maxConcurrentClusters, now.maxConcurrentClusters),
    maxFailedClusters: smaller(before.maxFailedClusters, now.maxFailedClusters),
    soakSeconds: Math.max(before.soakSeconds, now.soakSeconds),
    checks: strictestChecks(before.checks, now.checks),
    approval:
      APPROVALS[Math.max(APPROVALS.indexOf(before.approval), APPROVALS.indexOf(now.approval))] ?? 'Required',
    approvalByOther: before.approvalByOther || now.approvalByOther,
    windows: strictestWindows(before.windows, now.windows),
    revertPasses: {
      windows: before.revertPasses.windows && now.revertPasses.windows,
      freezes: before.revertPasses.freezes && now.revertPasses.freezes,
    },
    unreachable: {
      graceSeconds: Math.max(before.unreachable.graceSeconds, now.unreachable.graceSeconds),
      maxSkipped: smaller(before.unreachable.maxSkipped, now.unreachable.maxSkipped),
    },
  };
}

/** Merges the checks. A check that was changed under its name counts as it was: which version is stricter cannot be known. */
function strictestChecks(before: readonly Check[], now: readonly Check[]): readonly Check[] {
  const added = now.filter(({ name }) => before.every((check) => check.name !== name));
  return [...before, ...added].slice(0, MAX_CHECKS);
}

/** Returns the smaller amount. Which of a number and a percentage is smaller depends on the stage: then the one in force counts. */
function smaller(before: Amount, now: Amount): Amount {
  if (typeof before === 'number' && typeof now === 'number') return Math.min(before, now);
  if (typeof before === 'string' && typeof now === 'string') {
    return Number.parseInt(now, 10) < Number.parseInt(before, 10) ? now : before;
  }
  return before;
}
