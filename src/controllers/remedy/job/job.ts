/** Builds the ask of the Defender for a repair, and the job that carries its grant. Pure. */
import { dedupGroup } from '../../../api/dedup.ts';
import type { Evidence, Machine, RemedyOperationJob } from '../../../api/generated/types.ts';
import type { Grant, GrantAsk } from '../../../api/grants.ts';
import {
  FINALIZER_SETTLE,
  LABEL_CASE,
  LABEL_HARDWARE,
  LABEL_MACHINE,
  LABEL_MANAGED_BY,
  LABEL_REMEDIER,
  MANAGED_BY,
} from '../../../api/names.ts';
import type { Intent } from '../../../kube/controller/intent.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { secondsAfter, wholeSeconds } from '../../../os/dates.ts';
import { behaviorDigest } from '../../../rollout/rule-waves/rule-digest.ts';
import { operationIdOf } from '../case/rungs.ts';
import type { RemedyAct } from '../plan.ts';
import { actionOf, highestRisk, jobSteps } from './steps.ts';

/** The defaults of the CRD. */
const SETTLE = {
  cleared: 'Undo',
  superseded: 'Undo',
  aborted: 'KeepCordoned',
  holdSeconds: 14_400,
} as const;

export function askFor(act: RemedyAct, machine: string, now: Date): GrantAsk {
  const { remedier, commit, rung, node, jobName } = act;
  const { faultClass, job } = remedier.spec;
  const planned = rung.plan.reduce((total, { timeoutSeconds }) => total + timeoutSeconds, 0);
  return {
    holder: {
      kind: 'RemedyOperationJob',
      name: jobName,
      origin: `NodeRemedier/${remedier.metadata.name}`,
      ...optional('revision', commit === '' ? undefined : commit),
    },
    machine,
    nodeUID: node.uid,
    action: actionOf(rung),
    risk: highestRisk(rung),
    ruleDigest: behaviorDigest(remedier),
    faultClass,
    factsAt: now,
    expectedSeconds: Math.min(planned, job.deadlineSeconds),
  };
}

export interface JobContent {
  readonly act: RemedyAct;
  readonly machine: Machine;
  readonly grant: Grant;
  readonly evidence: readonly Evidence[];
}

export function jobIntent({ act, machine, grant, evidence }: JobContent): Intent<RemedyOperationJob> {
  const { remedier, rung, index, attempt, node, jobName } = act;
  const { id, fence, issuedAt, notAfter } = grant;
  const { name, uid = '', labels = {} } = machine.metadata;
  const deadline = secondsAfter(new Date(issuedAt), remedier.spec.job.deadlineSeconds);
  return {
    metadata: {
      name: jobName,
      labels: {
        [LABEL_MANAGED_BY]: MANAGED_BY,
        [LABEL_MACHINE]: name,
        [LABEL_REMEDIER]: remedier.metadata.name,
        [LABEL_CASE]: act.case,
        ...optional(LABEL_HARDWARE, labels[LABEL_HARDWARE]),
      },
      finalizers: [FINALIZER_SETTLE],
    },
    spec: {
      machine: { name, uid },
      node,
      cause: {
        remedier: remedier.metadata.name,
        ruleDigest: act.digest,
        commit: act.commit,
        case: act.case,
        faultClass: remedier.spec.faultClass,
        ...(act.isSinceKnown ? { faultAt: act.since.toISOString() } : {}),
        detectedAt: act.detectedAt.toISOString(),
        evidence,
      },
      rung: { name: rung.name, index },
      attempt,
      group: dedupGroup(remedier),
      risk: highestRisk(rung),
      grant: { id, fence, issuedAt, notAfter },
      operationID: operationIdOf(act.case, act),
      plan: jobSteps(rung.plan, 's'),
      ...optional('verify', rung.verify),
      onVerified: jobSteps(rung.onVerified, 'v'),
      deadline: wholeSeconds(deadline),
      settle: SETTLE,
    },
  };
}
