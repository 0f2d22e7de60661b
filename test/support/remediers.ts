/** NodeRemediers and their jobs for tests: valid by default, with the defaults of the API server. */
import type { NodeRemedier, RemedyOperationJob } from '../../src/api/generated/types.ts';
import type { Metadata } from '../../src/kube/objects/object.ts';
import { createRemedierSpec } from '../rules/sample-rule.ts';
import { ago } from './builders.ts';
import { withCrdDefaults } from './crd-defaults.ts';

/** A rule with four tests, with changes by JSON pointer into its spec. */
export function remedier(
  changes: Readonly<Record<string, unknown>> = {},
  metadata: Partial<Metadata> = {},
): NodeRemedier {
  return withCrdDefaults('noderemediers', {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'NodeRemedier',
    metadata: { name: 'kernel-hang', ...metadata },
    spec: createRemedierSpec(changes) as unknown as NodeRemedier['spec'],
  });
}

export interface JobParts {
  readonly machine?: string;
  readonly remedier?: string;
  readonly nodeUID?: string;
  readonly case?: string;
  readonly index?: number;
  readonly attempt?: number;
  readonly group?: string;
  readonly risk?: RemedyOperationJob['spec']['risk'];
  /** Seconds before NOW. */
  readonly begun?: number;
  /** Seconds before NOW; undefined while it is at work. */
  readonly ended?: number;
  readonly outcome?: NonNullable<NonNullable<RemedyOperationJob['status']>['outcome']>['class'];
}

const DIGEST = `sha256:${'a'.repeat(64)}`;

const USUAL = {
  machine: 'm-1',
  remedier: 'kernel-hang',
  nodeUID: 'node-uid-1',
  case: '0a1b2c3d',
  index: 1,
  attempt: 1,
  risk: 'Node',
  begun: 3600,
} as const;

/** At work unless it has an outcome. */
export function remedyJob(parts: JobParts = {}): RemedyOperationJob {
  const { machine, remedier: rule, nodeUID, case: id, index, attempt, risk, begun } = { ...USUAL, ...parts };
  const { outcome, group = rule } = parts;
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'RemedyOperationJob',
    metadata: {
      name: `${machine}-${rule}-${id}-r${index}-a${attempt}`,
      finalizers: outcome === undefined ? ['kubenode.dev/settle'] : [],
    },
    spec: {
      machine: { name: machine, uid: `uid-${machine}` },
      node: { uid: nodeUID, bootID: 'boot-1' },
      cause: {
        remedier: rule,
        ruleDigest: DIGEST,
        commit: '4f2c9e1a77b0',
        case: id,
        faultClass: 'Kernel',
        evidence: [],
      },
      rung: { name: index === 1 ? 'soft' : 'person', index },
      attempt,
      group,
      risk,
      grant: { id: 'g-1', fence: 1, issuedAt: ago(begun), notAfter: ago(begun - 300) },
      operationID: `${id}-r${index}-a${attempt}`,
      plan: [{ ...STEP, risk }],
      onVerified: [],
      deadline: ago(begun - 7200),
      settle: { cleared: 'Undo', superseded: 'Undo', aborted: 'KeepCordoned', holdSeconds: 14_400 },
    },
    ...(outcome === undefined ? {} : endedAs(outcome, parts.ended ?? begun - 600)),
  };
}

const STEP = {
  id: 's1',
  step: 'Reboot@v1',
  executor: 'Agent',
  timeoutSeconds: 300,
  onFailure: 'Fail',
  onTimeout: 'Fail',
} as const;

function endedAs(kind: NonNullable<JobParts['outcome']>, ended: number): Pick<RemedyOperationJob, 'status'> {
  return { status: { conditions: [], outcome: { class: kind }, timeline: { settledAt: ago(ended) } } };
}
