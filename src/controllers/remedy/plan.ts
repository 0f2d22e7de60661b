/** The status of a NodeRemedier: whether its rule may be used, and which rule of which commit that is. Pure. */
import type { NodeRemedier, NodeRemedierStatus } from '../../api/generated/types.ts';
import { ANNOTATION_COMMIT } from '../../api/names.ts';
import { acceptedFinding } from '../../api/status/accepted.ts';
import { nodeRemedierPhases } from '../../api/status/phase-tables.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import { digestOf } from '../../kube/objects/digest.ts';
import { optional } from '../../kube/objects/optional.ts';

export interface RemedierInput {
  readonly remedier: NodeRemedier;
  /** Of the compiler and of the tests inside the rule. */
  readonly problems: readonly Problem[];
  readonly now: Date;
}

/** Of the whole spec: a job names it, so that people know which version of the rule acted. */
export function ruleDigest({ spec }: Pick<NodeRemedier, 'spec'>): string {
  return digestOf(spec);
}

export function remedierStatus({ remedier, problems, now }: RemedierInput): NodeRemedierStatus {
  const { metadata, status } = remedier;
  const observedGeneration = optional('observedGeneration', metadata.generation);
  const findings = [accepted(remedier, problems), enforcing(remedier, problems)];
  const conditions = withConditions(status?.conditions, findings, now, metadata.generation);
  return {
    ...observedGeneration,
    phase: nodeRemedierPhases.phaseOf({ conditions }),
    conditions,
    ruleDigest: ruleDigest(remedier),
    ...optional('commit', metadata.annotations?.[ANNOTATION_COMMIT]),
  };
}

function accepted({ metadata, spec }: NodeRemedier, problems: readonly Problem[]): ConditionUpdate {
  return acceptedFinding({
    what: 'rule',
    metadata,
    problems,
    valid: `all ${spec.tests.length} tests passed`,
  });
}

const NO_JOBS = 'this version of kubenode creates no RemedyOperationJobs';

const MODES: Readonly<Record<NodeRemedier['spec']['mode'], Pick<ConditionUpdate, 'reason' | 'message'>>> = {
  Suspended: { reason: 'Suspended', message: 'spec.mode is Suspended' },
  Observe: { reason: 'Observe', message: `spec.mode is Observe; ${NO_JOBS}, and counts no matches` },
  Shadow: { reason: 'Shadow', message: `spec.mode is Shadow; ${NO_JOBS}, and asks the Defender about none` },
  Enforce: { reason: 'NotSupported', message: `${NO_JOBS}: the rule is checked and repairs nothing` },
};

function enforcing({ spec: { mode } }: NodeRemedier, problems: readonly Problem[]): ConditionUpdate {
  const type = 'Enforcing';
  if (problems.length > 0) {
    return { type, status: 'False', reason: 'NotAccepted', message: 'the rule is not accepted' };
  }
  return { type, status: 'False', ...MODES[mode] };
}
